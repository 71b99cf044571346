// SPDX-License-Identifier: Apache-2.0
#include "node/audit/market_history.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "contracts/program/round_plan.hpp"
#include "contracts/rules/job/speed_unit.hpp"
#include "contracts/rules/market/terms.hpp"

namespace assay::node {

namespace {

constexpr std::size_t kMostJobs = 24;
constexpr std::uint32_t kMostRounds = 8;  ///< of a job

/// The newest first.
std::vector<base::Hash256> newest_jobs(const contracts::StateView& state, program::Profile profile) {
    std::vector<std::pair<std::uint64_t, base::Hash256>> found;
    for (const base::Hash256& id : contracts::list_job_ids(state)) {
        const auto terms = contracts::read_job_terms(state, id);
        if (terms && terms->spec.profile == profile) found.emplace_back(terms->submitted_at, id);
    }
    std::ranges::sort(found, std::greater{});
    if (found.size() > kMostJobs) found.resize(kMostJobs);
    std::vector<base::Hash256> ids;
    for (const auto& [height, id] : found) ids.push_back(id);
    return ids;
}

/// Of a committed slot, the share of its segments that was drawn.
double drawn_share(const program::RoundPlan& plan, const contracts::SlotRound& slot) {
    const auto segments =
        std::ranges::count_if(slot.drawn_units, [&](std::uint32_t unit) { return !plan.is_finalise(unit); });
    return static_cast<double>(segments) / plan.segments();
}

void add_round(const contracts::StateView& state, const contracts::Job& job, std::uint32_t number,
               MarketHistory& history) {
    const auto round = contracts::read_round_progress(state, job.id, number);
    if (!round || round->phase != contracts::RoundPhase::kSettled) return;
    const program::RoundPlan plan(job.spec);
    std::uint64_t last_commit = round->started_at;
    double drawn = 0;
    std::uint64_t committed = 0;
    for (const contracts::SlotRound& slot : contracts::list_slots(state, job.id, number)) {
        if (!slot.committed) continue;
        last_commit = std::max(last_commit, slot.committed_at);
        drawn += drawn_share(plan, slot);
        history.newcomers += slot.newcomer ? 1 : 0;
        ++committed;
    }
    history.slots += committed;
    if (committed == 0 || round->settled_at < last_commit) return;
    const double trained = static_cast<double>(last_commit - round->started_at);
    const double recomputed = trained * drawn / static_cast<double>(committed);
    history.overheads.push_back(
        std::max(0.0, static_cast<double>(round->settled_at - last_commit) - recomputed));
}

/// What lots of the classes that do for the job went for.
std::vector<base::Amount> lot_prices(const contracts::StateView& state, const program::JobSpec& spec) {
    contracts::JobTerms terms;
    terms.spec = spec;
    std::vector<base::Amount> prices;
    for (const auto& [kind, book] : contracts::list_class_books(state)) {
        if (!contracts::takes_class(terms, kind)) continue;
        for (const auto& [epoch, cleared] : contracts::list_class_epochs(state, kind)) {
            for (const auto& price : {cleared.lowest, cleared.highest})
                if (price) prices.push_back(*price);
            if (cleared.instant > 0) prices.push_back(cleared.base_price);
        }
    }
    return prices;
}

}  // namespace

MarketHistory market_history(const contracts::StateView& state, const program::JobSpec& spec) {
    MarketHistory history;
    const bool leases = spec.market.terms.engaged();
    if (leases) history.prices = lot_prices(state, spec);
    std::set<base::PublicKey> known;
    for (const base::Hash256& id : newest_jobs(state, spec.profile)) {
        const auto job = contracts::read_job(state, id);
        if (!job) continue;
        if (!leases && job->auction.winners > 0) history.prices.push_back(job->auction.clearing_price);
        for (const contracts::RosterEntry& entry : job->roster)
            if (entry.speed() > 0 && known.insert(entry.node).second)
                history.speeds.push_back(static_cast<double>(entry.speed()) / double{contracts::kSpeedUnit});
        const std::uint32_t rounds = std::min(job->round, job->spec.rounds);
        for (std::uint32_t number = rounds - std::min(rounds, kMostRounds); number < rounds; ++number)
            add_round(state, *job, number, history);
    }
    return history;
}

}  // namespace assay::node
