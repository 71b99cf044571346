// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/round_law.hpp"

#include "contracts/base/check.hpp"

namespace assay::program {

const StrategyRow& strategy_of(const JobSpec& spec) {
    const StrategyRow* const row = find_strategy(spec.engine, spec.strategy);
    ASSAY_CHECK(row != nullptr);
    return *row;
}

RoundSettings round_settings(const JobSpec& spec) {
    return {.sum_exponent = spec.train.sum_exponent,
            .outer_learning_rate = spec.train.outer_learning_rate.value(),
            .outer_momentum = spec.train.outer_momentum.value()};
}

std::uint32_t update_clip(const JobSpec& spec, std::span<const std::int64_t> update) {
    if (!spec.has_norm_bound()) return arithmetic::kWholeClip;
    return arithmetic::update_clip(spec.train.sum_exponent, spec.train.max_update_norm.value(), update);
}

bool is_clip(std::uint32_t number) { return number <= arithmetic::kWholeClip; }

bool is_share(std::uint64_t weight, std::uint32_t clip) {
    constexpr std::uint64_t kMostWeight = std::uint64_t{1} << 32;  // WeightedUpdate
    return weight >= 1 && weight <= kMostWeight && is_clip(clip);
}

bool carries_state(const JobSpec& spec) {
    return spec.inner_state == InnerState::kCarried && !strategy_of(spec).carried_arrays.empty();
}

}  // namespace assay::program
