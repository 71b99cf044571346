// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/strategies/diloco.hpp"

#include <algorithm>
#include <array>

#include "contracts/base/check.hpp"
#include "contracts/program/strategies/codecs.hpp"
#include "contracts/program/strategies/merges.hpp"

namespace assay::program {

namespace {

constexpr std::array kBaseArrays = {StateArray::kParameters, StateArray::kOuterMomentum};
constexpr std::array kLaneArrays = {StateArray::kParameters, StateArray::kFirstMoment,
                                    StateArray::kSecondMoment};
constexpr std::array kFinaliseArrays = {StateArray::kParameters};
constexpr std::array kCarriedArrays = {StateArray::kFirstMoment, StateArray::kSecondMoment};

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
                                 .codec = &kInt64Codec,
                                 .base_arrays = kBaseArrays,
                                 .lane_arrays = kLaneArrays,
                                 .carried_arrays = kCarriedArrays,
                                 .finalise_arrays = kFinaliseArrays,
                                 .outer = &kOuterNesterov,
                                 .adopt = adopt};

constexpr StrategyRow kDilocoHalfRow{.number = Strategy::kDilocoHalf,
                                     .engine = Engine::kLocal,
                                     .word = "diloco",
                                     .engine_word = "local",
                                     .codec = &kHalfCodec,
                                     .base_arrays = kBaseArrays,
                                     .lane_arrays = kLaneArrays,
                                     .carried_arrays = kCarriedArrays,
                                     .finalise_arrays = kFinaliseArrays,
                                     .outer = &kOuterNesterov,
                                     .adopt = adopt};

}  // namespace assay::program
