// SPDX-License-Identifier: Apache-2.0
// UnitParts is the result of an audit unit, computed or claimed by a trace; name_difference() says where the
// two first differ. For verifiers and auditors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "contracts/base/hash.hpp"
#include "contracts/program/trace.hpp"

namespace assay::worker {

struct UnitParts {
    base::Hash256 unit_root;                         ///< program::unit_root
    base::Hash256 end_root;                          ///< of a segment's end; zero for finalise
    std::vector<program::Fingerprint> fingerprints;  ///< of its completed steps
    std::optional<program::Divergence> divergence;   ///< if it is in this segment
    base::Hash256 update;                            ///< of finalise; zero when out of range
    base::Hash256 carried_out;                       ///< root of what finalise carries out; zero when nothing
    friend bool operator==(const UnitParts&, const UnitParts&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.unit_root, self.end_root, self.fingerprints, self.divergence, self.update,
              self.carried_out);
    }
};

/// The parts of a unit after a divergence: the state `boundary` does not change, and the update is zero.
/// Nothing is computed for them.
UnitParts parts_behind_divergence(const program::JobSpec& spec, std::uint32_t unit,
                                  const base::Hash256& boundary);

/// What a trace claims about a unit. REQUIRES is_well_formed.
UnitParts claimed_parts(const program::TraceRecord& trace, const program::JobSpec& spec, std::uint32_t unit);

/// Where a unit's claim and the computed parts first differ: "boundary 2: claimed root …, recomputed …; step
/// 3: …". Empty when the unit roots are equal. REQUIRES is_well_formed.
std::string name_difference(const program::TraceRecord& claimed, const program::JobSpec& spec,
                            std::uint32_t unit, const UnitParts& computed);

}  // namespace assay::worker
