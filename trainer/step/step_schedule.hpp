// SPDX-License-Identifier: Apache-2.0
// StepSchedule is the order of a program's groups within a micro-batch. Some groups run again in the backward
// pass, so that their outputs need not be kept (rematerialisation). The same operands give the same bits.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "trainer/step/group.hpp"

namespace assay::trainer {

/// Which activations are rematerialised instead of kept; ascending work, descending memory.
enum class Rematerialise : std::uint8_t {
    kNothing = 0,
    kCheap = 1,   ///< outputs of norms and activations
    kLayers = 2,  ///< everything inside a layer: only its input is kept
};
std::string_view to_text(Rematerialise rematerialise);

struct StepSchedule {
    std::vector<Group> groups;
    std::vector<bool> rematerialised;  ///< per group: whether it runs a second time, for its outputs
    std::size_t once = 0;              ///< groups from here on run once per step, after all micro-batches
};

StepSchedule schedule_step(const program::Program& program, Rematerialise rematerialise);
/// Whether the operators of the update are one group, which changes everything or nothing.
enum class Updates : std::uint8_t { kEach, kTogether };
/// As schedule_step(), but every operator (with kTogether: every one outside the update) is a kSingle group
/// of its own. They come in program order, except those that run again.
StepSchedule schedule_operators(const program::Program& program, Rematerialise rematerialise,
                                Updates updates);

}  // namespace assay::trainer
