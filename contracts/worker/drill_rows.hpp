// SPDX-License-Identifier: Apache-2.0
// Gives roles, commands and the worker the table of planted faults: what each is called, and what it needs.
#pragma once

#include <span>
#include <string_view>

#include "contracts/worker/frames.hpp"

namespace assay::worker {

/// What a planted fault needs beside its segment.
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

/// One row a kind, in the order of the kinds.
std::span<const DrillRow> drill_rows();
const DrillRow& row_of(DrillKind kind);
/// Null: there is none of this name.
const DrillRow* find_drill(std::string_view name);
/// "lazy, flip, … or bad-finalise".
std::string drill_names();

/// Why a job of so many slots has no such fault in that round; empty when it has.
std::string unplantable(DrillKind kind, std::uint32_t round, std::uint32_t slots);

}  // namespace assay::worker
