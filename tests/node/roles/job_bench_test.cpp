// SPDX-License-Identifier: Apache-2.0
// What a role has in front of it before it bids: a job that starts from given weights is taken at nobody's
// word.
#include "node/roles/job_bench.hpp"

#include <set>

#include "tests/contracts/rules/env.hpp"
#include "tests/support/catch.hpp"

namespace assay::node {
namespace {

namespace frames = trainer::worker;
using contracts::test::bytes_of;

struct HandClock final : Clock {
    [[nodiscard]] std::uint64_t mono_ns() const override { return now; }
    [[nodiscard]] std::int64_t wall_ms() const override { return 0; }
    std::uint64_t now = 0;
};
struct NoRandom final : Random {
    void fill(std::span<std::uint8_t>) override { FAIL("nothing here is random"); }
};
struct NoTimers final : Timers {
    TimerId at(std::uint64_t) override { return 1; }
    void cancel(TimerId) override {}
};
struct NoLedger final : LedgerPort {
    void submit(RequestId, Bytes) override { FAIL("the bench submits nothing"); }
    void get(RequestId, Bytes) override { FAIL("the bench reads the followed state only"); }
    void scan(RequestId, Bytes) override { FAIL("the bench reads the followed state only"); }
    void subscribe(std::uint64_t) override { FAIL("the bench does not subscribe"); }
};
struct NoDisk final : DiskPort {
    Outcome<void> write(std::string_view, ByteView) override { return {}; }
    Outcome<std::optional<Bytes>> read(std::string_view) override { return std::optional<Bytes>(); }
    Outcome<void> remove(std::string_view) override { return {}; }
};
// Peers and the worker answer when the test says so.
struct SlowBlobs final : BlobPort {
    void fetch(RequestId request, const BlobId& id, std::vector<Endpoint>) override {
        asked.emplace_back(request, id);
    }
    std::vector<std::pair<RequestId, BlobId>> asked;
};
struct SlowWorker final : WorkerPort {
    void submit(RequestId request, frames::Message message, std::vector<SharedDescriptor> files) override {
        asked.emplace_back(request, std::move(message));
        bulk = std::move(files);
    }
    void cancel(RequestId) override {}
    std::vector<std::pair<RequestId, frames::Message>> asked;
    std::vector<SharedDescriptor> bulk;  ///< of the newest request
};
/// Every blob is a file of its own.
struct Store final : BlobFiles {
    base::Outcome<BlobId> put(const SharedDescriptor& file) override {
        here.insert(bytes_of("computed"));
        files[bytes_of("computed")] = file;
        return bytes_of("computed");
    }
    base::Outcome<SharedDescriptor> open(const BlobId& id) override {
        if (!files.contains(id)) files[id] = frames::memory_file("blob", id.view()).value();
        return files.at(id);
    }
    [[nodiscard]] bool has(const BlobId& id) const override { return here.contains(id); }
    void drop(const BlobId& id) override { here.erase(id); }
    std::set<BlobId> here;
    std::map<BlobId, SharedDescriptor> files;
};

const BlobId kTrain = bytes_of("train tokens");
const BlobId kHeldOut = bytes_of("held-out tokens");
const BlobId kWeights = bytes_of("weights");

struct Bench {
    explicit Bench(bool from_file) {
        job.id = bytes_of("job");
        job.spec = contracts::test::small_job();
        job.spec.data.train = kTrain;
        job.spec.data.held_out = kHeldOut;
        if (from_file) job.spec.initial_blob = kWeights;
        job.base_root = job.spec.initial_root;
        job.base_blob = job.spec.initial_blob;
        job.buyer_endpoint = "127.0.0.1:1";
    }

    bool vouched() { return bench.vouched(state, job); }
    /// Everything that was asked for comes.
    void serve() {
        for (const auto& [request, id] : std::exchange(blobs.asked, {})) {
            store.here.insert(id);
            requests.answer(BlobFetched{request, id, {}});
        }
    }
    void answer(frames::Message message, std::vector<SharedDescriptor> bulk = {}) {
        REQUIRE_FALSE(worker.asked.empty());
        const RequestId request = worker.asked.back().first;
        worker.asked.pop_back();
        requests.answer(WorkerAnswered{request, std::move(message), std::move(bulk), true});
    }
    /// Fetched and opened: the worker has been asked for the first state.
    void reach_check() {
        REQUIRE_FALSE(vouched());
        serve();
        REQUIRE_FALSE(vouched());
        REQUIRE(std::holds_alternative<frames::OpenJob>(worker.asked.back().second));
        answer(frames::Opened{});
        REQUIRE_FALSE(vouched());
        REQUIRE(worker.asked.size() == 1);
        REQUIRE(std::holds_alternative<frames::Initial>(worker.asked.back().second));
    }
    /// Whatever happens from here on, nobody is asked again.
    void check_refused() {
        for (int again = 0; again < 3; ++again) {
            clock.now += 10'000'000'000;
            REQUIRE_FALSE(vouched());
            REQUIRE_FALSE(bench.ready(state, job).has_value());
        }
        REQUIRE(worker.asked.empty());
        REQUIRE(blobs.asked.empty());
    }

    contracts::MemoryState state;
    contracts::Job job;
    HandClock clock;
    NoRandom random;
    NoTimers timers;
    NoLedger ledger;
    NoDisk disk;
    SlowBlobs blobs;
    SlowWorker worker;
    Store store;
    Requests requests;
    JobBench bench{{clock, random, timers, ledger, blobs, disk, worker}, store, requests, "test-chain"};
};

}  // namespace

TEST_CASE("a job from its seed is bid for at once") {
    Bench bench(false);
    CHECK(bench.vouched());
    CHECK(bench.blobs.asked.empty());
    CHECK(bench.worker.asked.empty());
}

TEST_CASE("a job from given weights is bid for once they are here and have the root that the spec names") {
    Bench bench(true);
    bench.reach_check();
    REQUIRE(bench.worker.bulk.size() == 1);
    CHECK(bench.worker.bulk.front() == bench.store.files.at(kWeights));
    bench.answer(frames::BaseState{bench.job.spec.initial_root}, bench.worker.bulk);
    CHECK(bench.vouched());
    // The round that follows starts from the same file, without another question.
    CHECK(bench.bench.ready(bench.state, bench.job) == bench.store.files.at(kWeights));
    CHECK(bench.bench.base_blob(bench.job) == kWeights);
    CHECK(bench.worker.asked.empty());
}

TEST_CASE("weights with another root than the spec names are refused, and the job with them") {
    Bench bench(true);
    bench.reach_check();
    bench.answer(frames::BaseState{bytes_of("another root")}, bench.worker.bulk);
    bench.check_refused();
}

TEST_CASE("bytes that are no first state of this model are refused, and the job with them") {
    Bench bench(true);
    bench.reach_check();
    bench.answer(frames::Refusal{frames::RefusalReason::kBadBytes, "a number that is not finite"});
    bench.check_refused();
}

TEST_CASE("a failure of our own refuses nobody") {
    Bench bench(true);
    bench.reach_check();
    bench.answer(frames::Refusal{frames::RefusalReason::kInternal, "the worker ended"});
    REQUIRE_FALSE(bench.vouched());
    bench.answer(frames::BaseState{bench.job.spec.initial_root}, bench.worker.bulk);
    CHECK(bench.vouched());
}

TEST_CASE("weights that nobody serves are waited for, without a bid and without the worker") {
    Bench bench(true);
    for (int again = 0; again < 4; ++again) {
        REQUIRE_FALSE(bench.vouched());
        for (const auto& [request, id] : std::exchange(bench.blobs.asked, {})) {
            if (id != kWeights) {
                bench.store.here.insert(id);
                bench.requests.answer(BlobFetched{request, id, {}});
                continue;
            }
            bench.requests.answer(
                BlobFetched{request, id, base::fail(base::ErrorKind::kNotFound, "no holder has it")});
        }
        bench.clock.now += 10'000'000'000;
    }
    CHECK(bench.bench.wants().failures(kWeights) == 4);
    CHECK(bench.worker.asked.empty());
}

}  // namespace assay::node
