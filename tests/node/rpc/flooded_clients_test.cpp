// SPDX-License-Identifier: Apache-2.0
// What hostile holders can do to a process that asks them for blobs: nothing to its other calls.
#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "node/rpc/client.hpp"
#include "node/rpc/server.hpp"
#include "tests/node/rpc/flooding_holder.hpp"
#include "tests/support/catch.hpp"

namespace assay::node {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

constexpr std::uint64_t kMiB = 1ULL << 20U;
constexpr std::uint64_t kChunks = 16;
constexpr std::size_t kHolders = 6;
// The address sanitizer keeps what was freed for a while, and pads the rest.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t kCeiling = 6;
#else
constexpr std::uint64_t kCeiling = 1;
#endif

base::Failed<base::Error> nothing_here() {
    return base::fail(base::ErrorKind::kNotFound, "this server holds nothing", "ask another");
}

class HonestLedger final : public LedgerService {
public:
    Outcome<SubmitReply> submit(ByteView) override {
        return SubmitReply{.accepted = true, .reason = 0, .reason_text = {}, .height = 1, .receipt = {}};
    }
    Outcome<StateValue> get(ByteView) override { return StateValue{}; }
    Outcome<StatePage> scan(const ScanRequest&) override { return nothing_here(); }
    Outcome<Bytes> block(std::uint64_t) override { return Bytes(2 * kMiB, 7); }
    Outcome<LedgerStatus> status() override { return LedgerStatus{"flooded", 1, {}, {}, "0"}; }
    Outcome<void> subscribe(std::uint64_t, std::stop_token, const BlockHandler&) override { return {}; }
};

// One blob under every name, with the longest description that a client takes.
class HonestHolder final : public BlobService {
public:
    FetchOutcome<BlobDescription> describe(const BlobId&) override {
        BlobDescription description;
        description.leaves.resize(3 * kMiB / 32);
        description.size = description.leaves.size() * kMiB;
        return description;
    }
    FetchEnd fetch(const BlobId&, std::uint64_t first, const ChunkHandler& handler) override {
        for (std::uint64_t index = first; index < kChunks; ++index) {
            if (!handler(index, base::Bytes(kMiB, static_cast<std::uint8_t>(index)))) return {};
        }
        return {};
    }
};

std::uint64_t peak_memory() {
    std::ifstream status("/proc/self/status");
    std::string word;
    std::uint64_t kib = 0;
    while (status >> word) {
        if (word == "VmHWM:") status >> kib;
    }
    return kib * 1024;
}

// Threads that ask hostile holders for descriptions and blobs until this goes.
class AskedFloods {
public:
    AskedFloods() {
        for (std::size_t i = 0; i < kHolders; ++i) {
            holders_.push_back(std::make_unique<test::FloodingHolder>());
            for (const bool describes : {true, false}) {
                askers_.emplace_back([this, describes, address = holders_.back()->address()] {
                    while (!over_) ask(address, describes);
                });
            }
        }
    }
    ~AskedFloods() {
        over_ = true;
        for (std::thread& one : askers_) one.join();
    }
    AskedFloods(const AskedFloods&) = delete;
    AskedFloods& operator=(const AskedFloods&) = delete;

    [[nodiscard]] std::uint64_t sent() const {
        std::uint64_t all = 0;
        for (const auto& one : holders_) all += one->sent();
        return all;
    }

private:
    static void ask(const std::string& address, bool describes) {
        const auto blobs = connect_blobs({.address = address, .deadline = 3s, .stall_timeout = 3s}).value();
        if (describes) {
            (void)blobs->describe({});
        } else {
            (void)blobs->fetch({}, 0, [](std::uint64_t, base::ByteView) { return true; });
        }
    }

    std::vector<std::unique_ptr<test::FloodingHolder>> holders_;
    std::atomic<bool> over_ = false;
    std::vector<std::thread> askers_;
};

}  // namespace

TEST_CASE("holders that flood a process leave its ledger's calls and honest holders' blobs alone") {
    HonestLedger ledger;
    HonestHolder holder;
    const auto node = serve_ledger(ledger, {});
    const auto honest = serve_blobs(holder, {});
    REQUIRE((node.ok() && honest.ok()));
    AskedFloods floods;
    std::this_thread::sleep_for(1500ms);
    const auto asked = connect_ledger({.address = (*node)->address(), .deadline = 2s}).value();
    const auto until = SteadyClock::now() + 6s;
    int calls = 0, answered = 0, blobs = 0, whole = 0;
    std::string why;
    const auto count = [&](const auto& answer, int& good) {
        if (answer.ok()) {
            ++good;
        } else {
            why = answer.error().what;
        }
    };
    while (SteadyClock::now() < until) {
        calls += 4;
        count(asked->status(), answered);
        count(asked->submit(base::Bytes{1}), answered);
        count(asked->block(1), answered);
        count(check_health({.address = (*node)->address(), .deadline = 2s}), answered);
        const auto from =
            connect_blobs({.address = (*honest)->address(), .deadline = 5s, .stall_timeout = 5s}).value();
        blobs += 2;
        count(from->describe({}), whole);
        std::uint64_t chunks = 0;
        const auto ended = from->fetch({}, 0, [&](std::uint64_t, base::ByteView chunk) {
            if (chunk.size() == kMiB) ++chunks;
            return true;
        });
        count(ended, whole);
        if (ended.ok()) REQUIRE(chunks == kChunks);
    }
    INFO("hostile holders sent " << floods.sent() / kMiB << " MiB, peak memory " << peak_memory() / kMiB
                                 << " MiB; the last error: " << why);
    CHECK(floods.sent() > kHolders * kMiB);
    CHECK(answered == calls);
    CHECK(whole == blobs);
    CHECK(calls >= 8);
    CHECK(peak_memory() < kCeiling * (2 * kHolders * 16 + 256) * kMiB);  // 16 MiB of each asker's channel
}

}  // namespace assay::node
