// SPDX-License-Identifier: Apache-2.0
// Who watches a ledger longer than a connection to its node lasts.
#include "node/processes/watcher.hpp"

#include <atomic>
#include <thread>

#include "tests/node/processes/site.hpp"

namespace assay::node {
namespace {

using base::ErrorKind;
using namespace std::chrono_literals;

/// A watch on a thread of its own, which ends with block `last`.
class WatchThread {
public:
    WatchThread(const test_site::Site& site, std::uint64_t last, std::chrono::milliseconds patience) {
        WatchOptions options{.node_address = site.node->address(),
                             .tls = {},
                             .genesis = assay::test::small_genesis(),
                             .patience = patience};
        thread_ = std::jthread([this, options = std::move(options), last](const std::stop_token& stop) {
            ended = watch_ledger(options, stop, [&](const Follower& ledger, const contracts::Events& events) {
                heights.push_back(ledger.height());
                happened += events.size();
                seen = ledger.height();
                return ledger.height() < last;
            });
            over = true;
        });
    }
    void wait_for(std::uint64_t height) const {
        for (int i = 0; i < 6'000 && seen < height && !over; ++i) std::this_thread::sleep_for(10ms);
        REQUIRE(seen >= height);
    }
    /// What watch_ledger returned.
    const Outcome<void>& join() {
        thread_.join();
        return ended;
    }
    const Outcome<void>& stop() {
        thread_.request_stop();
        return join();
    }

    std::vector<std::uint64_t> heights;
    std::size_t happened = 0;
    std::atomic<std::uint64_t> seen = 0;
    std::atomic<bool> over = false;
    Outcome<void> ended;

private:
    std::jthread thread_;
};

/// As a supervisor does it: the same home, the same address.
void start_again(test_site::Site& site) {
    LedgerNodeOptions options;
    options.home = site.folder / "node";
    options.block_interval_ms = 10;
    options.server.listen = site.node->address();
    options.on_stopped = [](const base::Error& why) { FAIL(why.what); };
    site.node.reset();
    site.node = LedgerNode::start(options, site.sequencer, ledger::rules_machine()).value();
}

void make_block(const test_site::Site& site, std::uint64_t height) {
    REQUIRE(site.node->submit(assay::test::transfer(height - 1)).value().height == height);
}

}  // namespace

TEST_CASE("a watch goes on when its node was started again, and passes on every block once") {
    test_site::Site site;
    make_block(site, 1);
    WatchThread watch(site, 4, 60s);
    make_block(site, 2);
    watch.wait_for(2);
    start_again(site);
    make_block(site, 3);
    watch.wait_for(3);
    start_again(site);
    make_block(site, 4);
    const auto& ended = watch.join();
    INFO((ended.ok() ? std::string() : ended.error().what));
    CHECK(ended.ok());
    CHECK(watch.heights == std::vector<std::uint64_t>{1, 2, 3, 4});
    Follower alone = Follower::create(assay::test::small_genesis()).value();
    std::size_t events = 0;
    for (std::uint64_t height = 1; height <= 4; ++height)
        events += alone.apply(site.node->block(height).value()).value().size();
    CHECK(watch.happened == events);
}

TEST_CASE("a node that is gone for good ends the watch once the patience is over") {
    test_site::Site site;
    make_block(site, 1);
    WatchThread watch(site, 2, 500ms);
    WatchThread hasty(site, 2, 0s);
    watch.wait_for(1);
    hasty.wait_for(1);
    site.node.reset();
    CHECK(watch.join().error().kind == ErrorKind::kUnreachable);
    CHECK(hasty.join().error().kind == ErrorKind::kUnreachable);
}

TEST_CASE("a watch that waits for its node can be stopped") {
    test_site::Site site;
    make_block(site, 1);
    WatchThread watch(site, 2, 600s);
    watch.wait_for(1);
    site.node.reset();
    CHECK(watch.stop().ok());
}

}  // namespace assay::node
