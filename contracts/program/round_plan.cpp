// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/round_plan.hpp"

#include <algorithm>

#include "contracts/base/check.hpp"
#include "contracts/base/wide.hpp"
#include "contracts/program/round_law.hpp"
#include "contracts/program/tensors.hpp"

namespace assay::program {

RoundPlan::RoundPlan(const JobSpec& spec)
    : inner_steps_(spec.train.inner_steps),
      segment_steps_(spec.security.segment_steps),
      segments_((inner_steps_ + segment_steps_ - 1) / segment_steps_),
      carries_(spec.inner_state == InnerState::kCarried) {}

UnitStart RoundPlan::start(std::uint32_t unit) const {
    ASSAY_CHECK(unit < units());
    UnitStart start;
    start.base = unit == 0 || is_finalise(unit);
    start.carried = unit == 0 && carries_;
    if (unit != 0) start.boundary = unit;
    return start;
}

StepRange RoundPlan::steps(std::uint32_t unit) const {
    if (unit >= segments_) return {inner_steps_, inner_steps_};
    return {step_at(unit), step_at(unit + 1)};
}

std::uint32_t RoundPlan::step_at(std::uint32_t boundary) const {
    ASSAY_CHECK(boundary <= last_boundary());
    return boundary == segments_ ? inner_steps_ : boundary * segment_steps_;
}

std::uint32_t RoundPlan::unit_of(std::uint32_t step) const {
    return step >= inner_steps_ ? finalise() : step / segment_steps_;
}

std::uint64_t RoundPlan::work(std::uint32_t unit, std::uint64_t slot_work) const {
    if (unit >= segments_) return 1;
    const StepRange range = steps(unit);
    const std::uint64_t all = inner_steps_;
    return static_cast<std::uint64_t>((base::Uint128{slot_work} * (range.last - range.first) + all - 1) /
                                      all);
}

FileSizes file_sizes(const JobSpec& spec) {
    // A magic of 8 bytes and the counters before the arrays of binary32.
    constexpr std::uint64_t kCount = 8;
    const StrategyRow& row = strategy_of(spec);
    const std::uint64_t parameters = parameter_count(spec.model);
    const std::uint64_t counters = carries_state(spec) ? 3 : 2;
    return {.base_state = 8 + kCount + 4 * row.base_arrays.size() * parameters,
            .slot_state = 8 + kCount * counters + 4 * row.lane_arrays.size() * parameters,
            .update = row.update_file_bytes(parameters)};
}

}  // namespace assay::program
