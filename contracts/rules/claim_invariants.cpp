// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/claim_invariants.hpp"

#include <algorithm>
#include <iterator>

#include "contracts/rules/claim/due.hpp"
#include "contracts/rules/claim/window_ends.hpp"
#include "contracts/rules/dispute/queue.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/round/merge.hpp"
#include "contracts/rules/round/prices.hpp"
#include "contracts/rules/state/deadlines.hpp"
#include "contracts/rules/state/store.hpp"
#include "contracts/rules/tables.hpp"

namespace assay::contracts {

namespace {

bool equals(const Claim& claim, const std::optional<Claim>& expected) {
    return expected && base::encode(claim) == base::encode(*expected);
}

/// The claim of a slot that was dealt. Nothing: its pay is no amount.
std::optional<Claim> claim_of_slot(const Params& params, const Job& job, Amount price,
                                   const SlotRound& slot) {
    const auto pay = slot_pay(price, job.slot_work);
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

bool is_game_due(const StateView& state, const Hash256& job, const Game& game) {
    return state.get(game_due_key(job, game.number, game.due)).has_value();
}

/// An entry of one of the indexes of claims and games, with what its key says.
struct Entry {
    Table table = Table::kClaimOf;
    std::optional<ClaimId> claim;
    std::optional<std::uint32_t> game;
    PublicKey node;
    std::uint64_t height = 0;
};

std::optional<Entry> entry_of(ByteView key) {
    Entry entry;
    entry.table = static_cast<Table>(key.front());
    switch (entry.table) {
        case Table::kClaimOf: entry.claim = claim_in_index(key, entry.node); break;
        case Table::kWindowEnd: entry.claim = claim_of_window_end(key, entry.height); break;
        case Table::kGameAbout: entry.claim = claim_of_game_about(key, entry.game.emplace()); break;
        default: {
            const auto due = due_in_games_of(key);
            if (!due) return std::nullopt;
            entry.height = due->height;
            entry.claim = due->accused;
            if (!due->accused) entry.game = due->game;
            return entry;
        }
    }
    return entry.claim ? std::optional(entry) : std::nullopt;
}

bool is_true(const StateView& state, const Hash256& job, const Entry& entry) {
    const auto claim = entry.claim ? read_claim(state, *entry.claim) : std::nullopt;
    const auto game = entry.game ? load<Game>(state, game_key(job, *entry.game)) : std::nullopt;
    if (entry.claim.has_value() != claim.has_value() || entry.game.has_value() != game.has_value())
        return false;
    const auto is_due = [&](DueKind kind) {
        return state.get(deadline_key({entry.height, kind, job})).has_value();
    };
    switch (entry.table) {
        case Table::kClaimOf: return claim->node == entry.node;
        case Table::kGameAbout: return game->claim_id(job) == entry.claim;
        case Table::kWindowEnd:
            return end_of_window(state, *entry.claim, *claim) == entry.height && is_due(DueKind::kWindows);
        default: break;
    }
    return (claim ? claim->accuse_by : game->due) == entry.height && is_due(DueKind::kGames);
}

InvariantResult check_entry(const StateView& state, const Hash256& job, ByteView key) {
    const auto entry = entry_of(key);
    if (entry && is_true(state, job, *entry)) return {};
    return broken("job " + job.brief() + " lists a claim or a game that is not there");
}

/// A settled claim stays for its window, is due at its end, and holds what its slot or its merge was given:
/// its pay, less what its replays cost, or nothing, and what the slot did not lose of its bond.
bool check_window(const StateView& state, const Job& job, const ClaimId& id, const Claim& claim,
                  std::uint64_t end) {
    if (claim.window < params_of(state, job).claim_window) return false;
    const bool waits = claim.challenges > 0 || claim.accuse_by != 0;
    if (!waits && !state.get(window_end_key(id, end))) return false;
    if (claim.accuse_by != 0 && !state.get(accusers_due_key(id, claim.accuse_by))) return false;
    const bool awaited = std::any_of(claim.accusations.begin(), claim.accusations.end(),
                                     [](const Accusation& accusation) { return !accusation.used; });
    if (awaited != (claim.accuse_by != 0)) return false;
    if (claim.dead) return claim.bond.is_zero() && claim.held.is_zero();
    const RoundPrices prices = prices_of_round(state, job, id.round);
    if (id.kind == ClaimKind::kSlot) {
        const auto slot = read_slot(state, job.id, id.round, id.number);
        if (!slot || claim.node != slot->miner || claim.owner != slot->owner) return false;
        const BondLoss loss = bond_loss(params_of(state, job), slot->verdict, slot->bond);
        return claim.bond == difference(slot->bond, loss.lost) &&
               claim.held <= slot_pay(prices.slots.at(slot->slot), job.slot_work);
    }
    const auto postings = list_merge_postings(state, job.id, id.round);
    if (id.number >= postings.size() || claim.node != postings[id.number].verifier) return false;
    return claim.bond.is_zero() &&
           claim.held == merge_fee(params_of(state, job), prices.highest, job.slot_work);
}

/// A dealt round of a job that leases, and no other, has a price for each of its slots: none above the cap,
/// and nothing where nobody holds it.
InvariantResult check_prices(const StateView& state, const Job& job, std::uint32_t round) {
    const auto wrong = [&] {
        return broken("the prices of a round of job " + job.id.brief() + " are wrong");
    };
    const auto prices = read_round_prices(state, job.id, round);
    const bool dealt = job.leases() && read_round_progress(state, job.id, round);
    if (prices.has_value() != dealt) return wrong();
    if (!prices) return {};
    const std::vector<SlotRound> slots = list_slots(state, job.id, round);
    Amount highest;
    if (prices->slots.size() != slots.size()) return wrong();
    for (const SlotRound& slot : slots) {
        const Amount price = prices->slots[slot.slot];
        highest = std::max(highest, price);
        if (price > job.spec.market.max_price || (!slot.assigned && !price.is_zero())) return wrong();
    }
    return prices->highest == highest ? InvariantResult{} : wrong();
}

/// An open game is about an open claim, its claimant's index names it as one that is played or one that
/// waits, and a running one is due.
InvariantResult check_game(const StateView& state, const Hash256& job, std::uint32_t number) {
    const auto game = load<Game>(state, game_key(job, number));
    if (!game) return {};
    const auto broken_game = [&] { return broken("a game of job " + job.brief() + " is not whole"); };
    const bool runs = game->phase == GamePhase::kRunning;
    const bool waits = game->phase == GamePhase::kQueued;
    const auto played = list_played_games(state, game->claimant);
    const auto listed = std::count_if(played.begin(), played.end(), [&](const PlayedGame& one) {
        return one.game == GameName{job, number} && one.challenger_owner == game->challenger_owner;
    });
    if (listed != (runs ? 1 : 0) || state.get(queued_game_key(job, *game)).has_value() != waits ||
        read_game_pieces(state, job, number).has_value() != game->is_open())
        return broken_game();
    if ((game->due != 0) != runs) return broken_game();
    if (runs && !is_game_due(state, job, *game)) return broken_game();
    const ClaimId id = game->claim_id(job);
    const bool claimed = state.get(claim_key(id)).has_value();
    if (game->is_open() && !claimed)
        return broken("a game of job " + job.brief() + " is about no open claim");
    if (state.get(game_about_key(id, number)).has_value() != claimed) return broken_game();
    return {};
}

/// A claim counts its open games, is listed under its claimant, and waits for its window or is of the running
/// round. REQUIRES that the job's parameters are there.
InvariantResult check_claim(const StateView& state, const Job& job, const ClaimId& id) {
    const auto claim = read_claim(state, id);
    std::uint32_t open = 0;
    for (const std::uint32_t number : list_game_numbers(state, id)) {
        const auto game = load<Game>(state, game_key(job.id, number));
        if (!claim || !game) return broken("a game of job " + job.id.brief() + " is about no open claim");
        open += game->is_open() ? 1U : 0U;
    }
    if (!claim) return {};
    if (claim->challenges != open)
        return broken("a claim of job " + job.id.brief() + " counts its challenges wrongly");
    if (!state.get(claim_of_key(claim->node, id)))
        return broken("a claim of job " + job.id.brief() + " is not listed under its claimant");
    const auto end = end_of_window(state, id, *claim);
    if (!end && (job.phase != JobPhase::kRounds || id.round != job.round))
        return broken("claims and round of job " + job.id.brief() + " differ");
    if (end && !check_window(state, job, id, *claim, *end))
        return broken("a settled claim of job " + job.id.brief() + " does not wait for its window");
    return {};
}

/// Every slot that was dealt in the running round, and every verifier drawn for its merge, has its claim,
/// with the bond and the pay that the rules give it, and nobody else has one.
InvariantResult check_running(const StateView& state, const Job& job) {
    if (job.phase != JobPhase::kRounds) return {};
    const auto differs = [&] { return broken("claims and round of job " + job.id.brief() + " differ"); };
    std::size_t running = 0;
    for (const auto& [id, claim] : list_claims(state, job.id, job.round))
        running += end_of_window(state, id, claim) ? 0U : 1U;
    const auto round = read_round(state, job.id, job.round);
    if (!round) return running == 0 ? InvariantResult{} : differs();
    const Params params = params_of(state, job);
    const std::vector<SlotRound> slots = list_slots(state, job.id, job.round);
    ASSAY_TRY(check_prices(state, job, job.round));
    const RoundPrices prices = prices_of_round(state, job, job.round);
    std::size_t expected = 0;
    for (const SlotRound& slot : slots) {
        if (!slot.assigned) continue;
        ++expected;
        const auto claim = read_claim(state, {job.id, job.round, ClaimKind::kSlot, slot.slot});
        if (!claim || !equals(*claim, claim_of_slot(params, job, prices.slots[slot.slot], slot)))
            return differs();
    }
    for (std::uint32_t place = 0; place < round->merges.size(); ++place) {
        ++expected;
        const PublicKey& node = round->merges[place].verifier;
        const auto claim = read_claim(state, {job.id, job.round, ClaimKind::kMerge, place});
        if (!claim || !equals(*claim, claim_of_merge(params, job, slots, node, *claim))) return differs();
    }
    return running == expected ? InvariantResult{} : differs();
}

Bytes records_of_job(Table table, const Hash256& job) { return KeyBuilder(table).add(job.view()).take(); }

InvariantResult check_terms_of(const StateView& state, const Job& job) {
    if (read_param_set(state, job.params)) return {};
    return broken("job " + job.id.brief() + " has no parameters");
}

/// What the indexes had to say of a claim.
std::vector<Bytes> entries_about(const StateView& state, const ClaimId& id) {
    const auto claim = read_claim(state, id);
    if (!claim) return {};
    std::vector<Bytes> keys{claim_of_key(claim->node, id)};
    if (const auto end = end_of_window(state, id, *claim)) keys.push_back(window_end_key(id, *end));
    if (claim->accuse_by != 0) keys.push_back(accusers_due_key(id, claim->accuse_by));
    return keys;
}

/// Whether what every claim of a job must be has changed.
bool are_other_terms(const StateView& before, const StateView& now, const Job& job) {
    const auto old = read_bidding(before, job.id);
    if (!old || old->auction.clearing_price != job.auction.clearing_price) return true;
    return before.get(job_terms_key(job.id)) != now.get(job_terms_key(job.id));
}

}  // namespace

InvariantResult touch_claims(ByteView key, bool present, TouchedClaims& touched) {
    const auto round = [&] { return static_cast<std::uint32_t>(number_in(key.subspan(33, 4))); };
    switch (static_cast<Table>(key.front())) {
        case Table::kClaim:
            if (!claim_of(key)) return broken("a claim is of no kind");
            touched.claims.insert(base::to_bytes(key));
            return {};
        case Table::kGame:
        case Table::kGamePieces:
            if (key.size() >= 37) touched.games.insert(round());
            return {};
        case Table::kRound:
        case Table::kSlotRound:
        case Table::kMergePosting:
        case Table::kRoundPrices:
            if (key.size() >= 37) touched.rounds.insert(round());
            return {};
        case Table::kClaimOf:
        case Table::kWindowEnd:
        case Table::kGameAbout:
        case Table::kDueInGames: break;
        default: return {};
    }
    const auto entry = entry_of(key);
    if (!entry) return broken("an entry about claims is of no kind");
    if (entry->claim) touched.claims.insert(claim_key(*entry->claim));
    if (entry->game) touched.games.insert(*entry->game);
    if (present) touched.entries.push_back(base::to_bytes(key));
    const bool ends = entry->table == Table::kWindowEnd;
    const bool due = entry->table == Table::kDueInGames;
    if (ends || due) {
        const DueKind kind = ends ? DueKind::kWindows : DueKind::kGames;
        touched.deadlines.push_back(deadline_key({entry->height, kind, base::hash_from(key.subspan(1, 32))}));
    }
    return {};
}

bool has_claim_records(const StateView& state, const Hash256& job) {
    return std::any_of(std::begin(kClaimTables), std::end(kClaimTables),
                       [&](Table table) { return has_any(state, records_of_job(table, job)); });
}

InvariantResult check_claims(const StateView& state, const Job& job) {
    ASSAY_TRY(check_terms_of(state, job));
    for (std::uint32_t round = 0; round <= job.round; ++round) ASSAY_TRY(check_prices(state, job, round));
    for (const Game& game : list_games(state, job.id)) ASSAY_TRY(check_game(state, job.id, game.number));
    for (const auto& [id, claim] : list_claims(state, job.id)) ASSAY_TRY(check_claim(state, job, id));
    for (const Table table : kClaimTables) {
        if (table == Table::kClaim) continue;
        InvariantResult finding;
        const Bytes prefix = records_of_job(table, job.id);
        state.for_each(prefix, prefix, [&](ByteView key, ByteView) {
            finding = check_entry(state, job.id, key);
            return finding.ok();
        });
        ASSAY_TRY(finding);
    }
    return check_running(state, job);
}

InvariantResult check_claims(const StateView& before, const StateView& now, const Job& job,
                             TouchedClaims touched) {
    if (are_other_terms(before, now, job)) return check_claims(now, job);
    ASSAY_TRY(check_terms_of(now, job));
    touched.rounds.insert(job.round);
    if (const auto progress = read_job_progress(before, job.id)) touched.rounds.insert(progress->round);
    for (const std::uint32_t round : touched.rounds) {
        ASSAY_TRY(check_prices(now, job, round));
        for (const StateView* state : {&before, &now})
            for (const auto& [id, claim] : list_claims(*state, job.id, round))
                touched.claims.insert(claim_key(id));
    }
    for (const std::uint32_t number : touched.games) {
        ASSAY_TRY(check_game(now, job.id, number));
        for (const StateView* state : {&before, &now}) {
            const auto game = load<Game>(*state, game_key(job.id, number));
            if (!game) continue;
            touched.claims.insert(claim_key(game->claim_id(job.id)));
            touched.entries.push_back(game_about_key(game->claim_id(job.id), number));
            if (game->due != 0) touched.entries.push_back(game_due_key(job.id, number, game->due));
        }
    }
    for (const Bytes& key : touched.claims) {
        const ClaimId id = required(claim_of(key));
        ASSAY_TRY(check_claim(now, job, id));
        for (Bytes& entry : entries_about(before, id)) touched.entries.push_back(std::move(entry));
    }
    // One that is there must be true, whoever left it.
    for (const Bytes& key : touched.entries)
        if (now.get(key)) ASSAY_TRY(check_entry(now, job.id, key));
    return check_running(now, job);
}

}  // namespace assay::contracts
