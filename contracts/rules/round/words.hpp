// SPDX-License-Identifier: Apache-2.0
// Gives the rules what a drawn verifier's opened roots say of a revealed trace, where games decide
// (protocol.md §4, §6): it agrees with every unit, or it accuses the first that differs. Internal to the
// rules.
#pragma once

#include <optional>
#include <vector>

#include "contracts/rules/claim/records.hpp"
#include "contracts/rules/round/machine.hpp"

namespace assay::contracts {

/// A unit whose root is another than the trace claims.
struct UnitDifference {
    std::uint32_t unit = 0;
    Hash256 claimed;
    Hash256 found;
};

/// The first of the audit's units that differs from the trace, of those that a game can be about: none behind
/// the end of the work. Nothing: they all agree, or none was opened.
std::optional<UnitDifference> first_difference(const program::TraceRecord& trace,
                                               const program::JobSpec& spec, const SlotAudit& audit);

/// Of the audits in their order. Fees are left to the settlement.
std::vector<Accusation> accusations_of(const program::TraceRecord& trace, const program::JobSpec& spec,
                                       const std::vector<SlotAudit>& audits);

}  // namespace assay::contracts
