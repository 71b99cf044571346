// SPDX-License-Identifier: Apache-2.0
#include "node/views/stake_view.hpp"

#include <algorithm>

#include "contracts/rules/identity/unbonding.hpp"
#include "contracts/rules/state/store.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::node {

using base::Amount;
using base::Hash256;
using base::PublicKey;
using contracts::ClaimKind;
using contracts::StateView;

std::string_view to_text(LockKind kind) {
    switch (kind) {
        case LockKind::kSlots: return "slots";
        case LockKind::kWindows: return "windows";
        case LockKind::kMerges: return "merges";
        case LockKind::kAudits: return "audits";
        case LockKind::kLinks: return "links";
        case LockKind::kPlace: return "place";
        case LockKind::kChallenges: return "challenges";
    }
    return "unknown";
}

namespace {

std::string plural_of(std::uint64_t count, const std::string& one) {
    return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

/// The locks of one job, without those that lock nothing.
class LocksOfJob {
public:
    LocksOfJob(const StateView& state, const Hash256& job, const PublicKey& node)
        : state_(state), job_(job), node_(node) {}

    std::vector<StakeLock> take() {
        count_claims(ClaimKind::kSlot);
        count_claims(ClaimKind::kMerge);
        if (const auto enlisted = contracts::read_enlisted(state_, job_, node_))
            add(LockKind::kAudits, enlisted->bond);
        const auto member = contracts::read_beacon_member(state_, job_, node_);
        // A buyer's link bond comes from its account.
        if (member && member->role != contracts::BeaconRole::kBuyer) add(LockKind::kLinks, member->bond);
        const auto entry =
            contracts::load<contracts::RosterEntry>(state_, contracts::roster_key(job_, node_));
        if (entry) add(LockKind::kPlace, entry->locked);
        for (const contracts::Game& game : contracts::list_games_about_open_claims(state_, job_))
            if (game.is_open() && game.challenger == node_) add(LockKind::kChallenges, game.bond);
        return std::move(locks_);
    }

private:
    /// Null when it locks nothing.
    StakeLock* add(LockKind kind, Amount amount) {
        if (amount.is_zero()) return nullptr;
        const auto same = std::find_if(locks_.begin(), locks_.end(),
                                       [&](const StakeLock& lock) { return lock.kind == kind; });
        StakeLock& lock = same == locks_.end() ? locks_.emplace_back(StakeLock{job_, kind, 0, {}}) : *same;
        ++lock.count;
        lock.amount = contracts::saturating_sum(lock.amount, amount);
        return &lock;
    }

    void count_claims(ClaimKind kind) {
        std::vector<contracts::ClaimId> ids;
        contracts::for_each_claim_of(state_, job_, node_, kind, [&](const contracts::ClaimId& id) {
            ids.push_back(id);
            return true;
        });
        for (const contracts::ClaimId& id : ids) {
            const auto claim = contracts::read_claim(state_, id);
            if (claim) count_claim(id, *claim);
        }
    }

    void count_claim(const contracts::ClaimId& id, const contracts::Claim& claim) {
        if (id.kind == ClaimKind::kMerge) {
            add(LockKind::kMerges, claim.bond);
            return;
        }
        if (!round_ || round_->first != id.round)
            round_.emplace(id.round, contracts::read_round_progress(state_, job_, id.round));
        const auto& round = round_->second;
        const bool settled = round && round->phase == contracts::RoundPhase::kSettled;
        StakeLock* lock = add(settled ? LockKind::kWindows : LockKind::kSlots, claim.bond);
        if (lock != nullptr && settled)
            lock->until =
                std::max(lock->until.value_or(0), contracts::later(round->settled_at, claim.window));
    }

    const StateView& state_;
    const Hash256& job_;
    const PublicKey& node_;
    std::vector<StakeLock> locks_;
    /// The round of the last claim: claims come by rounds.
    std::optional<std::pair<std::uint32_t, std::optional<contracts::RoundProgress>>> round_;
};

std::vector<StakeDepositView> deposits_of(const StateView& state, const std::vector<Hash256>& jobs,
                                          const PublicKey& node) {
    std::vector<StakeDepositView> found;
    const auto add = [&](const char* behind, Amount amount, std::optional<Hash256> job) {
        if (!amount.is_zero()) found.push_back({behind, job, amount});
    };
    for (const Hash256& job : jobs)
        if (const auto ask = contracts::read_ask(state, job, node)) add("ask", ask->deposit, job);
    if (const auto lot = contracts::read_lot_ask(state, node)) add("lot", lot->deposit, {});
    for (const auto profile : {program::Profile::kF32, program::Profile::kI16})
        add("class", contracts::read_machine(state, node, profile).deposit, {});
    return found;
}

/// The withdrawals that `fits` takes.
template <class Fits>
std::vector<WithdrawalView> withdrawals_that(const StateView& state, Fits fits) {
    std::vector<WithdrawalView> found;
    for (const auto& [block, unbonding] : contracts::list_unbonding(state))
        if (fits(unbonding)) found.push_back({unbonding.node, unbonding.amount, block});
    return found;
}

}  // namespace

std::string StakeLock::what() const {
    switch (kind) {
        case LockKind::kSlots: return plural_of(count, "slot") + " of a round that runs";
        case LockKind::kWindows: return plural_of(count, "slot") + " in the claim window";
        case LockKind::kMerges: return plural_of(count, "merge") + " of a round that runs";
        case LockKind::kAudits: return "its part as a verifier";
        case LockKind::kLinks: return "its links of the beacon";
        case LockKind::kPlace: return "the place that it took";
        case LockKind::kChallenges: return plural_of(count, "dispute") + " that it opened";
    }
    return "something unknown";
}

std::string StakeLock::freed() const {
    switch (kind) {
        case LockKind::kSlots: return "the end of the claim windows, once the round is settled";
        case LockKind::kWindows:
            return until ? "block " + std::to_string(*until) + ", or later in a dispute" : "not known";
        case LockKind::kMerges: return "the settlement of the round";
        case LockKind::kAudits:
        case LockKind::kLinks: return "the end of the job";
        case LockKind::kPlace: return "the dealing of the next round";
        case LockKind::kChallenges: return "the end of the dispute";
    }
    return "not known";
}

std::optional<StakeView> stake_view(const StateView& state, const PublicKey& node) {
    const auto key = contracts::read_node_key(state, node);
    if (!key) return std::nullopt;
    const contracts::Stake stake = contracts::read_stake(state, node);
    StakeView view{.node = node,
                   .owner = key->owner,
                   .revoked = key->revoked,
                   .roles = {},
                   .free = stake.free,
                   .bonded = stake.bonded,
                   .locks = {},
                   .deposits = {},
                   .unbonding = {},
                   .withdrawals = {},
                   .forfeited = {},
                   .penalised = {}};
    if (const auto miner = contracts::read_miner(state, node)) {
        view.roles.emplace_back("miner");
        view.forfeited = miner->forfeited;
    }
    if (const auto verifier = contracts::read_verifier(state, node)) {
        view.roles.emplace_back("verifier");
        view.penalised = verifier->penalised;
    }
    const std::vector<Hash256> jobs = contracts::list_active_jobs(state);
    for (const Hash256& job : jobs)
        for (StakeLock& lock : LocksOfJob(state, job, node).take()) view.locks.push_back(lock);
    view.deposits = deposits_of(state, jobs, node);
    view.withdrawals = withdrawals_that(state, [&](const auto& one) { return one.node == node; });
    for (const WithdrawalView& one : view.withdrawals) view.unbonding.count += one.amount.units();
    return view;
}

std::vector<WithdrawalView> withdrawals_of(const StateView& state, const PublicKey& owner) {
    return withdrawals_that(state, [&](const auto& one) { return one.owner == owner; });
}

}  // namespace assay::node
