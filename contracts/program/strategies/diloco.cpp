// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/strategies/diloco.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "contracts/arithmetic/update.hpp"
#include "contracts/base/check.hpp"
#include "contracts/program/strategies/codecs.hpp"

namespace assay::program {

namespace {

constexpr std::array kBaseArrays = {StateArray::kParameters, StateArray::kOuterMomentum};
constexpr std::array kLaneArrays = {StateArray::kParameters, StateArray::kFirstMoment,
                                    StateArray::kSecondMoment};
constexpr std::array kCarriedArrays = {StateArray::kFirstMoment, StateArray::kSecondMoment};

void merge(const RoundSettings& settings, std::span<const Contribution> contributions,
           std::span<float> parameters, std::span<float> outer_momentum) {
    std::vector<arithmetic::WeightedUpdate> updates;
    updates.reserve(contributions.size());
    for (const Contribution& one : contributions) updates.push_back({one.update, one.weight});
    std::vector<float> mean(parameters.size());
    arithmetic::merge_updates(settings.sum_exponent, updates, mean);
    arithmetic::outer_nesterov({settings.outer_learning_rate, settings.outer_momentum}, mean, parameters,
                               outer_momentum);
}

void take_moment(std::span<const float> carried, std::span<float> moment) {
    if (carried.empty()) {
        std::fill(moment.begin(), moment.end(), 0.0F);
    } else {
        ASSAY_CHECK(carried.size() == moment.size());
        std::copy(carried.begin(), carried.end(), moment.begin());
    }
}

void adopt(std::span<const float> base, const CarriedArrays& carried, const LaneArrays& lane) {
    ASSAY_CHECK(base.size() == lane.parameters.size());
    std::copy(base.begin(), base.end(), lane.parameters.begin());
    take_moment(carried.first_moment, lane.first_moment);
    take_moment(carried.second_moment, lane.second_moment);
}

}  // namespace

constexpr StrategyRow kDilocoRow{.number = Strategy::kDiloco,
                                 .engine = Engine::kLocal,
                                 .word = "diloco",
                                 .engine_word = "local",
                                 .ticks = 1,
                                 .codec = &kInt64Codec,
                                 .base_arrays = kBaseArrays,
                                 .lane_arrays = kLaneArrays,
                                 .carried_arrays = kCarriedArrays,
                                 .merge = merge,
                                 .adopt = adopt};

constexpr StrategyRow kDilocoHalfRow{.number = Strategy::kDilocoHalf,
                                     .engine = Engine::kLocal,
                                     .word = "diloco",
                                     .engine_word = "local",
                                     .ticks = 1,
                                     .codec = &kHalfCodec,
                                     .base_arrays = kBaseArrays,
                                     .lane_arrays = kLaneArrays,
                                     .carried_arrays = kCarriedArrays,
                                     .merge = merge,
                                     .adopt = adopt};

}  // namespace assay::program
