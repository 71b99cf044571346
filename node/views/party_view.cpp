// SPDX-License-Identifier: Apache-2.0
#include "node/views/party_view.hpp"

#include <algorithm>
#include <map>

#include "contracts/program/names.hpp"
#include "contracts/rules/escrow.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/state/supply.hpp"

namespace assay::node {

std::string class_name(const contracts::WorkClass& kind) {
    const std::uint64_t first = std::uint64_t{1} << (std::max<int>(kind.scale, 1) - 1);
    return std::string(program::to_text(kind.family)) + " " + std::string(program::to_text(kind.profile)) +
           " " + std::to_string(first) + "-" + std::to_string(2 * first - 1);
}

MinerView miner_view(const contracts::StateView& state, const base::PublicKey& key,
                     const contracts::Miner& miner) {
    const contracts::Stake stake = contracts::read_stake(state, key);
    MinerView view{.miner = key,
                   .owner = miner.owner,
                   .endpoint = miner.endpoint,
                   .stake = stake.free,
                   .bonded = stake.bonded,
                   .earned = miner.earned,
                   .forfeited = miner.forfeited};
    for (const auto& [kind, work] : contracts::list_standing(state, key)) {
        view.standing.push_back({class_name(kind), work});
        view.verified_work += work;
    }
    return view;
}

MinerList miners_of(const contracts::StateView& state) {
    MinerList list;
    for (const auto& [key, miner] : contracts::list_miners(state))
        list.miners.push_back(miner_view(state, key, miner));
    return list;
}

MinerStatus miner_status(const contracts::StateView& state, const base::PublicKey& key,
                         const contracts::Miner& miner) {
    MinerStatus status{.miner = miner_view(state, key, miner), .open_jobs = {}};
    const base::Amount free = status.miner.stake;
    const base::Amount whole = free.plus(status.miner.bonded).value_or(free);
    for (const base::Hash256& id : contracts::list_active_jobs(state)) {
        const auto job = contracts::read_job(state, id);
        if (!job || job->phase != contracts::JobPhase::kAskCommit) continue;
        const auto lock =
            contracts::most_locked(contracts::params_of(state, *job), job->spec, job->slot_work);
        if (lock) status.open_jobs.push_back({id, lock->slot, std::min(lock->round, whole)});
    }
    return status;
}

namespace {

/// What the verifier locked for the job and still has: a part of it may stand behind its open merges.
struct LeftOfLock {
    base::Amount left;
    std::uint64_t merges = 0;
};

LeftOfLock left_of(const contracts::StateView& state, const base::Hash256& job,
                   const contracts::EnlistedVerifier& enlisted) {
    LeftOfLock found{.left = enlisted.bond};
    contracts::for_each_claim_of(state, job, enlisted.node, contracts::ClaimKind::kMerge,
                                 [&](const contracts::ClaimId& id) {
                                     ++found.merges;
                                     const auto claim = contracts::read_claim(state, id);
                                     if (claim)
                                         found.left = contracts::saturating_sum(found.left, claim->bond);
                                     return true;
                                 });
    return found;
}

EnlistedJobView enlisted_view(const contracts::StateView& state, const contracts::Job& job,
                              const contracts::EnlistedVerifier& enlisted) {
    const LeftOfLock left = left_of(state, job.id, enlisted);
    EnlistedJobView view{
        .job = job.id,
        .name = job.spec.name,
        .phase = job.phase,
        .round = job.round,
        .rounds = job.spec.rounds,
        .locked = enlisted.locked,
        .lost = enlisted.locked.minus(left.left).value_or(base::Amount{}),
        .missed = enlisted.missed,
        .missed_most = contracts::kAbsenceWeight * contracts::params_of(state, job).max_missed,
        .dropped = enlisted.dropped,
        .open_merges = left.merges};
    if (const auto member = contracts::read_beacon_member(state, job.id, enlisted.node)) {
        view.link_bond = member->bond;
        view.links_dropped = member->dropped;
    }
    return view;
}

}  // namespace

VerifierView verifier_view(const contracts::StateView& state, const base::PublicKey& key,
                           const contracts::Verifier& verifier) {
    const contracts::Stake stake = contracts::read_stake(state, key);
    return {.verifier = key,
            .owner = verifier.owner,
            .endpoint = verifier.endpoint,
            .audited_units = verifier.audited_units,
            .stake = stake.free,
            .bonded = stake.bonded,
            .earned = verifier.earned,
            .penalised = verifier.penalised};
}

VerifierList verifiers_of(const contracts::StateView& state) {
    // Each job once, and not each job for each verifier: of a node's state every read is a call.
    std::map<base::PublicKey, std::uint64_t> enlisted;
    for (const base::Hash256& id : contracts::list_active_jobs(state)) {
        const auto job = contracts::read_job(state, id);
        if (!job) continue;
        for (const contracts::EnlistedVerifier& one : job->verifiers) ++enlisted[one.node];
    }
    VerifierList list;
    for (const auto& [key, verifier] : contracts::list_verifiers(state))
        list.verifiers.push_back({verifier_view(state, key, verifier), enlisted[key]});
    return list;
}

VerifierStatus verifier_status(const contracts::StateView& state, const base::PublicKey& key,
                               const contracts::Verifier& verifier) {
    VerifierStatus status{.verifier = verifier_view(state, key, verifier), .jobs = {}};
    for (const base::Hash256& id : contracts::list_active_jobs(state)) {
        const auto enlisted = contracts::read_enlisted(state, id, key);
        const auto job = enlisted ? contracts::read_job(state, id) : std::nullopt;
        if (job) status.jobs.push_back(enlisted_view(state, *job, *enlisted));
    }
    return status;
}

WalletView wallet_view(const contracts::StateView& state, const base::PublicKey& owner) {
    const contracts::Account account = contracts::read_account(state, owner);
    WalletView view{.owner = owner,
                    .balance = account.balance,
                    .nonce = account.nonce,
                    .withdrawals = withdrawals_of(state, owner),
                    .nodes = {}};
    for (const WithdrawalView& one : view.withdrawals) view.unbonding.count += one.amount.units();
    // Of buyers too, whose node keys back challenges without being of a role.
    for (const auto& [node, key] : contracts::list_node_keys(state)) {
        if (key.owner != owner) continue;
        const contracts::Stake stake = contracts::read_stake(state, node);
        view.nodes.push_back({node, key.revoked, stake.free, stake.bonded});
        view.stake.count += stake.free.units();
        view.bonded.count += stake.bonded.units();
    }
    for (const base::Hash256& id : contracts::list_active_jobs(state)) {
        const auto job = contracts::read_job(state, id);
        if (job && job->buyer == owner) view.escrow.count += contracts::escrow_of(state, *job).units();
    }
    return view;
}

}  // namespace assay::node
