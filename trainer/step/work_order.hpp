// SPDX-License-Identifier: Apache-2.0
// The order of a program's groups within a micro-batch, some of them run again in the backward pass so that
// what they wrote need not be kept: the same operands give the same bits.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "trainer/step/group.hpp"

namespace assay::trainer {

/// What of the forward pass is made again rather than kept; ascending work, descending memory.
enum class Recompute : std::uint8_t {
    kNothing = 0,
    kCheap = 1,   ///< outputs of norms and activations
    kLayers = 2,  ///< everything inside a layer: its input is all that is kept
};
std::string_view to_text(Recompute recompute);

struct WorkOrder {
    std::vector<Group> groups;
    std::vector<bool> again;  ///< per group: run a second time, for its outputs' sake
    std::size_t once = 0;     ///< groups from here on run once per step, after all micro-batches
};

WorkOrder order_work(const program::Program& program, Recompute recompute);

}  // namespace assay::trainer
