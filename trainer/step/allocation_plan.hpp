// SPDX-License-Identifier: Apache-2.0
// Gives the executor AllocationPlan: every float that an executor takes, fixed before it takes any: the
// groups in the order in which they run and where in one block each tensor lies, two of them sharing
// memory when one is no longer read before the other is first written.
#pragma once

#include <cstdint>
#include <vector>

#include "contracts/program/program.hpp"
#include "trainer/step/device.hpp"
#include "trainer/step/step_schedule.hpp"

namespace assay::trainer {

enum class Grouping : std::uint8_t {
    kFused = 1,      ///< groups as group() makes them: what lies between their operators never lies in memory
    kSingle = 2,     ///< every operator its own group, every tensor in memory, none over another (single.hpp)
    kOperators = 3,  ///< every operator its own group, tensors in memory while somebody reads them
    kAlone = 4,      ///< the same, but the update is one group: for devices that run no groups
};

/// What a machine may choose freely: no bit depends on it.
struct PlanChoice {
    std::uint32_t micro_batch = 1;  ///< sequences worked on at a time
    Rematerialise rematerialise = Rematerialise::kNothing;
    /// Tokens whose logits exist at a time, rounded up to whole sequences in profile i16, at most a
    /// micro-batch; 0: all of a micro-batch.
    std::uint64_t head_rows = 0;
    bool keep_weights = false;  ///< packed weights stay, in the device's own bytes, for the next micro-batch
    Grouping grouping = Grouping::kFused;  ///< kSingle rematerialises nothing; all but kFused keep all logits
    bool offload_moments = false;          ///< moments stay with the host (Device::adopt_streamed)
};

struct PlannedGroup {
    struct Place {
        program::TensorId tensor = 0;
        std::uint64_t offset = 0;  ///< in floats
        bool is_sum = false;       ///< the group adds to it: it has to begin with zeros
    };
    Group group;
    std::vector<Place> places;  ///< tensors that begin to live here
    std::uint64_t scratch = 0;  ///< offset in floats
    bool again = false;         ///< runs a second time, for its outputs
};

struct AllocationPlan {
    PlanChoice choice;
    std::uint32_t batch = 1;  ///< the most sequences of a step
    std::vector<PlannedGroup> groups;
    std::size_t once = 0;              ///< groups from here on run once per step
    std::uint64_t block = 0;           ///< floats of activations, their gradients and scratch
    std::uint64_t embedding_rows = 0;  ///< floats of a tied embedding's own accumulators, see below

    /// Gradients of parameters that live from the beginning of a step to its end, one after the other, by
    /// their offsets in an array of `gradient` floats: all of them with kSingle, and in a step of several
    /// micro-batches, which adds to them; else only those of vectors. A gradient of a matrix then has a place
    /// in the block, and lives from the first group that makes it on.
    std::vector<PlannedGroup::Place> gradients;
    std::uint64_t gradient = 0;

    std::uint64_t device = 0;  ///< bytes that the device keeps for itself

    /// Floats before an array that begins at a cache line, after `floats` others.
    [[nodiscard]] static constexpr std::uint64_t aligned(std::uint64_t floats) {
        return (floats + 15) / 16 * 16;
    }
    /// Block, gradients and embedding rows, one after the other, each at the beginning of a cache line.
    [[nodiscard]] std::uint64_t floats() const { return aligned(block) + aligned(gradient) + embedding_rows; }
    /// Tensors of a step lie in memory one by one, in the order of operators.
    [[nodiscard]] bool is_one_by_one() const {
        return choice.grouping == Grouping::kSingle || choice.grouping == Grouping::kAlone;
    }
    /// All memory of a step but the slot's parameters and moments.
    [[nodiscard]] std::uint64_t bytes() const { return floats() * sizeof(float) + device; }
};

/// Of a tied matrix the head's gradient accumulates in the gradient array itself and the embedding's in rows
/// of its own, one for each different token of the step; kSingle keeps both beside the gradient, in full,
/// kOperators and kAlone the embedding's. A device that runs no groups gets kAlone for kFused.
AllocationPlan plan_allocation(const program::Program& program, const Device& device,
                               const PlanChoice& choice, std::uint32_t batch);

}  // namespace assay::trainer
