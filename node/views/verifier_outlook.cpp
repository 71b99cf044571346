// SPDX-License-Identifier: Apache-2.0
#include "node/views/verifier_outlook.hpp"

#include <algorithm>

#include "contracts/rules/job/bidding.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/state/limits.hpp"
#include "contracts/rules/state/supply.hpp"

namespace assay::node {

namespace {

/// As the rules decide it: while asks are taken, or before the first round of a job that leases.
bool takes_enlistments(const contracts::Job& job) {
    const bool asking =
        job.phase == contracts::JobPhase::kAskCommit || job.phase == contracts::JobPhase::kAskReveal;
    return asking || (job.phase == contracts::JobPhase::kWaiting && job.round == 0);
}

/// What the ledger would refuse an enlistment for.
std::vector<Obstacle> obstacles_to(const contracts::StateView& state, const contracts::Job& job,
                                   const OpenEnlistment& open, const base::PublicKey& owner,
                                   base::Amount free) {
    std::vector<Obstacle> found;
    if (contracts::is_of_buyer(state, job, owner))
        found.push_back(
            plain("own_job", "the job is of the verifier's own owner, and nobody judges a job of its own"));
    if (job.verifiers.size() >= contracts::kMaxVerifiers)
        found.push_back(lacking("seats_taken",
                                "the job takes " + std::to_string(contracts::kMaxVerifiers) +
                                    " verifiers, and as many have enlisted",
                                contracts::kMaxVerifiers, job.verifiers.size(), "verifiers"));
    const base::Amount needs = contracts::saturating_sum(open.lock_least, open.link_bond);
    if (free < needs)
        found.push_back(lacking("stake_too_small",
                                "an enlistment locks " + base::to_text(open.lock_least) + " at least and " +
                                    base::to_text(open.link_bond) +
                                    " behind its links, and the free stake is " + base::to_text(free),
                                needs.units(), free.units(), "base units"));
    return found;
}

OpenEnlistment open_enlistment(const contracts::StateView& state, const contracts::Job& job) {
    const contracts::Params params = contracts::params_of(state, job);
    // The ledger takes no job of which one of these is above the largest amount.
    return {
        .job = job.id,
        .name = job.spec.name,
        .phase = job.phase,
        .lock_least = contracts::enlistment_minimum(params, job.spec, job.slot_work).value_or(base::Amount()),
        .link_bond = contracts::link_bond(params, job.spec, job.slot_work).value_or(base::Amount()),
        .until = contracts::last_of_enlistment(params, job),
        .obstacles = {}};
}

}  // namespace

VerifierOutlook verifier_outlook(const contracts::StateView& state, const base::PublicKey& node) {
    VerifierOutlook look{.node = node, .enlisted = {}, .open = {}, .obstacles = {}};
    const auto key = contracts::read_node_key(state, node);
    const base::PublicKey owner = contracts::read_verifier(state, node).value().owner;
    const base::Amount free = contracts::read_stake(state, node).free;
    for (const base::Hash256& id : contracts::list_active_jobs(state)) {
        const auto job = contracts::read_job(state, id);
        if (!job) continue;
        if (contracts::read_enlisted(state, id, node)) {
            look.enlisted.push_back(id);
            continue;
        }
        if (!takes_enlistments(*job)) continue;
        look.open.push_back(open_enlistment(state, *job));
        OpenEnlistment& open = look.open.back();
        open.obstacles = obstacles_to(state, *job, open, owner, free);
        const auto member = contracts::read_beacon_member(state, id, node);
        if (member && member->role == contracts::BeaconRole::kValidator)
            open.obstacles.push_back(
                plain("validator", "the node opens links of the job's beacon as a validator already"));
    }
    if (key && key->revoked)
        look.obstacles.push_back(
            plain("key_revoked", "the node key is revoked: it is drawn for nothing and enlists for nothing"));
    if (look.open.empty())
        look.obstacles.push_back(plain(
            "no_open_job",
            look.enlisted.empty()
                ? "no job takes enlistments now: a verifier enlists while a job takes asks, or before the "
                  "first round of a job that leases its machines"
                : "no other job takes enlistments now"));
    return look;
}

}  // namespace assay::node
