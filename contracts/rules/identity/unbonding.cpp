// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/identity/unbonding.hpp"

#include <limits>

#include "contracts/rules/identity/money.hpp"
#include "contracts/rules/state/limits.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

void release_unbonded(Work& work) {
    std::vector<std::pair<Bytes, Unbonding>> due;
    const Bytes table = table_prefix(Table::kUnbonding);
    const Bytes last = unbonding_key(work.block.height, std::numeric_limits<std::uint64_t>::max());
    work.state.for_each(table, table, [&](ByteView key, ByteView value) {
        if (due.size() == kMaxReleasesPerBlock || base::to_bytes(key) > last) return false;
        due.emplace_back(base::to_bytes(key), stored<Unbonding>(value));
        return true;
    });
    for (const auto& [key, unbonding] : due) {
        pay_balance(work.state, unbonding.owner, unbonding.amount, &Supply::unbonding);
        work.state.erase(key);
        work.tell({.kind = EventKind::kUnbonded, .node = unbonding.node, .amount = unbonding.amount});
    }
}

std::optional<std::uint64_t> next_release(const StateView& state) {
    std::optional<std::uint64_t> height;
    const Bytes prefix = table_prefix(Table::kUnbonding);
    state.for_each(prefix, prefix, [&](ByteView key, ByteView) {
        height = number_in(key.subspan(1, 8));
        return false;  // they ascend by height
    });
    return height;
}

std::vector<std::pair<std::uint64_t, Unbonding>> list_unbonding(const StateView& state) {
    std::vector<std::pair<std::uint64_t, Unbonding>> found;
    const Bytes prefix = table_prefix(Table::kUnbonding);
    state.for_each(prefix, prefix, [&](ByteView key, ByteView value) {
        ASSAY_CHECK(key.size() == 1 + 8 + 8);
        found.emplace_back(number_in(key.subspan(1, 8)), stored<Unbonding>(value));
        return true;
    });
    return found;
}

}  // namespace assay::contracts
