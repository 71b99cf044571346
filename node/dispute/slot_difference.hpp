// SPDX-License-Identifier: Apache-2.0
// Gives challengers the first unit of a slot that they reject, from the trace that was revealed and the one
// that they computed from the round's base.
#pragma once

#include <cstdint>
#include <optional>

#include "contracts/dispute/unit.hpp"
#include "contracts/program/trace.hpp"

namespace assay::node {

/// A unit of a claim, as a challenge names it.
struct DisputedUnit {
    dispute::UnitKind unit = dispute::UnitKind::kSegment;
    std::uint32_t part = 0;  ///< of a segment its number, of a clip its slot
    friend bool operator==(const DisputedUnit&, const DisputedUnit&) = default;
};

/// The first unit whose input is the same and whose output is another. Nothing: the traces agree. REQUIRES
/// traces of the job (is_well_formed).
std::optional<DisputedUnit> first_difference(const program::TraceRecord& claimed,
                                             const program::TraceRecord& own, const program::JobSpec& spec);

}  // namespace assay::node
