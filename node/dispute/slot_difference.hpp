// SPDX-License-Identifier: Apache-2.0
// Gives challengers the first unit of a slot that they reject, from the revealed trace and the one that they
// computed from the round's base.
#pragma once

#include <cstdint>
#include <optional>

#include "contracts/dispute/unit.hpp"
#include "contracts/program/trace.hpp"

namespace assay::node {

/// A unit of a claim, as a challenge names it.
struct DisputedUnit {
    dispute::UnitKind unit = dispute::UnitKind::kSegment;
    std::uint32_t part = 0;  ///< for a segment its number, for a clip its slot
    friend bool operator==(const DisputedUnit&, const DisputedUnit&) = default;
};

/// The first unit with the same input and a different output. Nothing: the traces agree. REQUIRES traces of
/// the job (is_well_formed).
std::optional<DisputedUnit> first_difference(const program::TraceRecord& claimed,
                                             const program::TraceRecord& own, const program::JobSpec& spec);

}  // namespace assay::node
