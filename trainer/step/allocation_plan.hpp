// SPDX-License-Identifier: Apache-2.0
// AllocationPlan fixes every float that an executor takes before it takes any: the order in which the groups
// run, and the place of each tensor in one block. Two tensors share memory when the last read of one comes
// before the first write of the other.
#pragma once

#include <cstdint>
#include <vector>

#include "contracts/program/program.hpp"
#include "trainer/step/device.hpp"
#include "trainer/step/step_schedule.hpp"

namespace assay::trainer {

enum class Grouping : std::uint8_t {
    kFused = 1,      ///< groups as group() makes them: a group's intermediate tensors never lie in memory
    kSingle = 2,     ///< every operator its own group, every tensor in memory, none over another (single.hpp)
    kOperators = 3,  ///< every operator its own group, each tensor in memory until its last read
    kAlone = 4,      ///< as kOperators, but the update is one group: for devices that run no groups
};

/// What a machine may choose freely: no bit depends on it.
struct PlanChoice {
    std::uint32_t micro_batch = 1;  ///< sequences worked on at a time
    Rematerialise rematerialise = Rematerialise::kNothing;
    /// Tokens whose logits exist at a time, at most those of a micro-batch; 0: all of them. Profile i16
    /// rounds up to whole sequences.
    std::uint64_t head_rows = 0;
    bool keep_weights = false;             ///< packed weights are kept for later micro-batches (own_bytes())
    Grouping grouping = Grouping::kFused;  ///< kSingle rematerialises nothing; all but kFused keep all logits
    bool offload_moments = false;          ///< moments stay in the host's memory (Device::adopt_streamed)
};

struct PlannedGroup {
    struct Place {
        program::TensorId tensor = 0;
        std::uint64_t offset = 0;  ///< in floats
        bool is_sum = false;       ///< the group adds to it, so it has to begin with zeros
    };
    Group group;
    std::vector<Place> places;  ///< tensors whose lifetime begins here
    std::uint64_t scratch = 0;  ///< offset in floats
    bool again = false;         ///< runs a second time, to make its outputs again (rematerialised)
};

struct AllocationPlan {
    PlanChoice choice;
    std::uint32_t batch = 1;  ///< the most sequences of a step
    std::vector<PlannedGroup> groups;
    std::size_t once = 0;              ///< groups from here on run once per step
    std::uint64_t block = 0;           ///< floats of activations, their gradients and scratch
    std::uint64_t embedding_rows = 0;  ///< floats of a tied embedding's own accumulators, see below

    /// Gradients of parameters that live from the beginning of a step to its end, one after the other in an
    /// array of `gradient` floats. With kSingle, and in a step of several micro-batches (which add to them),
    /// these are all gradients of parameters; otherwise only those of vectors: a gradient of a matrix then
    /// has a place in the block, and lives from the first group that makes it on.
    std::vector<PlannedGroup::Place> gradients;
    std::uint64_t gradient = 0;

    std::uint64_t device = 0;  ///< bytes that the device keeps for itself (Device::own_bytes)

    /// `floats` rounded up to whole cache lines of 16 floats.
    [[nodiscard]] static constexpr std::uint64_t aligned(std::uint64_t floats) {
        return (floats + 15) / 16 * 16;
    }
    /// Floats of block, gradients and embedding rows together. Each begins at a cache line.
    [[nodiscard]] std::uint64_t floats() const { return aligned(block) + aligned(gradient) + embedding_rows; }
    /// True when every tensor of a step lies in memory as a whole, in the order of operators.
    [[nodiscard]] bool is_one_by_one() const {
        return choice.grouping == Grouping::kSingle || choice.grouping == Grouping::kAlone;
    }
    /// Bytes of a step without the slot's parameters and moments.
    [[nodiscard]] std::uint64_t bytes() const { return floats() * sizeof(float) + device; }
};

/// Returns the plan of a step, or of an evaluation, of at most `batch` sequences. A device that runs no
/// groups gets kAlone instead of kFused. A tied matrix has two gradients: the head's accumulates where their
/// sum will lie; the embedding's has rows of its own (`embedding_rows`), one for each different token of the
/// step. With kOperators and kAlone the embedding's has all rows, and with kSingle both have, next to their
/// sum.
AllocationPlan plan_allocation(const program::Program& program, const Device& device,
                               const PlanChoice& choice, std::uint32_t batch);

}  // namespace assay::trainer
