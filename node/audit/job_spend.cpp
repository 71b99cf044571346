// SPDX-License-Identifier: Apache-2.0
#include "node/audit/job_spend.hpp"

#include <algorithm>
#include <cmath>

#include "contracts/program/round_plan.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/job/panel.hpp"
#include "node/audit/job_plan.hpp"

namespace assay::node {

namespace {

double share_of(std::uint64_t ppm) {
    return static_cast<double>(ppm) / static_cast<double>(contracts::kPartsPerMillion);
}

/// Work units that one verifier of a slot is paid for, on average.
struct AuditedWork {
    double newcomer = 0;
    double proven = 0;
};

AuditedWork audited_work(const program::JobSpec& spec, std::uint64_t slot_work) {
    const program::RoundPlan plan(spec);
    const DrawRates rates = proven_rates(spec);
    AuditedWork work;
    for (std::uint32_t unit = 0; unit < plan.units(); ++unit) {
        const auto units = static_cast<double>(contracts::unit_work(spec, slot_work, unit));
        work.newcomer += units;
        work.proven += units * (plan.is_finalise(unit) ? rates.finalise : rates.segment);
    }
    return work;
}

/// Panels of one to three, each as likely, have a variance of 2/3.
double panels(double slot_rounds, double deviations) {
    return static_cast<double>(contracts::panel_mean()) + deviations * std::sqrt(2.0 / 3.0 / slot_rounds);
}

}  // namespace

Interval80 unit_price(const program::JobSpec& spec, const SpendTerms& terms) {
    const auto cap = static_cast<double>(spec.market.max_price.units());
    if (terms.prices.empty()) return {cap, cap, cap};
    std::vector<double> prices;
    for (const base::Amount price : terms.prices)
        prices.push_back(std::min(cap, static_cast<double>(price.units())));
    return interval_of(std::move(prices));
}

Interval80 expected_spend(const program::JobSpec& spec, const contracts::Params& params,
                          const SpendTerms& terms) {
    const Interval80 price = unit_price(spec, terms);
    const double slot_rounds = static_cast<double>(spec.slots) * spec.rounds;
    const auto slot_work = static_cast<double>(terms.slot_work);
    const AuditedWork audited = audited_work(spec, terms.slot_work);
    const double fees = static_cast<double>(params.miner_fee.units()) * spec.slots;
    const auto spend = [&](double unit, double deviations, double prepaid) {
        const double each =
            unit * share_of(params.audit_fee_ppm) * slot_rounds * panels(slot_rounds, deviations);
        const double newcomers = std::max(0.0, each * audited.newcomer * terms.newcomer_share - prepaid);
        const double proven = each * audited.proven * (1 - terms.newcomer_share);
        const double merges = unit * slot_work * share_of(params.merge_fee_ppm) * spec.rounds;
        return unit * slot_work * slot_rounds + merges + newcomers + proven;
    };
    constexpr double kTenth = 1.2816;  // standard deviations from the median to the 90 % quantile
    const double with_fees = spend(price.median, 0, fees * terms.newcomer_share);
    const double without = spend(price.median, 0, 0);
    return {spend(price.low, -kTenth, fees * terms.newcomer_share), (with_fees + without) / 2,
            spend(price.high, kTenth, 0)};
}

}  // namespace assay::node
