// SPDX-License-Identifier: Apache-2.0
#include "node/views/party_view.hpp"

#include <algorithm>

#include "contracts/program/names.hpp"
#include "contracts/rules/escrow.hpp"
#include "contracts/rules/job/costs.hpp"

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

VerifierView verifier_view(const base::PublicKey& key, const contracts::Verifier& verifier) {
    return {.verifier = key,
            .owner = verifier.owner,
            .endpoint = verifier.endpoint,
            .audited_units = verifier.audited_units,
            .earned = verifier.earned,
            .penalised = verifier.penalised};
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
