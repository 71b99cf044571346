// SPDX-License-Identifier: Apache-2.0
// Gives tests a slot's state as the files that travel, its head first, and back.
#pragma once

#include <vector>

#include "contracts/base/check.hpp"
#include "contracts/program/round_law.hpp"
#include "contracts/program/state_head.hpp"
#include "contracts/program/state_root.hpp"
#include "contracts/program/tensors.hpp"
#include "trainer/run/state_bytes.hpp"

namespace assay::tests {

inline program::StateRoots roots_of_state(const program::JobSpec& spec, const trainer::SlotState& state) {
    const auto tensors = program::parameter_tensors(spec.model);
    program::StateRoots roots;
    roots.parameters = program::array_root(tensors, state.parameters);
    roots.first_moment = program::array_root(tensors, state.first_moment);
    roots.second_moment = program::array_root(tensors, state.second_moment);
    roots.step_count = state.step;
    roots.data_cursor = state.cursor;
    roots.moment_age = state.age;
    return roots;
}

inline program::StateHead head_of_state(const program::JobSpec& spec, const trainer::SlotState& state) {
    return trainer::slot_head(state, roots_of_state(spec, state), program::strategy_of(spec).lane_arrays);
}

/// The head, then an array for each name of the strategy's row.
inline std::vector<base::Bytes> files_of_state(const program::JobSpec& spec,
                                               const trainer::SlotState& state) {
    std::vector<base::Bytes> files{program::encode_state_head(head_of_state(spec, state))};
    for (const program::StateArray array : program::strategy_of(spec).lane_arrays) {
        files.push_back(base::to_bytes(trainer::array_file(trainer::array_of(state, array))));
    }
    return files;
}

/// REQUIRES files that files_of_state could have made.
inline trainer::SlotState state_of_files(const program::JobSpec& spec,
                                         const std::vector<base::Bytes>& files) {
    const auto arrays = program::strategy_of(spec).lane_arrays;
    ASSAY_CHECK(files.size() == arrays.size() + 1);
    trainer::SlotState state = trainer::counters_of(program::decode_state_head(files[0]).value());
    const std::uint64_t parameters = program::parameter_count(spec.model);
    for (std::size_t i = 0; i < arrays.size(); ++i) {
        trainer::array_of(state, arrays[i]) = trainer::decode_array(files[i + 1], parameters).value();
    }
    return state;
}

}  // namespace assay::tests
