// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/round/leased.hpp"

#include <algorithm>

#include "contracts/rules/job/bidding.hpp"
#include "contracts/rules/job/judges.hpp"
#include "contracts/rules/job/roster.hpp"
#include "contracts/rules/market/kept_window.hpp"
#include "contracts/rules/market/tables.hpp"
#include "contracts/rules/market/working_lots.hpp"
#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/round/tables.hpp"
#include "contracts/rules/state/limits.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

/// Whether the lease begins after the member was dropped.
bool is_later(const StateView& state, const Job& job, const RosterEntry& entry, const Lease& lease) {
    return lease.from > required(read_dropped_at(state, job.id, entry.node));
}

void take_back(Work& work, const Job& job, RosterEntry& entry) {
    entry.dropped = false;
    entry.dropped_for = Reason::kNone;
    entry.dropped_round = 0;
    entry.missed = kAbsenceWeight;
    work.tell({.kind = EventKind::kEnlisted, .job = job.id, .round = job.round, .node = entry.node});
}

RosterEntry newcomer(const Job& job, const Lease& lease) {
    RosterEntry entry;
    entry.node = lease.node;
    entry.owner = lease.owner;
    entry.place = static_cast<std::uint32_t>(job.roster.size());
    return entry;
}

/// The last height at which the job may wait (see wait_for_gang).
std::uint64_t last_of_wait(const StateView& state, const Params& params, const Job& job) {
    const std::uint64_t deadline = job.current_deadline() - 1;
    if (job.round == 0)
        return std::min(deadline, last_of_first_wait(params, job, kept_window(read_market_params(state))));
    const std::uint64_t since = required(read_round_progress(state, job.id, job.round - 1)).settled_at;
    return std::min(deadline, std::max(job.deadline - 1, later(since, params.claim_window)));
}

}  // namespace

void follow_leases(Work& work, Job& job, const std::vector<Lease>& leases) {
    const Params params = params_of(work.state, job);
    const std::vector<PublicKey> judges = owners_of_judges(work.state, job);
    for (const Lease& lease : leases) {
        auto member = std::find_if(job.roster.begin(), job.roster.end(),
                                   [&](const RosterEntry& entry) { return entry.node == lease.node; });
        if (member == job.roster.end()) {
            // Names that can do nothing would fill the roster for good.
            if (job.roster.size() >= kMaxAsks || !can_work(work.state, params, job, lease, judges)) continue;
            member = job.roster.insert(job.roster.end(), newcomer(job, lease));
            work.tell({.kind = EventKind::kEnlisted, .job = job.id, .round = job.round, .node = lease.node});
        }
        member->ask = lease.price;
        if (member->dropped && is_later(work.state, job, *member, lease)) take_back(work, job, *member);
    }
}

void wait_for_gang(Work& work, Job& job) {
    const std::uint64_t now = work.block.height;
    ASSAY_CHECK(now < job.current_deadline());
    const Params params = params_of(work.state, job);
    std::uint64_t last = last_of_wait(work.state, params, job);
    if (now > last) {
        const bool judged = owners_of_judges(work.state, job).size() >= params.panel_owners_least;
        return end_job(work, job, judged ? Reason::kNoMiners : Reason::kTooFewVerifiers);
    }
    if (job.round == 0 && now <= last_of_enlistment(params, job))
        last = std::min(last, last_of_enlistment(params, job));
    const auto leases = leases_at(work.state, job.id, now);
    const bool bonds_wait = std::any_of(leases.begin(), leases.end(), [&](const Lease& lease) {
        return waits_for_window(work.state, job, lease.node);
    });
    if (bonds_wait) last = std::min(last, later(now, params.claim_window));
    if (job.phase != JobPhase::kWaiting) return set_phase(work, job, JobPhase::kWaiting, last);
    job.phase_deadline = last;
    schedule(work.state, job.id, job, last);
}

bool may_go_on(const Work& work, const Job& job) {
    const auto leases = leases_at(work.state, job.id, work.block.height);
    if (leases.size() < job.spec.market.terms.gang) return false;
    if (job.round > 0) return true;
    const Params params = params_of(work.state, job);
    return work.block.height > last_of_enlistment(params, job) &&
           owners_of_judges(work.state, job).size() >= params.panel_owners_least;
}

bool end_wait(Work& work, Job& job) {
    const bool ends = job.found_void || work.block.height >= job.current_deadline();
    if (ends || may_go_on(work, job)) {
        if (job.round == 0) job.last_beacon = beacon_zero(job);
        start_round(work, job);
    } else {
        wait_for_gang(work, job);
    }
    return job.phase != JobPhase::kWaiting;
}

void begin_if_leased(Work& work, const Hash256& id) {
    const auto progress = read_job_progress(work.state, id);
    if (progress && progress->phase == JobPhase::kWaiting) advance_job(work, id);
}

}  // namespace assay::contracts
