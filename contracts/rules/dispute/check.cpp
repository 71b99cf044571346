// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "contracts/rules/dispute/games.hpp"
#include "contracts/rules/dispute/phases.hpp"
#include "contracts/rules/identity/tables.hpp"
#include "contracts/rules/job/history.hpp"
#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/round/prices.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

using dispute::UnitFacts;

/// An open claim against which something may still be said.
Result<Claim, Reason> challengeable(const Case& c, const ClaimId& id) {
    if (!read_job_progress(c.state, id.job)) return failed(reason_of_absence(c.state, id.job));
    const auto claim = read_claim(c.state, id);
    if (!claim) return failed(Reason::kWindowClosed);
    if (claim->dead) return failed(Reason::kClaimDead);
    if (!end_of_window(c.state, id, *claim)) return failed(Reason::kWrongPhase);  // its round is not settled
    // Whoever accuses it has its own time. For all others the window is what it was when the round was
    // settled: a claim that waits for a game is open for no further one.
    if (unused_accusation(*claim, c.sender))
        return c.block.height < claim->accuse_by ? Result<Claim, Reason>(*claim)
                                                 : failed(Reason::kWindowClosed);
    const auto terms = read_job_terms(c.state, id.job);
    const auto round = read_round_progress(c.state, id.job, id.round);
    if (!terms || !round) return failed(Reason::kUnknownJob);
    const std::uint64_t last = later(round->settled_at, params_of(c.state, *terms).claim_window);
    if (c.block.height > last) return failed(Reason::kWindowClosed);
    return *claim;
}

template <class Tx>
Result<Game, Reason> running_game(const Case& c, const Tx& tx) {
    if (!read_job_progress(c.state, tx.job)) return failed(reason_of_absence(c.state, tx.job));
    auto game = read_game(c.state, tx.job, tx.game);
    if (!game) return failed(Reason::kNoSuchGame);
    if (game->phase != GamePhase::kRunning) return failed(Reason::kWrongPhase);
    return std::move(*game);
}

/// Calls `use` with the facts of a game's unit.
template <class Use>
auto with_facts(const StateView& state, const Hash256& job, std::uint32_t number, Use&& use) {
    const auto terms = read_job_terms(state, job);
    const auto pieces = read_game_pieces(state, job, number);
    ASSAY_CHECK(terms && pieces);
    UnitFacts facts(terms->spec, pieces->unit);
    return use(facts);
}

}  // namespace

namespace {

/// Whether the sender's free stake covers the bond of one more challenge of the claim.
Checked covers_bond(const Case& c, const ClaimId& id, const Claim& claim) {
    const auto job = read_job(c.state, id.job);
    ASSAY_CHECK(job.has_value());
    const auto bond =
        challenge_bond(params_of(c.state, *job), *job, price_of_round(c.state, *job, id.round), claim);
    if (!bond) return failed(Reason::kAmountOverflow);
    return read_stake(c.state, c.sender).free >= *bond ? Checked{} : failed(Reason::kInsufficientStake);
}

}  // namespace

Checked check(const Case& c, const DisputeOpen& tx) {
    const ClaimId id{tx.job, tx.round, tx.kind, tx.number};
    ASSAY_ASSIGN(const Claim claim, challengeable(c, id));
    // An accusation has to be played, against whomever: two verifiers of one owner may merge differently.
    const bool accuses = unused_accusation(claim, c.sender).has_value();
    if (claim.owner == c.owner && !accuses) return failed(Reason::kOwnClaim);
    if (!has_unit(c.state, id, tx.unit, tx.part)) return failed(Reason::kNoSuchUnit);
    if (accuses) return {};  // its enlistment answers for it
    return covers_bond(c, id, claim);
}

Checked check(const Case& c, const DisputePost& tx) {
    ASSAY_ASSIGN(const Game game, running_game(c, tx));
    if (game.claimant != c.sender) return failed(Reason::kNotYours);
    if (!game.way.claimant_moves()) return failed(Reason::kNotYourTurn);
    return with_facts(c.state, tx.job, tx.game, [&](UnitFacts& facts) {
        return dispute::may_post(game.way, facts, tx.hashes) ? Checked{} : failed(Reason::kBadMove);
    });
}

Checked check(const Case& c, const DisputePick& tx) {
    ASSAY_ASSIGN(const Game game, running_game(c, tx));
    if (game.challenger != c.sender) return failed(Reason::kNotYours);
    if (game.way.claimant_moves()) return failed(Reason::kNotYourTurn);
    return with_facts(c.state, tx.job, tx.game, [&](UnitFacts& facts) {
        return dispute::may_pick(game.way, facts, tx.pick) ? Checked{} : failed(Reason::kBadMove);
    });
}

Checked check(const Case& c, const DisputeProve& tx) {
    ASSAY_ASSIGN(const Game game, running_game(c, tx));
    if (game.claimant != c.sender) return failed(Reason::kNotYours);
    return game.way.stage == dispute::WayStage::kWitness ? Checked{} : failed(Reason::kBadMove);
}

Checked check(const Case& c, const DisputeConcede& tx) {
    ASSAY_ASSIGN(const Game game, running_game(c, tx));
    const bool plays = game.claimant == c.sender || game.challenger == c.sender;
    return plays ? Checked{} : failed(Reason::kNotYours);
}

Checked check(const Case& c, const DisputeCall& tx) {
    if (!read_job_progress(c.state, tx.job)) return failed(reason_of_absence(c.state, tx.job));
    const auto game = read_game(c.state, tx.job, tx.game);
    if (!game) return failed(Reason::kNoSuchGame);
    if (!game->killed_claim()) return failed(Reason::kWrongPhase);
    const ClaimId id = game->claim_id(tx.job);
    const auto claim = read_claim(c.state, id);
    if (!claim || c.block.height >= end_of_calls(c.state, tx.job, *game))
        return failed(Reason::kWindowClosed);
    if (!has_unit(c.state, id, tx.unit, tx.part)) return failed(Reason::kNoSuchUnit);
    const auto vouchers = vouchers_of(c.state, id, tx.unit, tx.part);
    if (std::find(vouchers.begin(), vouchers.end(), tx.verifier) == vouchers.end())
        return failed(Reason::kNotDrawn);
    Job job = required(read_job(c.state, tx.job));
    if (enlisted_verifier(job, tx.verifier).owner == c.owner) return failed(Reason::kOwnClaim);
    for (const Game& other : list_games_about(c.state, id)) {
        // Whoever calls first may do so to be silent: everybody else calls for itself.
        const bool same = other.called && other.claimant == tx.verifier && other.challenger == c.sender;
        if (same && other.unit == tx.unit && other.part == tx.part) return failed(Reason::kAlreadyDone);
    }
    return is_winners_call(*game, c.sender, tx) ? Checked{} : covers_bond(c, id, *claim);
}

}  // namespace assay::contracts
