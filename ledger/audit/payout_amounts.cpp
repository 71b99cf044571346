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

// rate · (1 − (β + β² + β³) / 3): of one, two or three verifiers not all collude.
std::uint64_t honest_part(const contracts::Params& params, std::uint64_t rate) {
    constexpr std::uint64_t kAll = kMillion * kMillion * kMillion;
    const std::uint64_t one = params.collusion_ppm;
    const std::uint64_t pairs = one * one;
    const std::uint64_t colluding = (one * kMillion * kMillion + pairs * kMillion + pairs * one + 2) / 3;
    return saturated(Uint128{rate} * (kAll - colluding) / kAll);
}

std::uint64_t divided_up(std::uint64_t value, std::uint64_t by, std::uint64_t divisor) {
    return saturated((Uint128{value} * by + divisor - 1) / divisor);
}

// The gain bound counts up to so many times the pay; where that is no amount, any bound is below it.
Uint128 gain_at(const contracts::Params& params, const contracts::Job& job, Uint128 pay) {
    const Uint128 highest = pay > kMost ? Uint128{kMost} : pay * params.gain_bound_max_ppm / kMillion;
    return std::min(Uint128{job.spec.security.gain_bound.units()}, highest);
}

std::uint64_t bond_at(const contracts::Params& params, const contracts::Job& job, contracts::Amount price,
                      bool always_audited) {
    const Uint128 pay = Uint128{price.units()} * job.slot_work;
    const Uint128 gain = gain_at(params, job, pay);
    const std::uint64_t q =
        always_audited ? kMost
                       : std::min(job.spec.security.audit_threshold, job.spec.security.finalise_threshold);
    // (1 − q)^n, each product rounded up; n: the segments and `finalise`.
    std::uint64_t undrawn = kMost;
    for (std::uint32_t left = program::RoundPlan(job.spec).units(); left > 0; --left) {
        undrawn = saturated((Uint128{undrawn} * (kMost - q) + kMost - 1) / kMost);
    }
    const std::uint64_t burned = kMillion - params.forfeit_buyer_ppm;
    const std::uint64_t any = honest_part(params, kMost - undrawn);
    const std::uint64_t one = honest_part(params, q);
    if (burned == 0 || any == 0 || one == 0) return kMost;
    const std::uint64_t work = divided_up(saturated(pay), kMost, any);
    const std::uint64_t outside = divided_up(saturated(gain), kMost, one);
    return divided_up(saturated(Uint128{work} + outside), kMillion, burned);
}

}  // namespace

std::uint64_t share(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    return saturated(Uint128{a} * b / c);
}

std::uint64_t bond_of(const contracts::Params& params, const contracts::Job& job, contracts::Amount price,
                      const contracts::SlotRound& slot) {
    return bond_at(params, job, price, slot.newcomer);
}

std::uint64_t part_up(std::uint64_t amount, std::uint64_t ppm) { return divided_up(amount, ppm, kMillion); }

std::uint64_t audit_fee_of(const contracts::Params& params, contracts::Amount price, std::uint64_t work) {
    return share(share(price.units(), work, 1), params.audit_fee_ppm, kMillion);
}

std::uint64_t penalty_of(const contracts::Params& params, std::uint64_t bond) {
    const Uint128 part = (Uint128{bond} * params.verifier_penalty_ppm + kMillion - 1) / kMillion;
    return std::max(saturated(part), params.verifier_penalty.units());
}

std::uint64_t enlistment_of(const contracts::Params& params, const contracts::Job& job) {
    const contracts::Amount cap = job.spec.market.max_price;
    const std::uint64_t word = penalty_of(params, bond_at(params, job, cap, false));
    return std::max({word, accusation_of(params, job, cap), params.verifier_bond.units()});
}

std::uint64_t accusation_of(const contracts::Params& params, const contracts::Job& job,
                            contracts::Amount price) {
    // The slot's pay, and as much again for the replay.
    const std::uint64_t both = saturated(Uint128{price.units()} * job.slot_work * 2);
    return std::max(both, params.verifier_penalty.units());
}

std::uint64_t link_bond_of(const contracts::Params& params, const contracts::Job& job) {
    std::uint64_t work = 0;
    for (std::uint32_t unit = 0; unit < program::RoundPlan(job.spec).units(); ++unit)
        work += work_of(job, unit);
    const std::uint64_t whole = share(job.spec.market.max_price.units(), work, 1);
    const std::uint64_t audits =
        saturated(Uint128{share(whole, params.audit_fee_ppm, kMillion)} * 3 * job.spec.slots);
    // What another draw is worth: bond, pay and gain of each slot, where three of three collude.
    const contracts::Amount cap = job.spec.market.max_price;
    const Uint128 pay = Uint128{cap.units()} * job.slot_work;
    const std::uint64_t slot = saturated(pay + bond_at(params, job, cap, false) + gain_at(params, job, pay));
    const std::uint64_t three =
        std::uint64_t{params.collusion_ppm} * params.collusion_ppm * params.collusion_ppm;
    const std::uint64_t again =
        divided_up(saturated(Uint128{slot} * job.spec.slots), three, kMillion * kMillion * kMillion);
    return std::max(saturated(Uint128{audits} + again), params.link_penalty.units());
}

std::uint64_t work_of(const contracts::Job& job, std::uint32_t unit) {
    const program::StepRange range = program::RoundPlan(job.spec).steps(unit);
    if (range.first == range.last) return 1;
    const std::uint64_t steps = job.spec.train.inner_steps;
    return saturated((Uint128{job.slot_work} * (range.last - range.first) + steps - 1) / steps);
}

}  // namespace assay::ledger
