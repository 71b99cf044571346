// SPDX-License-Identifier: Apache-2.0
// Gives the miner and the commands of its home MinerOrder, the owner's order to it. `assay miner pause`,
// `drain` and `resume` write it to a small file among the role's notes, and the process reads it while it
// works.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "contracts/base/codec.hpp"
#include "node/seams/ports.hpp"

namespace assay::node {

enum class MinerOrder : std::uint8_t {
    kWork = 1,
    kPause = 2,  ///< ask for no new work, go on with what it has
    kDrain = 3,  ///< the same, and end once no work needs the process
};
/// "work", "pause", "drain".
std::string_view to_text(MinerOrder order);

/// The note that keeps it.
inline constexpr std::string_view kOrderNote = "miner-order";

/// The content of the note.
struct OrderNote {
    MinerOrder order = MinerOrder::kWork;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.order);
    }
};

/// kWork when there is no note. kFailure when it cannot be read, or is no order.
base::Outcome<MinerOrder> read_order(DiskPort& notes);
/// All or nothing, and on disk when it returns.
base::Outcome<void> write_order(DiskPort& notes, MinerOrder order);

}  // namespace assay::node

namespace assay::base {
ASSAY_ENUM_RANGE(node::MinerOrder, kWork, kDrain);
}  // namespace assay::base
