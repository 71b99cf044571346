// SPDX-License-Identifier: Apache-2.0
#include "ledger/audit/game_audit.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "ledger/audit/judge_audit.hpp"
#include "ledger/audit/payout_amounts.hpp"
#include "ledger/audit/price_audit.hpp"

namespace assay::ledger {

namespace {

using contracts::ClaimId;
using contracts::ClaimKind;
using contracts::Game;
using contracts::GameEnd;
using contracts::Job;
using contracts::LineKind;
using contracts::PublicKey;
using contracts::Reason;
using contracts::SettlementLine;

std::uint64_t plus(std::uint64_t a, std::uint64_t b) {
    const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - a;
    return a + std::min(b, room);
}

std::uint64_t less(std::uint64_t a, std::uint64_t b) { return a - std::min(a, b); }

/// What an amount may be, whichever came first of what happened at one height.
struct AmountRange {
    std::uint64_t least = 0;
    std::uint64_t most = 0;
    [[nodiscard]] AmountRange at_most(std::uint64_t limit) const {
        return {std::min(least, limit), std::min(most, limit)};
    }
};

/// What is left of an amount from which things were taken before a game, or perhaps before it.
class LeftBefore {
public:
    void take(std::uint64_t amount, bool is_certain) {
        std::uint64_t& sum = is_certain ? certain_ : perhaps_;
        sum = plus(sum, amount);
    }
    [[nodiscard]] AmountRange of(std::uint64_t whole) const {
        const std::uint64_t most = less(whole, certain_);
        return {less(most, perhaps_), most};
    }

private:
    std::uint64_t certain_ = 0;
    std::uint64_t perhaps_ = 0;
};

/// Whether nobody opened it, so that it ended as it began.
bool is_unplayed(const Game& game) { return game.end == GameEnd::kSilent && game.opened_at == game.ended_at; }

bool is_decided(const Game& game) {
    return !game.is_open() && game.end != GameEnd::kClosed && game.end != GameEnd::kVoid;
}

enum class GameOrder : std::uint8_t { kBefore, kUnknown, kAfter };

/// When `other` ended, seen from the end of `game`.
GameOrder order_of(const Game& other, const Game& game) {
    if (other.is_open() || other.ended_at > game.ended_at) return GameOrder::kAfter;
    if (other.ended_at < game.ended_at) return GameOrder::kBefore;
    if (!is_unplayed(other) || !is_unplayed(game)) return GameOrder::kUnknown;
    return other.number < game.number ? GameOrder::kBefore : GameOrder::kAfter;
}

class GameAudit {
public:
    GameAudit(const contracts::StateView& state, const Job& job, const contracts::Params& params,
              const std::vector<contracts::Round>& rounds)
        : state_(state),
          job_(job),
          params_(params),
          locked_(job),
          games_(contracts::list_games(state, job.id)) {
        for (const contracts::Round& round : rounds) {
            for (const SettlementLine& line : contracts::list_settlement(state, job.id, round.number)) {
                if (line.kind == LineKind::kSlot) slots_.emplace(std::pair(round.number, line.slot), line);
                const bool of_stake = line.kind == LineKind::kAudit || line.kind == LineKind::kMerge;
                if (of_stake && !line.lost.is_zero()) penalties_.emplace_back(round.settled_at, line);
            }
        }
    }

    std::vector<std::string> run() {
        for (const Game& game : games_) {
            const std::uint64_t cost = share(prices_of(game.round).round.units(), job_.slot_work, 1);
            expect(game, "sets a replay at", game.cost, {cost, cost});
            check_bond(game, cost);
            if (!game.is_open()) check_loss(game, cost);
        }
        return std::move(wrong_);
    }

private:
    void expect(const Game& game, const char* what, contracts::Amount found, AmountRange right) {
        const std::uint64_t is = found.units();
        if (right.least <= is && is <= right.most) return;
        const bool of_accuser = game.accuses && !game.claimant_lost;
        wrong_.push_back(std::string(of_accuser ? "accusation" : "dispute") + ": game " +
                         std::to_string(game.number) + " " + what + " " + std::to_string(is) +
                         ", the rule gives " + std::to_string(is < right.least ? right.least : right.most));
    }

    // Doubled for each challenge that is open on the claim.
    void check_bond(const Game& game, std::uint64_t cost) {
        if (game.accuses || is_winners_call(game)) return expect(game, "has a bond of", game.bond, {});
        AmountRange open;
        for (const Game& other : games_) {
            if (other.number >= game.number || !is_of_same_claim(other, game)) continue;
            if (other.is_open() || other.ended_at > game.opened_at) ++open.least;
            if (other.is_open() || other.ended_at >= game.opened_at) ++open.most;
        }
        std::uint64_t bond = std::max(cost, params_.verifier_penalty.units());
        for (std::uint64_t doubled = 0; doubled < open.most; ++doubled) {
            if (doubled >= open.least && game.bond.units() == bond) return;
            bond = plus(bond, bond);
        }
        expect(game, "has a bond of", game.bond, {bond, bond});
    }

    // The game in which the claim died made it known that its unit is false.
    [[nodiscard]] bool is_winners_call(const Game& game) const {
        return game.called && std::any_of(games_.begin(), games_.end(), [&](const Game& killer) {
                   return killer.killed_claim() && is_of_same_claim(killer, game) &&
                          killer.challenger == game.challenger && killer.unit == game.unit &&
                          killer.part == game.part;
               });
    }

    void check_loss(const Game& game, std::uint64_t cost) {
        if (!is_decided(game)) return check_parts(game, {}, 0, {});
        const std::uint64_t lost = game.lost.units();
        if (game.claimant_lost) {
            // No more than this part of a bond comes back to anybody.
            const std::uint64_t back = share(lost, params_.forfeit_buyer_ppm, kMillion);
            const std::uint64_t winner = std::min(cost, back);
            const bool of_slot = verifier_that_lost(game) == nullptr;
            return check_parts(game, of_slot ? bond_of_slot(game) : stake_before(game.claimant, game), winner,
                               {back - winner, back - winner});
        }
        if (!game.accuses) {
            const std::uint64_t bond = game.bond.units();
            return check_parts(game, {bond, bond}, std::min(cost, bond), {});
        }
        // The pay of a slot that was kept out comes first.
        const std::uint64_t stake = accusation_of(params_, job_, prices_of(game.round).round);
        check_parts(game, stake_before(game.challenger, game).at_most(stake),
                    std::min(cost, less(lost, game.to_buyer.units())), kept_out_before(game).at_most(lost));
    }

    void check_parts(const Game& game, AmountRange lost, std::uint64_t winner, AmountRange buyer) {
        expect(game, "cost its loser", game.lost, lost);
        expect(game, "gave its winner", game.to_winner, {winner, winner});
        expect(game, "gave the buyer", game.to_buyer, buyer);
    }

    // What its settlement left of it.
    AmountRange bond_of_slot(const Game& game) {
        const auto slot = contracts::read_slot(state_, job_.id, game.round, game.claim);
        const SettlementLine* line = line_of(game);
        if (!slot || line == nullptr) return {};
        const std::uint64_t bond = bond_of(params_, job_, prices_of(game.round).of(game.claim), *slot);
        const std::uint64_t left = less(bond, line->lost.units());
        return {left, left};
    }

    // Of all that the verifier locked for the job.
    [[nodiscard]] AmountRange stake_before(const PublicKey& verifier, const Game& game) const {
        LeftBefore left;
        for (const auto& [height, line] : penalties_) {
            if (line.node == verifier && height <= game.ended_at)
                left.take(line.lost.units(), height < game.ended_at);
        }
        for (const Game& other : games_) {
            const PublicKey* loser = verifier_that_lost(other);
            const GameOrder order = order_of(other, game);
            if (loser == nullptr || *loser != verifier || other.number == game.number) continue;
            if (order != GameOrder::kAfter) left.take(other.lost.units(), order == GameOrder::kBefore);
        }
        return left.of(locked_.left(verifier));
    }

    // Of the pay of a slot that an accusation kept out of the merge, what the buyer did not have back yet.
    [[nodiscard]] AmountRange kept_out_before(const Game& game) const {
        if (game.kind != ClaimKind::kSlot) return {};
        const auto slot = contracts::read_slot(state_, job_.id, game.round, game.claim);
        const SettlementLine* line = line_of(game);
        const bool kept_out = slot && slot->verdict == Reason::kPaidAccused && !slot->diverged;
        if (!kept_out || line == nullptr) return {};
        LeftBefore left;
        for (const Game& other : games_) {
            const GameOrder order = order_of(other, game);
            const bool gave = is_decided(other) && other.accuses && !other.claimant_lost &&
                              other.number != game.number && is_of_same_claim(other, game);
            if (gave && order != GameOrder::kAfter)
                left.take(other.to_buyer.units(), order == GameOrder::kBefore);
        }
        return left.of(line->paid.units());
    }

    [[nodiscard]] bool is_of_same_claim(const Game& one, const Game& other) const {
        return one.claim_id(job_.id) == other.claim_id(job_.id);
    }
    // Null: the slot was not settled.
    [[nodiscard]] const SettlementLine* line_of(const Game& game) const {
        const auto found = slots_.find({game.round, game.claim});
        return found == slots_.end() ? nullptr : &found->second;
    }
    const PricesFound& prices_of(std::uint32_t round) {
        const auto known = prices_.find(round);
        if (known != prices_.end()) return known->second;
        return prices_.emplace(round, find_prices(state_, job_, round)).first->second;
    }

    const contracts::StateView& state_;
    const Job& job_;
    const contracts::Params& params_;  // of the job
    LockedStake locked_;               // as it was at first
    std::vector<Game> games_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, SettlementLine> slots_;  // by round and slot
    std::vector<std::pair<std::uint64_t, SettlementLine>> penalties_;          // with their heights
    std::map<std::uint32_t, PricesFound> prices_;
    std::vector<std::string> wrong_;
};

bool is_about(const ClaimId& claim, const SettlementLine& line) {
    if (claim.round != line.round) return false;
    if (line.kind == LineKind::kMerge) return claim.kind == ClaimKind::kMerge;
    return claim.kind == ClaimKind::kSlot && claim.number == line.slot;
}

}  // namespace

const PublicKey* verifier_that_lost(const Game& game) {
    if (!is_decided(game)) return nullptr;
    if (!game.claimant_lost) return game.accuses ? &game.challenger : nullptr;
    return game.called || game.kind == ClaimKind::kMerge ? &game.claimant : nullptr;
}

std::vector<std::string> audit_games(const contracts::StateView& state, const Job& job,
                                     const contracts::Params& params,
                                     const std::vector<contracts::Round>& rounds) {
    return GameAudit(state, job, params, rounds).run();
}

// Of a round one merge is open.
std::vector<std::string> audit_accusers(const contracts::StateView& state, const Job& job,
                                        const std::vector<contracts::Round>& rounds) {
    std::vector<std::string> wrong;
    const std::vector<Game> games = contracts::list_games(state, job.id);
    for (const contracts::Round& round : rounds) {
        for (const SettlementLine& line : contracts::list_settlement(state, job.id, round.number)) {
            if (line.reason != Reason::kMergeAccuses && line.reason != Reason::kAuditAccuses) continue;
            const auto claims = contracts::list_claims(state, job.id, round.number);
            const bool open = std::any_of(claims.begin(), claims.end(),
                                          [&](const auto& claim) { return is_about(claim.first, line); });
            const bool played = std::any_of(games.begin(), games.end(), [&](const Game& game) {
                const bool own = game.accuses && game.challenger == line.node;
                return is_about(game.claim_id(job.id), line) && !game.called && !game.is_open() &&
                       (own || game.claimant_lost);
            });
            if (!open && !played)
                wrong.push_back("accusation: " + line.node.brief() + " accused a claim of round " +
                                std::to_string(round.number) + ", and no game decided it");
        }
    }
    return wrong;
}

}  // namespace assay::ledger
