// SPDX-License-Identifier: Apache-2.0
#include "node/sim/measure.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "contracts/base/verified_signatures.hpp"
#include "contracts/rules/job/costs.hpp"
#include "ledger/application/executed_blocks.hpp"
#include "node/sim/statistics.hpp"

namespace assay::node::sim {

namespace {

using contracts::ClaimKind;
using contracts::Consequence;
using contracts::Game;
using contracts::GameEnd;
using contracts::LineKind;
using contracts::SettlementLine;

/// What was counted in some worlds. Money in pays of a slot.
struct Tally {
    std::uint64_t trials = 0;
    std::uint64_t caught = 0;
    std::uint64_t honest_forfeits = 0;
    double profit = 0;

    void add(const Tally& other) {
        trials += other.trials;
        caught += other.caught;
        honest_forfeits += other.honest_forfeits;
        profit += other.profit;
    }
};

/// In the place of a slot's number: of a round one merge stands.
constexpr std::uint32_t kOfTheMerge = 0;

class Count {
public:
    Count(const CheatRow& strategy, const World& world, double compute_share)
        : strategy_(strategy), world_(world), compute_share_(compute_share) {
        for (const auto& party : world.parties()) {
            if (is_honest(*party)) continue;
            coalition_.insert(party->node.public_key());
            if (is_cheat(*party)) cheats_.insert(party->node.public_key());
        }
        wealth_ = wealth_now();
    }

    Tally job(const JobOutcome& outcome) {
        tally_ = {};
        const std::uint64_t before = std::exchange(wealth_, wealth_now());
        if (outcome.laundering) return tally_;
        said_ = outcome.said;
        among_friends_ = outcome.among_friends;
        gain_bound_ = outcome.gain_bound;
        find_games(outcome);
        find_cheats_slots(outcome);
        bool link_lost = false;
        for (const SettlementLine& line : outcome.lines) {
            count(line);
            link_lost = link_lost || (line.kind == LineKind::kLink && cheats_.contains(line.node));
        }
        for (const Game& game : outcome.games) count(game);
        if (strategy_.trial == Trial::kLink && outcome.rounds > 0) trial(link_lost);
        if (strategy_.trial == Trial::kJob) count_job(outcome, before);
        return tally_;
    }

private:
    [[nodiscard]] std::uint64_t wealth_now() const {
        std::uint64_t sum = 0;
        for (const auto& party : world_.parties())
            if (is_cheat(*party)) sum += world_.wealth(*party);
        return sum;
    }

    void count_job(const JobOutcome& outcome, std::uint64_t before) {
        if (strategy_.caught == Caught::kNoWork) trial(outcome.rounds == 0 && outcome.lines.empty());
        if (strategy_.caught == Caught::kPoorer) trial(wealth_ < before);
        // Of a job that came to no round there is no line with a price.
        const double pay = outcome.lines.empty() ? outcome.slot_pay : slot_pay_;
        const double gain = static_cast<double>(wealth_) - static_cast<double>(before);
        tally_.profit = pay > 0 ? gain / pay : 0;
    }

    void find_games(const JobOutcome& outcome) {
        dead_.clear();
        accused_falsely_.clear();
        for (const Game& game : outcome.games) {
            const bool judged = game.end != GameEnd::kClosed && game.end != GameEnd::kVoid;
            if (game.called || !judged) continue;
            const bool of_slot = game.kind == ClaimKind::kSlot;
            if (game.claimant_lost && of_slot) dead_.insert({game.round, game.claim});
            if (!game.claimant_lost && game.accuses)
                accused_falsely_.insert(
                    {game.challenger, game.kind, game.round, of_slot ? game.claim : kOfTheMerge});
        }
    }

    /// Whoever loses a game loses what it bonded, or what it held.
    void count(const Game& game) {
        if (game.end == GameEnd::kClosed || game.end == GameEnd::kVoid) return;
        const bool ours = coalition_.contains(game.claimant);
        const bool against_us = coalition_.contains(game.challenger);
        const bool we_lose = game.claimant_lost ? ours : against_us;
        if (!we_lose) ++tally_.honest_forfeits;
        if (we_lose) tally_.profit -= in_pays(game.lost);
        if (game.claimant_lost ? against_us : ours) tally_.profit += in_pays(game.to_winner);
        if (ours && game.claimant_lost && !game.called) tally_.profit -= in_pays(game.returned);
        if (strategy_.trial == Trial::kGame && cheats_.contains(game.challenger)) trial(!game.claimant_lost);
        if (strategy_.trial == Trial::kCall && game.called && against_us) trial(!game.claimant_lost);
    }

    void find_cheats_slots(const JobOutcome& outcome) {
        cheats_slots_.clear();
        for (const SettlementLine& line : outcome.lines) {
            if (line.kind == LineKind::kSlot && cheats_.contains(line.node)) cheats_slots_.insert(line.slot);
        }
    }

    void count(const SettlementLine& line) {
        if (line.kind == LineKind::kSlot && line.node != base::PublicKey{}) {
            slot_pay_ = static_cast<double>(line.price.units()) * static_cast<double>(line.work_units);
        }
        if (!coalition_.contains(line.node)) {
            if (!line.lost.is_zero()) ++tally_.honest_forfeits;
            return;
        }
        if (!cheats_.contains(line.node)) return count_friend(line);
        // Beside what it could do instead, other lines differ by what was drawn alone.
        if (!strategy_.instead || is_trial(line)) tally_.profit += earned(line);
        if (is_trial(line)) trial(is_caught(line));
    }

    [[nodiscard]] bool is_trial(const SettlementLine& line) const {
        switch (strategy_.trial) {
            case Trial::kSlot: return line.kind == LineKind::kSlot;
            case Trial::kAudit: return line.kind == LineKind::kAudit;
            case Trial::kMerge: return line.kind == LineKind::kMerge;
            case Trial::kReplay: {
                const SaidOfSlot* said = said_by(line);
                return said != nullptr && said->served_start;
            }
            case Trial::kLink:
            case Trial::kJob:
            case Trial::kGame:
            case Trial::kCall: return false;
        }
        return false;
    }

    /// Null: it is no audit, or not of a verifier that shares its work.
    [[nodiscard]] const SaidOfSlot* said_by(const SettlementLine& line) const {
        const auto found = said_.find({line.node, line.round, line.slot});
        return line.kind != LineKind::kAudit || found == said_.end() ? nullptr : &found->second;
    }

    /// Work units that an audit cost the cheat: of several names that say the same, one computed it.
    [[nodiscard]] double audit_work(const SettlementLine& line) const {
        const SaidOfSlot* said = said_by(line);
        if (said == nullptr) return static_cast<double>(line.work_units);
        const auto names = std::count_if(said_.begin(), said_.end(), [&](const auto& one) {
            return std::get<1>(one.first) == line.round && std::get<2>(one.first) == line.slot;
        });
        return static_cast<double>(said->work) / static_cast<double>(names);
    }

    /// A friend's honest work is none of the cheat's profit: its words about the cheat's slots are, and all
    /// that it loses.
    void count_friend(const SettlementLine& line) {
        if (line.kind == LineKind::kAudit && cheats_slots_.contains(line.slot)) {
            tally_.profit += earned(line);
        } else {
            tally_.profit -= in_pays(line.lost);
        }
    }

    [[nodiscard]] double in_pays(base::Amount amount) const {
        return slot_pay_ > 0 ? static_cast<double>(amount.units()) / slot_pay_ : 0;
    }

    /// Pay and share less losses, less what the work of the line cost.
    [[nodiscard]] double earned(const SettlementLine& line) const {
        const double money = in_pays(line.paid) - in_pays(line.lost);
        if (line.kind == LineKind::kSlot) return money - compute_share_ * strategy_.work + gain_of(line);
        if (line.kind != LineKind::kAudit) return money;
        const double cost = slot_pay_ > 0 ? compute_share_ * static_cast<double>(line.price.units()) *
                                                audit_work(line) / slot_pay_
                                          : 0;
        if (cheats_.contains(line.node)) return money - strategy_.work * cost;
        // A friend that vouches knows the false roots. Beside an honest verifier it computes.
        return money + fee_of(line) - (among_friends_.contains({line.round, line.slot}) ? 0 : cost);
    }

    /// What a game paid for an audit that accused the claim: at its settlement that was set aside.
    [[nodiscard]] double fee_of(const SettlementLine& line) const {
        if (line.reason != contracts::Reason::kAuditAccuses || !dead_.contains({line.round, line.slot}))
            return 0;
        const auto fee = contracts::audit_fee(contracts::Params(), line.price, line.work_units);
        return fee ? in_pays(*fee) : 0;
    }

    /// What a slot brings outside of the job: the job's gain bound, as far as bonds count it at this price.
    [[nodiscard]] double gain_of(const SettlementLine& line) const {
        if (!strategy_.wins_gain || line.paid.is_zero() || is_caught(line)) return 0;
        const auto counted = contracts::gain_bound_max(contracts::Params(), line.price, line.work_units);
        return in_pays(counted ? std::min(*counted, gain_bound_) : gain_bound_);
    }

    [[nodiscard]] bool is_caught(const SettlementLine& line) const {
        switch (strategy_.caught) {
            case Caught::kUnpaid: return line.paid.is_zero();
            case Caught::kPenalty: return contracts::consequence(line.reason) == Consequence::kPenalty;
            case Caught::kPlainFee: return line.from_slot.is_zero();
            case Caught::kClaimDies:
                return contracts::consequence(line.reason) == Consequence::kForfeit ||
                       dead_.contains({line.round, line.slot});
            case Caught::kLosesGame: {
                const bool of_merge = line.kind == LineKind::kMerge;
                return accused_falsely_.contains({line.node, of_merge ? ClaimKind::kMerge : ClaimKind::kSlot,
                                                  line.round, of_merge ? kOfTheMerge : line.slot});
            }
            case Caught::kPoorer:
            case Caught::kNoWork: return false;
        }
        return false;
    }

    void trial(bool caught) {
        ++tally_.trials;
        if (caught) ++tally_.caught;
    }

    const CheatRow& strategy_;
    const World& world_;
    double compute_share_;
    std::uint64_t wealth_ = 0;             ///< of the cheat, after the last job
    std::set<base::PublicKey> coalition_;  ///< the cheat's names and its friends'
    std::set<base::PublicKey> cheats_;     ///< the cheat's names
    std::set<std::uint32_t> cheats_slots_;
    std::set<std::pair<std::uint32_t, std::uint32_t>> dead_;  ///< round and slot of claims that lost a game
    /// Of games that the accuser lost: it, the kind of the claim, round and slot.
    std::set<std::tuple<base::PublicKey, ClaimKind, std::uint32_t, std::uint32_t>> accused_falsely_;
    SaidOfSlots said_;
    std::set<std::pair<std::uint32_t, std::uint32_t>> among_friends_;  ///< JobOutcome::among_friends
    base::Amount gain_bound_;                                          ///< of the job
    double slot_pay_ = 0;
    Tally tally_;
};

base::Outcome<Tally> play(const CheatRow& strategy, const SimOptions& options, bool third,
                          std::uint64_t trials) {
    constexpr std::uint64_t kIdleJobsMax = 64;
    Tally all;
    const base::VerifiedSignatures once_for_all_parties;
    const ledger::ExecutedBlocks executed_once;
    for (std::uint32_t i = 0; i < options.seeds; ++i) {
        const std::uint64_t want = trials * (i + 1) / options.seeds;
        if (all.trials >= want) continue;
        // A coalition's world is another one than that of the cheat alone.
        const std::uint64_t seed = 2 * (options.seed + i) + (third ? 1 : 0);
        ASSAY_ASSIGN(const auto world, World::open(setup_of(strategy, seed, third)));
        Count count(strategy, *world, options.compute_share);
        for (std::uint64_t idle = 0; all.trials < want;) {
            ASSAY_ASSIGN(const JobOutcome outcome, world->run_job());
            const Tally job = count.job(outcome);
            all.add(job);
            idle = job.trials == 0 ? idle + 1 : 0;
            if (idle > kIdleJobsMax) {
                return base::fail(base::ErrorKind::kFailure,
                                  "the cheat of " + std::string(strategy.name) +
                                      " has no part in any job: the last ended for " +
                                      std::string(contracts::to_text(outcome.why)));
            }
        }
    }
    return all;
}

}  // namespace

base::Outcome<SimRow> measure(const CheatRow& strategy, const SimOptions& options) {
    // A verifier of three has a third of the stake by itself, and a buyer has no panel to collude with.
    const bool twice = strategy.cheat == WorkRole::kMiner && strategy.trial == Trial::kSlot &&
                       strategy.colluding_verifiers == 0 && strategy.others.empty() &&
                       !strategy.flash_stake && strategy.law != CatchLaw::kNever;
    const std::uint64_t alone = twice ? (options.rounds + 1) / 2 : options.rounds;
    ASSAY_ASSIGN(const Tally one, play(strategy, options, false, std::max<std::uint64_t>(alone, 1)));
    Tally third = one;
    if (twice) {
        ASSAY_ASSIGN(third, play(strategy, options, true, std::max<std::uint64_t>(options.rounds / 2, 1)));
    }
    const auto profit = [](const Tally& tally) {
        return tally.trials == 0 ? 0.0 : tally.profit / static_cast<double>(tally.trials);
    };
    double otherwise = 0;
    if (strategy.instead) {
        CheatRow honest = strategy;
        honest.behaviour = *strategy.instead;
        ASSAY_ASSIGN(const Tally tally, play(honest, options, false, std::max<std::uint64_t>(alone, 1)));
        otherwise = tally.profit / static_cast<double>(std::max<std::uint64_t>(tally.trials, 1));
    }
    Tally all = one;
    if (twice) all.add(third);
    const Interval interval = wilson(all.caught, all.trials);
    const auto trials = [](const Tally& tally) { return static_cast<double>(tally.trials); };
    // Both runs are of one rate where no friend can be the whole panel.
    const double predicted = !twice || all.trials == 0 ? predicted_rate(strategy, false)
                                                       : (predicted_rate(strategy, false) * trials(one) +
                                                          predicted_rate(strategy, true) * trials(third)) /
                                                             trials(all);
    return SimRow{
        .strategy = std::string(strategy.name),
        .seeds = options.seeds,
        .rounds = all.trials,
        .predicted = predicted,
        .measured = all.trials == 0 ? 0.0 : static_cast<double>(all.caught) / static_cast<double>(all.trials),
        .low = interval.low,
        .high = interval.high,
        .profit_one = profit(one) - otherwise,
        .profit_third = profit(third) - otherwise,
        .honest_forfeits = all.honest_forfeits};
}

}  // namespace assay::node::sim
