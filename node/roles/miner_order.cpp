// SPDX-License-Identifier: Apache-2.0
#include "node/roles/miner_order.hpp"

namespace assay::node {

std::string_view to_text(MinerOrder order) {
    switch (order) {
        case MinerOrder::kWork: return "work";
        case MinerOrder::kPause: return "pause";
        case MinerOrder::kDrain: return "drain";
    }
    return "unknown";
}

base::Outcome<MinerOrder> read_order(DiskPort& notes) {
    ASSAY_ASSIGN(const auto kept, notes.read(kOrderNote));
    if (!kept) return MinerOrder::kWork;
    const auto note = base::decode<OrderNote>(*kept);
    if (note.ok()) return note->order;
    return base::fail(base::ErrorKind::kFailure,
                      "the note " + std::string(kOrderNote) +
                          " is no order of a miner: " + std::string(base::to_text(note.error())),
                      "write it anew: assay miner resume, pause or drain");
}

base::Outcome<void> write_order(DiskPort& notes, MinerOrder order) {
    return notes.write(kOrderNote, base::encode(OrderNote{order}));
}

}  // namespace assay::node
