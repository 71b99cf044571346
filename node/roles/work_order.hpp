// SPDX-License-Identifier: Apache-2.0
// Gives miners, verifiers and the commands of their homes WorkOrder, the owner's order to the role. `assay
// miner pause`, `drain` and `resume`, and the same words of `assay verifier`, write it to a small file among
// the role's notes, and the process reads it while it works (order_watch.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "contracts/base/codec.hpp"
#include "node/roles/onboarding.hpp"
#include "node/seams/ports.hpp"

namespace assay::node {

enum class WorkOrder : std::uint8_t {
    kWork = 1,
    kPause = 2,  ///< take on no new work, go on with what it has
    kDrain = 3,  ///< the same, and end once no work needs the process
};
/// "work", "pause", "drain".
std::string_view to_text(WorkOrder order);

/// The note that keeps the order to this role: a home may have had both. REQUIRES a miner or a verifier.
std::string order_note(WorkRole role);

/// The content of the note.
struct OrderNote {
    WorkOrder order = WorkOrder::kWork;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.order);
    }
};

/// kWork when there is no note. kFailure when it cannot be read, or is no order.
base::Outcome<WorkOrder> read_order(DiskPort& notes, WorkRole role);
/// All or nothing, and on disk when it returns.
base::Outcome<void> write_order(DiskPort& notes, WorkRole role, WorkOrder order);

}  // namespace assay::node

namespace assay::base {
ASSAY_ENUM_RANGE(node::WorkOrder, kWork, kDrain);
}  // namespace assay::base
