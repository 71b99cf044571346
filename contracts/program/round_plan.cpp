// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/round_plan.hpp"

#include <algorithm>

#include "contracts/base/check.hpp"
#include "contracts/base/wide.hpp"
#include "contracts/program/blob_sizes.hpp"
#include "contracts/program/round_law.hpp"
#include "contracts/program/tensors.hpp"

namespace assay::program {

RoundPlan::RoundPlan(const JobSpec& spec)
    : inner_steps_(spec.train.inner_steps),
      segment_steps_(spec.security.segment_steps),
      segments_((inner_steps_ + segment_steps_ - 1) / segment_steps_),
      carries_(spec.inner_state == InnerState::kCarried),
      row_(find_strategy(spec.engine, spec.strategy)) {}

UnitStart RoundPlan::start(std::uint32_t unit) const {
    ASSAY_CHECK(unit < units());
    ASSAY_CHECK(row_ != nullptr);
    UnitStart start;
    start.base = unit == 0 || is_finalise(unit);
    start.carried = unit == 0 && carries_;
    if (start.carried) start.arrays = row_->carried_arrays;
    if (unit == 0) return start;
    start.boundary = unit;
    // What a slot hands on is compared whole with its name.
    start.arrays = is_finalise(unit) && !carries_ ? row_->finalise_arrays : row_->lane_arrays;
    return start;
}

StepRange RoundPlan::steps(std::uint32_t unit) const {
    if (unit >= segments_) return {inner_steps_, inner_steps_};
    return {step_at(unit), step_at(unit + 1)};
}

std::vector<UnitRun> runs_of(std::span<const std::uint32_t> units) {
    std::vector<UnitRun> runs;
    for (const std::uint32_t unit : units) {
        if (!runs.empty() && runs.back().last + 1 == unit) {
            runs.back().last = unit;
        } else {
            runs.push_back({unit, unit});
        }
    }
    return runs;
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
    const StrategyRow& row = strategy_of(spec);
    const std::uint64_t parameters = parameter_count(spec.model);
    FileSizes sizes;
    // A magic of 8 bytes and the step count before the arrays.
    sizes.base_state = 16 + row.base_arrays.size() * array_bytes(parameters);
    sizes.slot_head = state_head_bytes(row.lane_arrays.size(), carries_state(spec));
    sizes.array = array_bytes(parameters);
    sizes.slot_state = sizes.state_of(row.lane_arrays.size());
    sizes.update = row.most_update_bytes(parameters);
    return sizes;
}

}  // namespace assay::program
