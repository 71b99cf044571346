// SPDX-License-Identifier: Apache-2.0
#include "node/seams/ledger_service.hpp"

#include <algorithm>
#include <iterator>

namespace assay::node {
namespace {

base::Failed<base::Error> cannot_be(const std::string& what) {
    return base::fail(base::ErrorKind::kVerification,
                      "the ledger node gave an answer that cannot be right: " + what,
                      "do not use this node; ask another one");
}

// What one call of scan_all has taken so far. A node decides how many pages there are: it must not decide how
// long its caller reads, nor how much it keeps.
class TakenPages {
public:
    /// Takes note of the answer to `request`.
    Outcome<void> take(const ScanRequest& request, const StatePage& page) {
        constexpr std::size_t kEntryBytes = 64;
        if (++pages_ > kScanAllPagesMax) return cannot_be(std::to_string(pages_) + " pages of one range");
        const Bytes* last = nullptr;
        for (const auto& [key, value] : page.entries) {
            const bool follows = last == nullptr ? key >= request.from : key > *last;
            if (!follows || !is_under(request.prefix, key))
                return cannot_be("keys out of order or not asked for");
            last = &key;
            bytes_ += kEntryBytes + key.size() + value.size();
        }
        if (bytes_ > kScanAllBytesMax)
            return cannot_be("a range above " + std::to_string(kScanAllBytesMax >> 20U) + " MiB");
        if (!page.next) return {};
        if (last == nullptr) return cannot_be("an empty page that is not the last");
        if (*page.next <= *last || !is_under(request.prefix, *page.next))
            return cannot_be("a page that leads back");
        return {};
    }
    void start_again() { bytes_ = 0; }

private:
    static bool is_under(const Bytes& prefix, const Bytes& key) {
        return key.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), key.begin());
    }

    std::size_t pages_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace

Outcome<StatePage> scan_all(LedgerService& ledger, ByteView prefix) {
    constexpr int kRestarts = 16;
    TakenPages taken;
    for (int attempt = 0; attempt <= kRestarts; ++attempt) {
        ScanRequest request{.prefix = base::to_bytes(prefix), .from = {}, .limit = kScanPageMax};
        taken.start_again();
        ASSAY_ASSIGN(StatePage whole, ledger.scan(request));
        ASSAY_TRY(taken.take(request, whole));
        while (whole.next) {
            request.from = *whole.next;
            ASSAY_ASSIGN(StatePage page, ledger.scan(request));
            ASSAY_TRY(taken.take(request, page));
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
