// SPDX-License-Identifier: Apache-2.0
#include "ledger/application/range.hpp"

#include <algorithm>

namespace assay::ledger {

RangeAnswer read_range(const contracts::StateView& state, const RangeQuery& query) {
    RangeAnswer page;
    const std::size_t limit = std::clamp(query.limit, 1U, kRangeRecordsMax);
    std::size_t bytes = 0;
    state.for_each(query.prefix, query.from, [&](base::ByteView key, base::ByteView value) {
        bytes += key.size() + value.size();
        if (page.records.size() == limit || (bytes > kRangeBytesMax && !page.records.empty())) {
            page.next = base::to_bytes(key);
            return false;
        }
        page.records.emplace_back(base::to_bytes(key), base::to_bytes(value));
        return true;
    });
    return page;
}

}  // namespace assay::ledger
