// SPDX-License-Identifier: Apache-2.0
#include "node/dispute/slot_difference.hpp"

#include "contracts/program/round_plan.hpp"

namespace assay::node {

using dispute::UnitKind;

std::optional<DisputedUnit> first_difference(const program::TraceRecord& claimed,
                                             const program::TraceRecord& own, const program::JobSpec& spec) {
    const program::RoundPlan plan(spec);
    for (std::uint32_t segment = 0; segment < plan.segments(); ++segment) {
        if (program::unit_root(claimed, spec, segment) != program::unit_root(own, spec, segment))
            return DisputedUnit{UnitKind::kSegment, segment};
    }
    if (claimed.update != own.update) return DisputedUnit{UnitKind::kUpdate, 0};
    if (claimed.carried != own.carried) return DisputedUnit{UnitKind::kCarried, 0};
    return std::nullopt;
}

}  // namespace assay::node
