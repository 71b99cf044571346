// SPDX-License-Identifier: Apache-2.0
// Gives the job runner the answers to questions about whole arrays: updates, what a merge gave, clips.
#pragma once

#include <span>
#include <vector>

#include "contracts/base/error.hpp"
#include "contracts/dispute/question.hpp"
#include "contracts/program/state_root.hpp"
#include "trainer/step/device.hpp"

namespace assay::trainer {

/// Arrays of a job. What the subject does not read may be empty.
struct ArraysAtHand {
    const std::vector<program::TensorInfo>& tensors;
    const RoundLaw& law;
    Device& device;
    float bound = 0;  ///< of the norm: of a clip
    std::span<const float> base_parameters;
    std::span<const float> base_outer;
    std::span<const float> end_parameters;
    program::StateRoots base;                   ///< roots of the round's base
    program::StateRoots end;                    ///< roots of the slot's last boundary
    std::vector<program::Contribution> merged;  ///< of a clip, its update
    /// What was made of them: the update, or the array that the merge gave.
    std::span<const std::int64_t> update;
    std::span<const float> array;
};

/// kUsage when there is no such row or place, kRejected when a divergence is asked for that is none.
base::Outcome<dispute::DisputeAnswer> answer_array(const ArraysAtHand& arrays,
                                                   const dispute::ArrayQuestion& question);

}  // namespace assay::trainer
