// SPDX-License-Identifier: Apache-2.0
// TraceTree keeps the tree of a trace, for code that opens several of its leaves.
#pragma once

#include <vector>

#include "contracts/program/trace.hpp"

namespace assay::program {

class TraceTree {
public:
    /// Hashes every leaf and node once; keeps them and a copy of the trace. `spec` must outlive the tree.
    /// REQUIRES is_well_formed.
    TraceTree(TraceRecord trace, const JobSpec& spec, const Hash256& slot_salt);

    [[nodiscard]] const Hash256& root() const { return levels_.back().front(); }
    /// Like open_leaf() of the trace, but hashes only the leaf's salt. REQUIRES a leaf that the plan has.
    [[nodiscard]] TraceOpening open(TraceLeafKind kind, std::uint32_t place) const;

private:
    TraceRecord trace_;
    const JobSpec& spec_;
    Hash256 salt_;
    std::vector<std::vector<Hash256>> levels_;  ///< leaves first, the root last
};

}  // namespace assay::program
