// SPDX-License-Identifier: Apache-2.0
#include "node/roles/work_order.hpp"

namespace assay::node {

std::string_view to_text(WorkOrder order) {
    switch (order) {
        case WorkOrder::kWork: return "work";
        case WorkOrder::kPause: return "pause";
        case WorkOrder::kDrain: return "drain";
    }
    return "unknown";
}

std::string order_note(WorkRole role) { return std::string(to_text(role)) + "-order"; }

base::Outcome<WorkOrder> read_order(DiskPort& notes, WorkRole role) {
    const std::string name = order_note(role);
    ASSAY_ASSIGN(const auto kept, notes.read(name));
    if (!kept) return WorkOrder::kWork;
    const auto note = base::decode<OrderNote>(*kept);
    if (note.ok()) return note->order;
    const std::string whose(to_text(role));
    return base::fail(
        base::ErrorKind::kFailure,
        "the note " + name + " is no order of a " + whose + ": " + std::string(base::to_text(note.error())),
        "write it anew: assay " + whose + " resume, pause or drain");
}

base::Outcome<void> write_order(DiskPort& notes, WorkRole role, WorkOrder order) {
    return notes.write(order_note(role), base::encode(OrderNote{order}));
}

}  // namespace assay::node
