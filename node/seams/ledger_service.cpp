// SPDX-License-Identifier: Apache-2.0
#include "node/seams/ledger_service.hpp"

#include <iterator>

namespace assay::node {

Outcome<StatePage> scan_all(LedgerService& ledger, ByteView prefix) {
    constexpr int kRestarts = 16;
    for (int attempt = 0; attempt <= kRestarts; ++attempt) {
        ScanRequest request{.prefix = base::to_bytes(prefix), .from = {}, .limit = kScanPageMax};
        ASSAY_ASSIGN(StatePage whole, ledger.scan(request));
        while (whole.next) {
            request.from = *whole.next;
            ASSAY_ASSIGN(StatePage page, ledger.scan(request));
            if (page.state_root != whole.state_root) break;  // the state moved on between two pages
            std::move(page.entries.begin(), page.entries.end(), std::back_inserter(whole.entries));
            whole.next = std::move(page.next);
        }
        if (!whole.next) return whole;
    }
    return base::fail(base::ErrorKind::kFailure, "the state changed during each of 17 attempts to read it",
                      "try again, or ask for a narrower range");
}

}  // namespace assay::node
