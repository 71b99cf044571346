// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/strategies/merges.hpp"

#include <vector>

namespace assay::program {

arithmetic::OuterCoefficients outer_coefficients(const RoundSettings& settings) {
    return {settings.outer_learning_rate, settings.outer_momentum};
}

namespace {
void merge_nesterov(const RoundSettings& settings, std::span<const Contribution> contributions,
                    std::span<float> parameters, std::span<float> outer_momentum) {
    std::vector<arithmetic::WeightedUpdate> updates;
    updates.reserve(contributions.size());
    for (const Contribution& one : contributions) updates.push_back({one.update, one.weight, one.clip});
    std::vector<float> mean(parameters.size());
    arithmetic::merge_updates(settings.sum_exponent, updates, mean);
    arithmetic::outer_nesterov(outer_coefficients(settings), mean, parameters, outer_momentum);
}
}  // namespace

constexpr OuterOptimizer kOuterNesterov{.word = "nesterov", .merge = merge_nesterov};

}  // namespace assay::program
