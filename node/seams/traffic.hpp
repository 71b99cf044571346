// SPDX-License-Identifier: Apache-2.0
// Gives roles and clients Traffic, what bytes between processes are for. The party that asks for bytes names
// the kind, and the clients of node/rpc count by it.
#pragma once

#include <cstdint>
#include <string_view>

namespace assay::node {

enum class Traffic : std::uint8_t {
    kLedger,   ///< transactions, blocks, and reads of the ledger's state
    kData,     ///< a job's token files
    kBase,     ///< states that rounds start from
    kUpdate,   ///< what slots hand in
    kAudit,    ///< states and updates for parties that recompute a unit
    kCarried,  ///< what slots carry from round to round, for the miners that train them next
};
inline constexpr std::uint8_t kTrafficKinds = 6;

constexpr std::string_view to_text(Traffic traffic) {
    switch (traffic) {
        case Traffic::kLedger: return "ledger";
        case Traffic::kData: return "data";
        case Traffic::kBase: return "base";
        case Traffic::kUpdate: return "update";
        case Traffic::kAudit: return "audit";
        case Traffic::kCarried: return "carried";
    }
    return "unknown";
}

}  // namespace assay::node
