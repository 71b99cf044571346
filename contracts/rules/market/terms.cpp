// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/market/terms.hpp"

#include <algorithm>
#include <utility>

#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/job/history.hpp"
#include "contracts/rules/job/judges.hpp"
#include "contracts/rules/job/tables.hpp"
#include "contracts/rules/market/leases.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

struct LiveJob {
    JobTerms terms;
    JobProgress progress;
};

/// A job that is not over. The clearing reads that of each bid, so each record is read once.
Result<LiveJob, Reason> live_job(const StateView& state, const Hash256& job) {
    auto progress = read_job_progress(state, job);
    if (!progress) return failed(reason_of_absence(state, job));
    if (is_over(progress->phase)) return failed(Reason::kJobOver);
    return LiveJob{required(read_job_terms(state, job)), std::move(*progress)};
}

}  // namespace

std::optional<LotRange> market_terms_of(const JobTerms& job) {
    if (!job.leases()) return std::nullopt;
    return LotRange{job.spec.market.terms.gang, job.spec.market.terms.most};
}

bool takes_class(const JobTerms& job, const LotClass& kind) {
    const program::MarketTerms& terms = job.spec.market.terms;
    return kind.profile == job.spec.profile && kind.speed >= terms.least_speed &&
           kind.memory >= terms.least_memory && kind.network >= terms.least_network;
}

Checked check_wish(const JobTerms& job, const LotClass& kind, Amount price) {
    if (!takes_class(job, kind)) return failed(Reason::kBadClass);
    return price > job.spec.market.max_price ? failed(Reason::kPriceAboveCap) : Checked{};
}

Checked check_fits(const StateView& state, const Hash256& job, const LotClass& kind, Amount price) {
    ASSAY_ASSIGN(const LiveJob live, live_job(state, job));
    return check_wish(live.terms, kind, price);
}

Checked check_cover(const StateView& state, const Hash256& job, const LotClass& kind, Amount price) {
    ASSAY_ASSIGN(const LiveJob live, live_job(state, job));
    ASSAY_TRY(check_wish(live.terms, kind, price));
    const auto cost = round_cost(params_of(state, live.terms), live.terms.spec, price, live.terms.slot_work);
    return cost && live.progress.escrow >= *cost ? Checked{} : failed(Reason::kEscrowTooSmall);
}

Checked check_judged(const StateView& state, const Hash256& job) {
    const Params params = params_of(state, required(read_job_terms(state, job)));
    const bool judged = owners_of_judges(state, job).size() >= params.panel_owners_least;
    return judged ? Checked{} : failed(Reason::kTooFewJudges);
}

Checked check_spare(const StateView& state, const Hash256& job, Amount deposit) {
    const JobProgress progress = required(read_job_progress(state, job));
    std::optional<Amount> kept = deposit;
    const JobTerms terms = required(read_job_terms(state, job));
    const auto keep_round = [&](Amount price) {
        const auto cost = round_cost(params_of(state, terms), terms.spec, price, terms.slot_work);
        kept = kept && cost ? kept->plus(*cost) : std::nullopt;
    };
    if (progress.phase == JobPhase::kRounds) {
        // Fees of the running round are taken from the escrow when it is settled.
        for (int round = 0; round < 2; ++round) keep_round(terms.spec.market.max_price);
    } else if (const auto leases = list_leases(state, job); !leases.empty()) {
        // Once it has its gang its next round begins, at the dearest lot's price.
        Amount highest;
        for (const Lease& lease : leases) highest = std::max(highest, lease.price);
        keep_round(highest);
    }
    return kept && *kept <= progress.escrow ? Checked{} : failed(Reason::kEscrowTooSmall);
}

}  // namespace assay::contracts
