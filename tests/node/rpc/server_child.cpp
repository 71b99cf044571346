// SPDX-License-Identifier: Apache-2.0
// A server in a process of its own, to be abused: both listeners of node/rpc with their production limits,
// and the self-probe. Arguments: folder, open-file limit (0: as it is). Writes "LEDGER BLOBS" (addresses) to
// FOLDER/ready and serves until it is killed.
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "node/rpc/self_probe.hpp"
#include "node/rpc/server.hpp"

namespace {

using namespace assay;

base::Failed<base::Error> nothing_here() {
    return base::fail(base::ErrorKind::kNotFound, "this server holds nothing", "ask another");
}

class EmptyLedger final : public node::LedgerService {
public:
    node::Outcome<node::SubmitReply> submit(node::ByteView) override { return node::SubmitReply{}; }
    node::Outcome<node::StateValue> get(node::ByteView) override { return node::StateValue{}; }
    node::Outcome<node::StatePage> scan(const node::ScanRequest&) override { return node::StatePage{}; }
    node::Outcome<node::Bytes> block(std::uint64_t) override { return nothing_here(); }
    node::Outcome<node::LedgerStatus> status() override {
        return node::LedgerStatus{"abused", 1, {}, {}, "0"};
    }
    node::Outcome<void> subscribe(std::uint64_t, std::stop_token, const node::BlockHandler&) override {
        return nothing_here();
    }
};

class EmptyBlobs final : public node::BlobService {
public:
    base::Outcome<node::BlobDescription> describe(const node::BlobId&) override { return nothing_here(); }
    base::Outcome<void> fetch(const node::BlobId&, std::uint64_t, const node::ChunkHandler&) override {
        return nothing_here();
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
    EmptyLedger ledger;
    EmptyBlobs blobs;
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
