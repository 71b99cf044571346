// SPDX-License-Identifier: Apache-2.0
// Compares a drawn verifier's opened roots with a revealed trace, for the rules (docs/concepts/round.md). The
// verifier agrees with every unit, or it accuses the first unit that differs, and a game decides. Internal to
// the rules.
#pragma once

#include <optional>
#include <vector>

#include "contracts/rules/claim/records.hpp"
#include "contracts/rules/round/machine.hpp"

namespace assay::contracts {

/// A unit whose root differs from the root that the trace claims.
struct UnitDifference {
    std::uint32_t unit = 0;
    Hash256 claimed;
    Hash256 found;
};

/// The first of the audit's units that differs from the trace. Units after the end of the work do not count,
/// because no game can be about them. Nothing when all agree or none was opened.
std::optional<UnitDifference> first_difference(const program::TraceRecord& trace,
                                               const program::JobSpec& spec, const SlotAudit& audit);

/// The accusations of the audits, in their order. The settlement sets their fees.
std::vector<Accusation> accusations_of(const program::TraceRecord& trace, const program::JobSpec& spec,
                                       const std::vector<SlotAudit>& audits);

}  // namespace assay::contracts
