// SPDX-License-Identifier: Apache-2.0
#include "ledger/audit/payout_amounts.hpp"

#include <algorithm>
#include <limits>

#include "contracts/base/wide.hpp"
#include "contracts/program/round_plan.hpp"

namespace assay::ledger {

using base::Uint128;

namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

std::uint64_t saturated(Uint128 value) { return value > kMost ? kMost : static_cast<std::uint64_t>(value); }

std::uint64_t bond_at(const contracts::Params& params, const contracts::Job& job, contracts::Amount price,
                      bool always_audited) {
    const Uint128 pay = Uint128{price.units()} * job.slot_work;
    // The gain bound counts up to so many times the pay; where that is no amount, any bound is below it.
    const Uint128 highest = pay > kMost ? Uint128{kMost} : pay * params.gain_bound_max_ppm / kMillion;
    const Uint128 gain = std::min(Uint128{job.spec.security.gain_bound.units()}, highest);
    // Saturated before the division by q, so that its product stays below 2^128.
    const std::uint64_t stake = saturated(pay + gain);
    const std::uint64_t threshold =
        std::min(job.spec.security.audit_threshold, job.spec.security.finalise_threshold);
    if (always_audited || threshold == 0) return stake;
    return saturated((Uint128{stake} * kMost + threshold - 1) / threshold);
}

}  // namespace

std::uint64_t share(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    return saturated(Uint128{a} * b / c);
}

std::uint64_t bond_of(const contracts::Params& params, const contracts::Job& job,
                      const contracts::SlotRound& slot) {
    return bond_at(params, job, job.auction.clearing_price, slot.newcomer);
}

std::uint64_t penalty_of(const contracts::Params& params, std::uint64_t bond) {
    const Uint128 part = (Uint128{bond} * params.verifier_penalty_ppm + kMillion - 1) / kMillion;
    return std::max(saturated(part), params.verifier_penalty.units());
}

std::uint64_t enlistment_of(const contracts::Params& params, const contracts::Job& job) {
    const std::uint64_t penalty = penalty_of(params, bond_at(params, job, job.spec.market.max_price, false));
    return std::max(penalty, params.verifier_bond.units());
}

std::uint64_t link_bond_of(const contracts::Params& params, const contracts::Job& job) {
    std::uint64_t work = 0;
    for (std::uint32_t unit = 0; unit < program::RoundPlan(job.spec).units(); ++unit)
        work += work_of(job, unit);
    const std::uint64_t whole = share(job.spec.market.max_price.units(), work, 1);
    const std::uint64_t audits =
        saturated(Uint128{share(whole, params.audit_fee_ppm, kMillion)} * 3 * job.spec.slots);
    return std::max(audits, params.link_penalty.units());
}

std::uint64_t work_of(const contracts::Job& job, std::uint32_t unit) {
    const program::StepRange range = program::RoundPlan(job.spec).steps(unit);
    if (range.first == range.last) return 1;
    const std::uint64_t steps = job.spec.train.inner_steps;
    return saturated((Uint128{job.slot_work} * (range.last - range.first) + steps - 1) / steps);
}

}  // namespace assay::ledger
