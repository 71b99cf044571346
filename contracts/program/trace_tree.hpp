// SPDX-License-Identifier: Apache-2.0
// Gives whoever opens several leaves of a trace its tree, hashed once.
#pragma once

#include <vector>

#include "contracts/program/trace.hpp"

namespace assay::program {

class TraceTree {
public:
    /// REQUIRES is_well_formed. Hashes every leaf and node once; keeps them and a copy of the trace.
    TraceTree(TraceRecord trace, const JobSpec& spec, const Hash256& slot_salt);

    [[nodiscard]] const Hash256& root() const { return levels_.back().front(); }
    /// As open_leaf() of the trace; hashes nothing but the leaf's salt. REQUIRES a leaf that the plan has.
    [[nodiscard]] TraceOpening open(TraceLeafKind kind, std::uint32_t place) const;

private:
    TraceRecord trace_;
    const JobSpec& spec_;
    Hash256 salt_;
    std::vector<std::vector<Hash256>> levels_;  ///< leaves first, the root last
};

}  // namespace assay::program
