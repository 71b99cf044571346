// SPDX-License-Identifier: Apache-2.0
// The table of planted faults, for roles, commands and the worker: the name of each, and what it needs.
#pragma once

#include <span>
#include <string_view>

#include "contracts/worker/frames.hpp"

namespace assay::worker {

/// What a planted fault needs in addition to its segment.
enum class DrillNeeds : std::uint8_t {
    kNothing,
    kTensor,       ///< a tensor and an element of it
    kRoundBefore,  ///< a round that is not the first
    kOtherSlot,    ///< a job of at least two slots
    kOperator,     ///< an operator of a step of the segment, and an element of its first output
};

struct DrillRow {
    DrillKind kind;
    std::string_view name;  ///< as `kind=` has it; the simulator's name where it has the strategy
    DrillNeeds needs;
};

/// One row for each kind, in the order of the kinds.
std::span<const DrillRow> drill_rows();
const DrillRow& row_of(DrillKind kind);
/// The row of this name; null when there is none.
const DrillRow* find_drill(std::string_view name);
/// "lazy, flip, … or bad-finalise".
std::string drill_names();

/// Why this fault is impossible in that round of a job of so many slots; empty when it is possible.
std::string unplantable(DrillKind kind, std::uint32_t round, std::uint32_t slots);

}  // namespace assay::worker
