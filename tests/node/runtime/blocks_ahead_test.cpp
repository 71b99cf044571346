// SPDX-License-Identifier: Apache-2.0
// Blocks that are asked for ahead come in order, and never more of them than the limit are here.
#include "node/runtime/blocks_ahead.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <vector>

#include "tests/support/catch.hpp"

namespace assay::node {
namespace {

/// Gives the height as the block's only byte, the second of two neighbours before the first unless told
/// otherwise.
class SwappedLedger final : public LedgerService {
public:
    Outcome<SubmitReply> submit(ByteView) override { return nothing(); }
    Outcome<StateValue> get(ByteView) override { return nothing(); }
    Outcome<StatePage> scan(const ScanRequest&) override { return nothing(); }
    Outcome<LedgerStatus> status() override { return nothing(); }
    Outcome<void> subscribe(std::uint64_t, std::stop_token, const BlockHandler&) override {
        return nothing();
    }
    Outcome<Bytes> block(std::uint64_t height) override {
        std::unique_lock lock(mutex_);
        highest = std::max(highest, height);
        most_ahead = std::max(most_ahead, highest - taken);
        if (height == lost_at) return base::fail(base::ErrorKind::kUnreachable, "lost");
        answered_.push_back(height);
        changed_.notify_all();
        if (swaps && height % 2 == 1)
            changed_.wait(lock, [&] {
                return std::find(answered_.begin(), answered_.end(), height + 1) != answered_.end();
            });
        return Bytes{static_cast<std::uint8_t>(height)};
    }
    void take() {
        const std::lock_guard lock(mutex_);
        ++taken;
    }

    std::uint64_t highest = 0, taken = 0, most_ahead = 0;
    bool swaps = true;
    std::uint64_t lost_at = 0;  ///< height; 0: nowhere

private:
    static base::Failed<base::Error> nothing() {
        return base::fail(base::ErrorKind::kNotFound, "not asked for");
    }
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::uint64_t> answered_;
};

}  // namespace

TEST_CASE("blocks that come out of order are given in order, and few are here at once") {
    SwappedLedger ledger;
    BlocksAhead blocks(ledger, 1, 100);
    for (std::uint8_t height = 1; height <= 100; ++height) {
        ledger.take();  // before, for the next is asked for as soon as this one is gone
        const auto block = blocks.next();
        REQUIRE(block.ok());
        REQUIRE(*block == Bytes{height});
    }
    CHECK(ledger.highest == 100);
    CHECK(ledger.most_ahead <= BlocksAhead::kMost);
}

TEST_CASE("a block that does not come is an error in its place, and what is untaken ends with the reader") {
    SwappedLedger lost;
    lost.swaps = false;
    lost.lost_at = 4;
    BlocksAhead blocks(lost, 2, 9);
    CHECK(blocks.next().value() == Bytes{2});
    CHECK(blocks.next().value() == Bytes{3});
    CHECK(blocks.next().error().kind == base::ErrorKind::kUnreachable);
    CHECK(blocks.next().value() == Bytes{5});
    SwappedLedger long_one;
    long_one.swaps = false;
    {
        BlocksAhead begun(long_one, 1, 1'000'000);
        CHECK(begun.next().value() == Bytes{1});
    }
    CHECK(long_one.highest <= 1 + BlocksAhead::kMost);
    const BlocksAhead none(long_one, 5, 4);
}

}  // namespace assay::node
