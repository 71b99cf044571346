// SPDX-License-Identifier: Apache-2.0
#include "node/runtime/state_page.hpp"

#include <algorithm>

namespace assay::node {

StatePage page_of(const contracts::StateView& state, const ScanRequest& request) {
    StatePage page;
    const std::size_t limit = std::clamp(request.limit, 1U, kScanPageMax);
    std::size_t bytes = 0;
    state.for_each(request.prefix, request.from, [&](ByteView key, ByteView value) {
        bytes += key.size() + value.size();
        if (page.entries.size() == limit || (bytes > kScanBytesMax && !page.entries.empty())) {
            page.next = base::to_bytes(key);
            return false;
        }
        page.entries.emplace_back(base::to_bytes(key), base::to_bytes(value));
        return true;
    });
    return page;
}

}  // namespace assay::node
