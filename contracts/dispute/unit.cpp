// SPDX-License-Identifier: Apache-2.0
#include "contracts/dispute/unit.hpp"

#include "contracts/base/check.hpp"
#include "contracts/program/step_program.hpp"

namespace assay::dispute {

std::string_view to_text(UnitKind kind) {
    switch (kind) {
        case UnitKind::kSegment: return "segment";
        case UnitKind::kUpdate: return "update";
        case UnitKind::kCarried: return "carried";
        case UnitKind::kMerge: return "merge";
        case UnitKind::kClip: break;
    }
    return "clip";
}

bool has_referee(const program::StrategyRow& row, UnitKind kind) {
    switch (kind) {
        case UnitKind::kUpdate: return has_referee(row, ArrayUnit::kUpdate);
        case UnitKind::kMerge:
            return has_referee(row, ArrayUnit::kMergedParameters) &&
                   has_referee(row, ArrayUnit::kMergedOuter);
        // Steps, what is handed on and clips are the same under every strategy.
        case UnitKind::kSegment:
        case UnitKind::kCarried:
        case UnitKind::kClip: break;
    }
    return true;
}

UnitFacts::UnitFacts(const program::JobSpec& spec, const UnitClaim& claim) : spec_(spec), claim_(claim) {}

const program::Program& UnitFacts::whole_program() const {
    if (program_ == nullptr) program_ = program::step_program(spec_);
    return *program_;
}

const StepFacts& UnitFacts::step(std::uint32_t step) {
    ASSAY_CHECK(step >= claim_.first_step && step <= claim_.last_step);
    if (at_ == step) return step_;
    const std::uint64_t age = claim_.age + (step - claim_.first_step);
    step_ = facts_of(spec_, whole_program(),
                     {.round = claim_.round, .slot = claim_.slot, .step = step, .age = age});
    if (step == claim_.last_step) step_.diverged_at = claim_.diverged_at;
    at_ = step;
    return step_;
}

ArrayFacts UnitFacts::array(ArrayUnit unit) const {
    ArrayFacts facts{.unit = unit,
                     .tensors = &whole_program().parameters,
                     .row = &program::strategy_of(spec_),
                     .settings = program::round_settings(spec_),
                     .slots = {}};
    if (unit == ArrayUnit::kUpdate) return facts;
    // Every slot of a merge has weight 1.
    for (const std::uint32_t clip : claim_.clips) facts.slots.push_back({{}, 1, clip});
    return facts;
}

ClipFacts UnitFacts::clip() const {
    return {.tensors = &whole_program().parameters,
            .sum_exponent = program::round_settings(spec_).sum_exponent,
            .bound = spec_.train.max_update_norm.value()};
}

program::StateRoots UnitFacts::known(std::uint32_t step) const {
    program::StateRoots roots;
    roots.step_count = step;
    roots.data_cursor = claim_.round * spec_.train.inner_steps + step;
    if (program::carries_state(spec_)) roots.moment_age = claim_.age + (step - claim_.first_step);
    return roots;
}

Hash256 UnitFacts::merged_state(const Hash256& parameters, const Hash256& outer) const {
    program::StateRoots roots;
    roots.parameters = parameters;
    roots.outer = outer;
    roots.step_count = (claim_.round + 1) * spec_.train.inner_steps;
    return program::state_root(roots);
}

}  // namespace assay::dispute
