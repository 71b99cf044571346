// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/claim_invariants.hpp"

#include <algorithm>
#include <map>

#include "contracts/rules/claim/due.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/round/merge.hpp"
#include "contracts/rules/state/deadlines.hpp"
#include "contracts/rules/state/store.hpp"
#include "contracts/rules/tables.hpp"

namespace assay::contracts {

namespace {

bool equals(const Claim& claim, const std::optional<Claim>& expected) {
    return expected && base::encode(claim) == base::encode(*expected);
}

/// The claim of a slot that was dealt. Nothing: its pay is no amount.
std::optional<Claim> claim_of_slot(const Params& params, const Job& job, const SlotRound& slot) {
    const auto pay = slot_pay(job.auction.clearing_price, job.slot_work);
    if (!pay) return std::nullopt;
    return Claim{.node = slot.miner,
                 .owner = slot.owner,
                 .bond = slot.bond,
                 .held = *pay,
                 .window = params.claim_window};
}

/// The claim of a judge that may merge, whose bond came out of what `found`, the stored claim, left of its
/// enlistment. Nothing: it is not enlisted.
std::optional<Claim> claim_of_merge(const Params& params, const Job& job, const std::vector<SlotRound>& slots,
                                    const PublicKey& node, const Claim& found) {
    const auto enlisted = std::find_if(job.verifiers.begin(), job.verifiers.end(),
                                       [&](const EnlistedVerifier& v) { return v.node == node; });
    if (enlisted == job.verifiers.end()) return std::nullopt;
    EnlistedVerifier before = *enlisted;
    before.bond = saturating_sum(before.bond, found.bond);
    return Claim{.node = node,
                 .owner = before.owner,
                 .bond = merge_bond(params, slots, before),
                 .held = {},  // the fee is taken out when it is known whose it is
                 .window = params.claim_window};
}

bool is_accused_due(const StateView& state, const ClaimId& id, std::uint64_t height) {
    const auto accused = list_due_in_games(state, id.job, height).accused;
    return state.get(deadline_key({height, DueKind::kGames, id.job})) &&
           std::find(accused.begin(), accused.end(), id) != accused.end();
}

bool is_game_due(const StateView& state, const Hash256& job, const Game& game) {
    const auto games = list_due_in_games(state, job, game.due).games;
    return state.get(deadline_key({game.due, DueKind::kGames, job})) &&
           std::find(games.begin(), games.end(), game.number) != games.end();
}

/// A settled claim stays for its window, is due at its end, and holds what its slot or its merge was given:
/// its pay, less what its replays cost, or nothing, and what the slot did not lose of its bond.
bool check_window(const StateView& state, const Job& job, const ClaimId& id, const Claim& claim,
                  std::uint64_t end) {
    if (claim.window < params_of(state, job).claim_window) return false;
    const bool waits = claim.challenges > 0 || claim.accuse_by != 0;
    if (!waits && !state.get(deadline_key({end, DueKind::kWindows, job.id}))) return false;
    if (claim.accuse_by != 0 && !is_accused_due(state, id, claim.accuse_by)) return false;
    const bool awaited = std::any_of(claim.accusations.begin(), claim.accusations.end(),
                                     [](const Accusation& accusation) { return !accusation.used; });
    if (awaited != (claim.accuse_by != 0)) return false;
    if (claim.dead) return claim.bond.is_zero() && claim.held.is_zero();
    const Amount price = job.auction.clearing_price;
    if (id.kind == ClaimKind::kSlot) {
        const auto slot = read_slot(state, job.id, id.round, id.number);
        if (!slot || claim.node != slot->miner || claim.owner != slot->owner) return false;
        const BondLoss loss = bond_loss(params_of(state, job), slot->verdict, slot->bond);
        return claim.bond == difference(slot->bond, loss.lost) &&
               claim.held <= slot_pay(price, job.slot_work);
    }
    const auto postings = list_merge_postings(state, job.id, id.round);
    if (id.number >= postings.size() || claim.node != postings[id.number].verifier) return false;
    return claim.bond.is_zero() && claim.held == merge_fee(params_of(state, job), price, job.slot_work);
}

/// An open game is about an open claim that counts it, its claimant's index names it, and a running one is
/// due.
InvariantResult check_game(const StateView& state, const Job& job, const Game& game,
                           std::map<Bytes, std::uint32_t>& challenges) {
    const auto broken_game = [&] { return broken("a game of job " + job.id.brief() + " is not whole"); };
    const bool listed =
        state.get(open_game_key(game.claimant, game.opened_at, job.id, game.number)).has_value();
    if (listed != game.is_open() || read_game_pieces(state, job.id, game.number).has_value() != listed)
        return broken_game();
    const bool runs = game.phase == GamePhase::kRunning;
    if ((game.due != 0) != runs) return broken_game();
    if (runs && !is_game_due(state, job.id, game)) return broken_game();
    if (game.is_open()) ++challenges[claim_key(game.claim_id(job.id))];
    return {};
}

}  // namespace

InvariantResult check_games(const StateView& state, const Job& job) {
    std::map<Bytes, std::uint32_t> challenges;
    std::size_t due = 0;
    for (const Game& game : list_games(state, job.id)) {
        ASSAY_TRY(check_game(state, job, game, challenges));
        due += game.due != 0 ? 1 : 0;
    }
    for (const auto& [id, claim] : list_claims(state, job.id)) {
        due += claim.accuse_by != 0 ? 1 : 0;
        const auto found = challenges.find(claim_key(id));
        const std::uint32_t counted = found == challenges.end() ? 0 : found->second;
        if (found != challenges.end()) challenges.erase(found);
        if (claim.challenges != counted)
            return broken("a claim of job " + job.id.brief() + " counts its challenges wrongly");
    }
    if (due != count_due_in_games(state, job.id))
        return broken("job " + job.id.brief() + " lists what is due in its games wrongly");
    return challenges.empty() ? InvariantResult{}
                              : broken("a game of job " + job.id.brief() + " is about no open claim");
}

InvariantResult check_claims(const StateView& state, const Job& job) {
    const auto differs = [&] { return broken("claims and round of job " + job.id.brief() + " differ"); };
    std::size_t running = 0;
    for (const auto& [id, claim] : list_claims(state, job.id)) {
        const auto end = end_of_window(state, id, claim);
        if (!end) {
            ++running;
        } else if (!check_window(state, job, id, claim, *end)) {
            return broken("a settled claim of job " + job.id.brief() + " does not wait for its window");
        }
    }
    const auto round =
        job.phase == JobPhase::kRounds ? read_round(state, job.id, job.round) : std::optional<Round>{};
    if (!round) return running == 0 ? InvariantResult{} : differs();
    if (!read_param_set(state, job.params)) return broken("job " + job.id.brief() + " has no parameters");
    const Params params = params_of(state, job);
    const std::vector<SlotRound> slots = list_slots(state, job.id, job.round);
    std::size_t expected = 0;
    for (const SlotRound& slot : slots) {
        if (!slot.assigned) continue;
        ++expected;
        const auto claim = read_claim(state, {job.id, job.round, ClaimKind::kSlot, slot.slot});
        if (!claim || !equals(*claim, claim_of_slot(params, job, slot))) return differs();
    }
    for (std::uint32_t place = 0; place < round->merges.size(); ++place) {
        ++expected;
        const PublicKey& node = round->merges[place].verifier;
        const auto claim = read_claim(state, {job.id, job.round, ClaimKind::kMerge, place});
        if (!claim || !equals(*claim, claim_of_merge(params, job, slots, node, *claim))) return differs();
    }
    return running == expected ? InvariantResult{} : differs();
}

}  // namespace assay::contracts
