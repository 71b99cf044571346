// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/state/deadlines.hpp"

#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

Bytes deadline_key(const Deadline& deadline) {
    return KeyBuilder(Table::kDeadline)
        .add_number(deadline.height, 8)
        .add_number(static_cast<std::uint64_t>(deadline.kind), 1)
        .add(deadline.subject.view())
        .take();
}

std::optional<Deadline> deadline_of(ByteView key) {
    if (key.size() != 1 + 8 + 1 + 32) return std::nullopt;
    if (key[9] < static_cast<std::uint8_t>(DueKind::kJob) ||
        key[9] > static_cast<std::uint8_t>(DueKind::kMarket)) {
        return std::nullopt;
    }
    return Deadline{number_in(key.subspan(1, 8)), static_cast<DueKind>(key[9]),
                    base::hash_from(key.subspan(10))};
}

std::optional<Deadline> first_due(const StateView& state, ByteView from, std::uint64_t height) {
    std::optional<Deadline> due;
    state.for_each(table_prefix(Table::kDeadline), from, [&](ByteView key, ByteView) {
        const Deadline deadline = required(deadline_of(key));
        if (deadline.height <= height) due = deadline;
        return false;
    });
    return due;
}

std::optional<std::uint64_t> next_due(const StateView& state) {
    std::optional<std::uint64_t> height;
    const Bytes table = table_prefix(Table::kDeadline);
    state.for_each(table, table, [&](ByteView key, ByteView) {
        height = required(deadline_of(key)).height;
        return false;  // they ascend by height
    });
    return height;
}

}  // namespace assay::contracts
