// SPDX-License-Identifier: Apache-2.0
// Independent checkers over the whole state. Each knows one rule and trusts nothing that the others check.
#include <algorithm>
#include <array>
#include <map>

#include "contracts/rules/conservation.hpp"
#include "contracts/rules/limits.hpp"
#include "contracts/rules/money.hpp"
#include "contracts/rules/store.hpp"

namespace assay::contracts {

namespace {

using Finding = Result<void, Violation>;

Finding broken(std::string what) { return failed(Violation{std::move(what)}); }

Finding check_schema(const StateView& state) {
    const Meta meta = read_meta(state);
    if (meta.schema != kSchemaVersion) return broken("the schema version is not this program's");
    if (check_params(read_params(state))) return broken("a parameter is out of its range");
    return {};
}

/// Keys hold one role of sender: an owner or a node, never both.
Finding check_keys(const StateView& state) {
    for (const auto& [node, record] : list_node_keys(state)) {
        if (state.get(account_key(node))) return broken("node key " + node.brief() + " is an account too");
    }
    for (const auto& [node, miner] : list_miners(state)) {
        const auto record = read_node_key(state, node);
        if (!record || record->owner != miner.owner)
            return broken("miner " + node.brief() + " has no node key");
    }
    for (const auto& [node, verifier] : list_verifiers(state)) {
        const auto record = read_node_key(state, node);
        if (!record || record->owner != verifier.owner) {
            return broken("verifier " + node.brief() + " has no node key");
        }
    }
    return {};
}

/// Bonded stake is exactly what running slots and enlistments lock.
Finding check_bonds(const StateView& state) {
    std::map<PublicKey, Amount> locked;
    for (const Hash256& id : list_active_jobs(state)) {
        const auto job = read_job(state, id);
        if (!job) return broken("an active job has no record");
        for (const EnlistedVerifier& verifier : job->verifiers) {
            locked[verifier.node] = sum(locked[verifier.node], verifier.bond);
        }
        if (job->phase != JobPhase::kRounds) continue;
        for (const SlotRound& slot : list_slots(state, id, job->round)) {
            if (slot.assigned) locked[slot.miner] = sum(locked[slot.miner], slot.bond);
        }
    }
    for (const auto& [node, stake] : list_stakes(state)) {
        const auto found = locked.find(node);
        const Amount expected = found == locked.end() ? Amount{} : found->second;
        if (stake.bonded != expected)
            return broken("bonded stake of " + node.brief() + " is locked by nothing");
        if (found != locked.end()) locked.erase(found);
    }
    const bool rest =
        std::any_of(locked.begin(), locked.end(), [](const auto& l) { return !l.second.is_zero(); });
    return rest ? broken("a bond has no stake behind it") : Finding{};
}

/// Ended jobs owe nothing, running ones are listed, and the money of each adds up to its budget, but for
/// penalties that came in.
Finding check_jobs(const StateView& state) {
    const std::vector<Hash256> active = list_active_jobs(state);
    if (active.size() > kMaxActiveJobs) return broken("too many active jobs");
    std::size_t running = 0;
    for (const Job& job : list_jobs(state)) {
        const bool ended = job.phase == JobPhase::kEnded;
        if (ended != (consequence(job.end_reason) == Consequence::kJobEnded)) {
            return broken("job " + job.id.brief() + " has ended without a reason, or not ended with one");
        }
        if (ended && !job.escrow.is_zero()) return broken("job " + job.id.brief() + " kept escrow");
        if (!ended && !std::binary_search(active.begin(), active.end(), job.id)) {
            return broken("job " + job.id.brief() + " is not listed as active");
        }
        running += ended ? 0 : 1;
        const Amount accounted = sum(sum(job.escrow, job.spent), job.refunded);
        if (accounted < job.spec.market.budget) return broken("job " + job.id.brief() + " lost escrow");
        if (job.phase == JobPhase::kRounds && !read_round(state, job.id, job.round)) {
            return broken("job " + job.id.brief() + " has no running round");
        }
    }
    return running == active.size() ? Finding{} : broken("an ended job is listed as active");
}

}  // namespace

Result<void, Violation> check_invariants(const StateView& state) {
    for (const auto checker : std::array{check_schema, check_supply, check_keys, check_bonds, check_jobs}) {
        ASSAY_TRY(checker(state));
    }
    return {};
}

}  // namespace assay::contracts
