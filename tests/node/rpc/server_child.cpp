// SPDX-License-Identifier: Apache-2.0
// A server in a process of its own, to be abused: both listeners of node/rpc with their production limits,
// and the self-probe. Arguments: folder, open-file limit (0: as it is). Writes "LEDGER BLOBS" (addresses) to
// FOLDER/ready and serves until it is killed.
#include <sys/resource.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "node/rpc/self_probe.hpp"
#include "node/rpc/server.hpp"

namespace {

using namespace assay;

base::Failed<base::Error> nothing_here() {
    return base::fail(base::ErrorKind::kNotFound, "this server holds nothing", "ask another");
}

constexpr std::uint64_t kLongBlocks = 1'000'000;

// Every submission makes a block, whose events do not fit what a client may leave unread. From height
// kLongBlocks on it has blocks of 4 MiB, each another.
class GrowingLedger final : public node::LedgerService {
public:
    node::Outcome<node::SubmitReply> submit(node::ByteView) override {
        const std::lock_guard lock(mutex_);
        ++height_;
        grown_.notify_all();
        return node::SubmitReply{
            .accepted = true, .reason = 0, .reason_text = {}, .height = height_, .receipt = {}};
    }
    node::Outcome<node::StateValue> get(node::ByteView) override { return node::StateValue{}; }
    node::Outcome<node::StatePage> scan(const node::ScanRequest&) override {
        return node::StatePage{
            .height = 1, .state_root = {}, .entries = {{{}, node::Bytes(200 << 10)}}, .next = {}};
    }
    node::Outcome<node::Bytes> block(std::uint64_t height) override {
        const std::lock_guard lock(mutex_);
        if (height >= kLongBlocks) return node::Bytes(4U << 20U, static_cast<std::uint8_t>(height));
        if (height > height_) return nothing_here();
        return node::Bytes(200 << 10, static_cast<std::uint8_t>(height));
    }
    node::Outcome<node::LedgerStatus> status() override {
        const std::lock_guard lock(mutex_);
        return node::LedgerStatus{"abused", height_, {}, {}, "0"};
    }
    node::Outcome<void> subscribe(std::uint64_t from, std::stop_token stop,
                                  const node::BlockHandler& handler) override {
        for (std::uint64_t next = from;; ++next) {
            {
                std::unique_lock lock(mutex_);
                if (!grown_.wait(lock, stop, [&] { return height_ >= next; })) return {};
            }
            if (!handler({next, node::Bytes{1}, node::Bytes(200 << 10, 7)})) return {};
        }
    }

private:
    std::mutex mutex_;
    std::condition_variable_any grown_;
    std::uint64_t height_ = 1;
};

// Holds one blob under every name: sixteen chunks.
class Blobs final : public node::BlobService {
public:
    node::FetchOutcome<node::BlobDescription> describe(const node::BlobId&) override {
        return nothing_here();
    }
    node::FetchEnd fetch(const node::BlobId&, std::uint64_t first,
                         const node::ChunkHandler& handler) override {
        for (std::uint64_t index = first; index < 16; ++index) {
            if (!handler(index, base::Bytes(1U << 20U, static_cast<std::uint8_t>(index)))) return {};
        }
        return {};
    }
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    const std::filesystem::path folder = argv[1];
    if (const rlim_t files = std::strtoul(argv[2], nullptr, 10); files != 0) {
        const rlimit limit{files, files};
        if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return 2;
    }
    GrowingLedger ledger;
    Blobs blobs;
    const auto control = node::serve_ledger(ledger, {});
    const auto bulk = node::serve_blobs(blobs, {});
    if (!control || !bulk) return 2;
    // The product's probe, ten times as fast: a test cannot wait for the real intervals.
    const auto probe = node::start_self_probe({.client = {.address = (*control)->address()},
                                               .interval = std::chrono::milliseconds(200),
                                               .timeout = std::chrono::milliseconds(700),
                                               .failures_allowed = 2},
                                              [] { node::exit_deaf(); });
    std::ofstream(folder / "ready.new") << (*control)->address() << " " << (*bulk)->address() << "\n";
    std::filesystem::rename(folder / "ready.new", folder / "ready");
    while (true) pause();
}
