// SPDX-License-Identifier: Apache-2.0
#include "ledger/application/range.hpp"

#include "ledger/store/counting_view.hpp"
#include "tests/support/catch.hpp"

namespace assay::ledger {
namespace {

Bytes numbered(std::uint8_t table, std::uint32_t number) {
    Bytes key{table};
    for (int shift = 24; shift >= 0; shift -= 8) key.push_back(static_cast<std::uint8_t>(number >> shift));
    return key;
}

}  // namespace

TEST_CASE("a page of a large state reads one record more than it returns, wherever it lies") {
    constexpr std::uint32_t kAccounts = 100'000;
    contracts::MemoryState state;
    for (std::uint32_t n = 0; n < kAccounts; ++n) state.put(numbered(0x10, n), Bytes(40, 1));
    state.put(numbered(0x0f, 7), Bytes{1});
    state.put(numbered(0x11, 7), Bytes{1});
    for (const std::uint32_t first : {0U, 1U, 50'000U, 99'000U}) {
        const CountingView counted(state);
        const RangeAnswer page =
            read_range(counted, {.prefix = Bytes{0x10}, .from = numbered(0x10, first), .limit = 256});
        CHECK(counted.reads() == 257);
        REQUIRE(page.records.size() == 256);
        CHECK(page.records.front().first == numbered(0x10, first));
        CHECK(page.next == numbered(0x10, first + 256));
    }
    const CountingView counted(state);
    const RangeAnswer last =
        read_range(counted, {.prefix = Bytes{0x10}, .from = numbered(0x10, kAccounts - 10), .limit = 256});
    CHECK(last.records.size() == 10);
    CHECK_FALSE(last.next);
    CHECK(counted.reads() <= 11);
}

TEST_CASE(
    "pages hand out every record of their prefix once, and a page that is too large in bytes ends early") {
    contracts::MemoryState state;
    for (std::uint32_t n = 0; n < 10; ++n) state.put(numbered(0x10, n), Bytes(kRangeBytesMax / 4, 1));
    state.put(Bytes{0x11}, Bytes{1});
    RangeQuery request{.prefix = Bytes{0x10}, .from = {}, .limit = 5000};
    std::vector<std::pair<Bytes, Bytes>> all;
    int pages = 0;
    while (true) {
        const RangeAnswer page = read_range(state, request);
        ++pages;
        CHECK(page.records.size() <= 3);
        all.insert(all.end(), page.records.begin(), page.records.end());
        if (!page.next) break;
        request.from = *page.next;
    }
    CHECK(all == state.scan(Bytes{0x10}));
    CHECK(pages == 4);
    // A record larger than a page comes alone.
    state.put(numbered(0x10, 3), Bytes(2 * kRangeBytesMax, 1));
    request.from = numbered(0x10, 3);
    CHECK(read_range(state, request).records.size() == 1);
}

}  // namespace assay::ledger
