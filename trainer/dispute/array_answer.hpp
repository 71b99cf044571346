// SPDX-License-Identifier: Apache-2.0
// Answers a dispute's questions about whole arrays for the job runner: updates, results of merges, clips.
#pragma once

#include <span>
#include <vector>

#include "contracts/base/error.hpp"
#include "contracts/dispute/question.hpp"
#include "contracts/program/state_root.hpp"
#include "trainer/step/device.hpp"
#include "trainer/step/update_numbers.hpp"

namespace assay::trainer {

/// Arrays of a job. Those that the question's subject does not read may be empty.
struct ArraysAtHand {
    const std::vector<program::TensorInfo>& tensors;
    const RoundLaw& law;
    Device& device;
    float bound = 0;  ///< for a clip: the bound of the norm
    std::span<const float> base_parameters;
    std::span<const float> base_outer;
    std::span<const float> end_parameters;
    program::StateRoots base;          ///< roots of the round's base
    program::StateRoots end;           ///< roots of the slot's last boundary
    std::vector<MergedUpdate> merged;  ///< of a merge, its updates; of a clip, its one update
    /// The result: the update, empty when it has a number that is out of range, or the arrays of the merge.
    std::span<const std::int64_t> update;
    std::span<const float> merged_parameters, merged_outer;
    bool is_finite = true;  ///< of a merge: whether all its numbers are
};

/// Answers the question. A row of an update that is not, or of a merge that is not finite, says where
/// (DisputeAnswer::diverges). kUsage when there is no such row or place; kRejected when the question asks for
/// a divergence and there is none, or for partials of an update that is not; kVerification as of
/// UpdateNumbers::part.
base::Outcome<dispute::DisputeAnswer> answer_array(const ArraysAtHand& arrays,
                                                   const dispute::ArrayQuestion& question);

}  // namespace assay::trainer
