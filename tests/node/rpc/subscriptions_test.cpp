// SPDX-License-Identifier: Apache-2.0
// Many processes of one home follow one ledger node.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "node/rpc/client.hpp"
#include "node/rpc/server.hpp"
#include "tests/node/rpc/certificates.hpp"

namespace assay::node {
namespace {

using namespace std::chrono_literals;

/// Has a block more when it is told to.
class GrownLedger final : public LedgerService {
public:
    Outcome<SubmitReply> submit(ByteView) override { return nothing(); }
    Outcome<StateValue> get(ByteView) override { return nothing(); }
    Outcome<StatePage> scan(const ScanRequest&) override { return nothing(); }
    Outcome<Bytes> block(std::uint64_t) override { return nothing(); }
    Outcome<LedgerStatus> status() override {
        const std::lock_guard lock(mutex_);
        return LedgerStatus{"grown", height_, {}, {}, "0"};
    }
    Outcome<void> subscribe(std::uint64_t from, std::stop_token stop, const BlockHandler& handler) override {
        for (std::uint64_t next = from;; ++next) {
            {
                std::unique_lock lock(mutex_);
                if (!grown_.wait(lock, stop, [&] { return height_ >= next; })) return {};
            }
            if (!handler({next, Bytes{1}, Bytes{2}})) return {};
        }
    }
    void grow() {
        const std::lock_guard lock(mutex_);
        ++height_;
        grown_.notify_all();
    }

private:
    static base::Failed<base::Error> nothing() {
        return base::fail(base::ErrorKind::kNotFound, "not asked for");
    }
    std::mutex mutex_;
    std::condition_variable_any grown_;
    std::uint64_t height_ = 1;
};

/// A process's subscription, begun again whenever it breaks, as its ledger port does it.
class FollowingClient {
public:
    explicit FollowingClient(const ClientOptions& options)
        : ledger_(connect_ledger(options).value()), thread_([this](const std::stop_token& stop) {
              while (!stop.stop_requested()) {
                  (void)ledger_->subscribe(height_ + 1, stop, [this](const BlockNotice& block) {
                      height_ = block.height;
                      return true;
                  });
                  if (!stop.stop_requested()) std::this_thread::sleep_for(50ms);
              }
          }) {}
    [[nodiscard]] bool has(std::uint64_t height) const {
        for (int i = 0; i < 3'000 && height_ < height; ++i) std::this_thread::sleep_for(10ms);
        return height_ == height;
    }

private:
    std::atomic<std::uint64_t> height_ = 0;
    std::unique_ptr<LedgerService> ledger_;
    std::jthread thread_;
};

}  // namespace

TEST_CASE("nine processes of one certificate get every block, also when the node was started again") {
    const test::TemporaryFolder folder;
    const TlsFiles tls = test::make_certificates(folder, "ours");
    GrownLedger ledger;
    ServerOptions options{.listen = "127.0.0.1:0", .tls = tls, .limits = {}};
    auto server = serve_ledger(ledger, options).value();
    options.listen = server->address();
    std::vector<std::unique_ptr<FollowingClient>> clients;
    for (int i = 0; i < 9; ++i) {
        clients.push_back(std::make_unique<FollowingClient>(
            ClientOptions{.address = server->address(), .tls = tls, .deadline = 5s}));
    }
    for (const auto& client : clients) REQUIRE(client->has(1));
    ledger.grow();
    for (const auto& client : clients) REQUIRE(client->has(2));
    server.reset();
    server = serve_ledger(ledger, options).value();
    ledger.grow();
    for (const auto& client : clients) CHECK(client->has(3));
    clients.clear();
}

TEST_CASE(
    "a flood of one certificate from one address has as many subscriptions as the address, and no more") {
    const test::TemporaryFolder folder;
    const TlsFiles tls = test::make_certificates(folder, "ours");
    GrownLedger ledger;
    ServerOptions options{.listen = "127.0.0.1:0", .tls = tls, .limits = {}};
    options.limits.subscriptions = {.total = 16, .per_address = 4, .per_caller = 4};
    const auto server = serve_ledger(ledger, options).value();
    std::atomic<int> admitted = 0, refused = 0;
    std::vector<std::jthread> flood;
    for (int i = 0; i < 12; ++i) {
        flood.emplace_back([&](const std::stop_token& stop) {
            const auto client =
                connect_ledger({.address = server->address(), .tls = tls, .deadline = 5s}).value();
            const auto ended = client->subscribe(1, stop, [&](const BlockNotice&) {
                ++admitted;
                return true;
            });
            if (!ended && ended.error().what.find("too many calls") != std::string::npos) ++refused;
        });
    }
    for (int i = 0; i < 1'000 && refused < 8; ++i) std::this_thread::sleep_for(10ms);
    CHECK(admitted == 4);
    CHECK(refused == 8);
}

TEST_CASE("a subscription that a busy node refuses is asked for again, and ends at once when it is told to") {
    GrownLedger ledger;
    ServerOptions options;
    options.limits.subscriptions = {.total = 9, .per_address = 9, .per_caller = 1};
    const auto server = serve_ledger(ledger, options).value();
    const auto client = connect_ledger({.address = server->address()}).value();
    std::atomic<bool> first_has = false;
    std::jthread first([&](const std::stop_token& stop) {
        (void)client->subscribe(1, stop, [&](const BlockNotice&) { return first_has = true; });
    });
    for (int i = 0; i < 500 && !first_has; ++i) std::this_thread::sleep_for(10ms);
    REQUIRE(first_has);
    {
        std::stop_source stop;
        std::jthread stops([&] {
            std::this_thread::sleep_for(150ms);
            stop.request_stop();
        });
        const auto began = std::chrono::steady_clock::now();
        CHECK(client->subscribe(1, stop.get_token(), [](const BlockNotice&) { return true; }).ok());
        CHECK(std::chrono::steady_clock::now() - began < 1s);
    }
    std::jthread frees([&] {
        std::this_thread::sleep_for(150ms);
        first.request_stop();
    });
    std::uint64_t got = 0;
    const auto second = client->subscribe(1, {}, [&](const BlockNotice& block) {
        got = block.height;
        return false;
    });
    INFO((second.ok() ? std::string() : second.error().what));
    CHECK(second.ok());
    CHECK(got == 1);
}

}  // namespace assay::node
