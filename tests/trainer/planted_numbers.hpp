// SPDX-License-Identifier: Apache-2.0
// Numbers in a state that make a step diverge, each in another operator.
#pragma once

#include <limits>
#include <vector>

#include "contracts/program/program.hpp"
#include "contracts/program/reference_step.hpp"
#include "tests/trainer/small_job.hpp"

namespace assay::trainer::test {

struct PlantedNumber {
    std::uint64_t element;
    float value;
    int array;  // 0 parameters, 1 first moment, 2 second moment
};

// Numbers that overflow in different places: at once, in a product, in a square, or in AdamW only.
inline std::vector<PlantedNumber> faults_of(const program::Program& program) {
    constexpr float kValues[] = {3e38F, -1e30F, 2e19F};
    std::vector<PlantedNumber> faults;
    std::uint64_t place = 0;
    for (const program::TensorInfo& info : program.parameters) {
        for (const float value : kValues) faults.push_back({info.offset + place++ % info.size(), value, 0});
    }
    for (const std::uint64_t element : {0U, 70U, 500U}) {
        faults.push_back({element, 3e38F, 1});
        faults.push_back({element, -1.0F, 2});
        faults.push_back({element, std::numeric_limits<float>::max(), 2});
    }
    return faults;
}

// The smallest models in which every operator still has something to do.
inline program::JobSpec smaller(program::JobSpec spec) {
    spec.model.width = 4 * spec.model.heads;
    spec.model.context = 7;
    spec.model.vocabulary = 19;
    if (spec.model.family == program::Family::kLlama) spec.model.hidden = 10;
    return spec;
}

inline std::vector<float>& array_of(program::SlotArrays& state, int array) {
    return array == 0 ? state.parameters : array == 1 ? state.first_moment : state.second_moment;
}

}  // namespace assay::trainer::test
