// SPDX-License-Identifier: Apache-2.0
// What a role has in front of it before it bids: a job that starts from given weights is taken at nobody's
// word.
#include "node/roles/job_bench.hpp"

#include <map>
#include <set>
#include <tuple>

#include "contracts/program/round_law.hpp"
#include "contracts/program/tensors.hpp"
#include "tests/contracts/rules/env.hpp"
#include "tests/node/roles/quiet_ports.hpp"
#include "tests/node/roles/slow_ports.hpp"
#include "tests/support/catch.hpp"

namespace assay::node {
namespace {

namespace frames = worker;
using contracts::test::bytes_of;
using test::HandClock;
using test::KeptLog;
using test::NoDisk;
using test::NoLedger;
using test::NoRandom;
using test::NoTimers;
using test::SlowBlobs;
using test::SlowStore;
using test::SlowWorker;

const BlobId kTrain = bytes_of("train tokens");
const BlobId kHeldOut = bytes_of("held-out tokens");
const BlobId kWeights = bytes_of("weights");

struct Bench {
    explicit Bench(bool from_file) : job(make_job("job", from_file)) {}

    static contracts::Job make_job(const std::string& name, bool from_file) {
        contracts::Job job;
        job.id = bytes_of(name);
        job.spec = contracts::test::small_job();
        job.spec.data.train = kTrain;
        job.spec.data.held_out = kHeldOut;
        if (from_file) job.spec.initial_blob = kWeights;
        job.base_root = job.spec.initial_root;
        job.base_blob = job.spec.initial_blob;
        job.buyer_endpoint = "127.0.0.1:1";
        return job;
    }

    bool vouched(Worker state_of_it = Worker::kFree) { return bench.vouched(state, job, state_of_it); }
    /// Everything that was asked for comes.
    void serve() {
        for (const auto& [request, id] : std::exchange(blobs.asked, {})) {
            store.here[id] = blobs.terms.at(id).pin;
            requests.answer(BlobFetched{request, id, {}});
        }
    }
    void pass_time() { clock.now += 10'000'000'000; }
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
    KeptLog log;
    SlowStore store;
    Requests requests;
    JobBench bench{{clock, random, timers, ledger, blobs, disk, worker, log}, store, requests, "test-chain"};
};

}  // namespace

TEST_CASE("a job from its seed is bid for at once") {
    Bench bench(false);
    CHECK(bench.vouched());
    CHECK(bench.blobs.asked.empty());
    CHECK(bench.worker.asked.empty());
}

TEST_CASE("what is fetched to look at a job that may go to others pins nothing") {
    Bench bench(true);
    CHECK_FALSE(bench.bench.prepared(bench.state, bench.job).has_value());
    REQUIRE_FALSE(bench.blobs.asked.empty());
    for (const auto& [request, id] : bench.blobs.asked)
        CHECK(bench.blobs.terms.at(id).pin == Pin::kEvictable);
    bench.serve();
    for (const auto& [id, pin] : bench.store.here) CHECK(pin == Pin::kEvictable);
}

TEST_CASE("a job from given weights is bid for once they are here and have the root that the spec names") {
    Bench bench(true);
    bench.reach_check();
    REQUIRE(bench.worker.bulk.size() == 1);
    CHECK(bench.worker.bulk.front() == bench.store.files.at(kWeights));
    bench.answer(frames::BaseStateFrame{bench.job.spec.initial_root}, bench.worker.bulk);
    CHECK(bench.vouched());
    // The round that follows starts from the same file, without another question.
    CHECK(bench.bench.ready(bench.state, bench.job) == bench.store.files.at(kWeights));
    CHECK(bench.bench.base_blob(bench.job) == kWeights);
    CHECK(bench.worker.asked.empty());
}

TEST_CASE("weights with another root than the spec names are refused, and the job with them") {
    Bench bench(true);
    bench.reach_check();
    bench.answer(frames::BaseStateFrame{bytes_of("another root")}, bench.worker.bulk);
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
    CHECK(bench.worker.asked.empty());  // not at once
    bench.pass_time();
    REQUIRE_FALSE(bench.vouched());
    bench.answer(frames::BaseStateFrame{bench.job.spec.initial_root}, bench.worker.bulk);
    CHECK(bench.vouched());
}

TEST_CASE("weights that nobody serves are waited for, without a bid and without the worker") {
    Bench bench(true);
    int asked = 0;
    for (int again = 0; again < 4; ++again) {
        REQUIRE_FALSE(bench.vouched());
        for (const auto& [request, id] : std::exchange(bench.blobs.asked, {})) {
            if (id != kWeights) {
                bench.store.here[id] = Pin::kEvictable;
                bench.requests.answer(BlobFetched{request, id, {}});
                continue;
            }
            ++asked;
            bench.requests.answer(
                BlobFetched{request, id, base::fail(base::ErrorKind::kNotFound, "no holder has it")});
        }
        bench.clock.now += 10'000'000'000;
    }
    CHECK(asked == 4);
    CHECK(bench.worker.asked.empty());
}

TEST_CASE("a blob that nobody serves is asked for less and less for bidding, every second for work") {
    const Pin pin = GENERATE(Pin::kEvictable, Pin::kPinned);
    CAPTURE(pin == Pin::kPinned);
    Bench bench(true);
    BlobWants& wants = bench.bench.wants();
    const auto asked_at = [&] {  // seconds, over three minutes
        std::vector<std::uint64_t> seconds;
        const std::uint64_t start = bench.clock.now;
        for (std::uint64_t second = 0; second < 180; ++second) {
            bench.clock.now = start + second * 1'000'000'000;
            CHECK_FALSE(wants.here(kWeights, {}, {.size = {}, .pin = pin}));
            for (const auto& [request, id] : std::exchange(bench.blobs.asked, {})) {
                seconds.push_back(second);
                bench.requests.answer(
                    BlobFetched{request, id, base::fail(base::ErrorKind::kNotFound, "no holder has it")});
            }
        }
        return seconds;
    };
    const auto seconds = asked_at();
    if (pin == Pin::kPinned) {
        CHECK(seconds.size() == 180);
    } else {
        CHECK(seconds == std::vector<std::uint64_t>{0, 1, 3, 7, 15, 31, 63, 123});
    }
    CHECK(wants.tries(kWeights).unserved == (pin == Pin::kPinned ? 180U : 0U));
}

TEST_CASE("what one party does not give is not counted against another that owes the same blob") {
    Bench bench(true);
    BlobWants& wants = bench.bench.wants();
    const auto owed_by = [](std::uint8_t name) {
        FetchTerms terms;
        terms.owed_by.bytes.fill(name);
        return terms;
    };
    const FetchTerms mias = owed_by(1), moes = owed_by(2);
    CHECK_FALSE(wants.here(kWeights, {"mia"}, mias));
    CHECK_FALSE(wants.here(kTrain, {"mia"}, mias));
    CHECK_FALSE(wants.here(kWeights, {"moe"}, moes));
    REQUIRE(bench.blobs.asked.size() == 3);  // none waits for another's
    const auto [first, second, other] =
        std::tuple(bench.blobs.asked[0], bench.blobs.asked[1], bench.blobs.asked[2]);
    CHECK_FALSE(wants.tries(kWeights, mias.owed_by).asked_ns);
    bench.requests.answer(BlobAsked{first.first});
    bench.clock.now += 5;
    CHECK(wants.tries(kWeights, mias.owed_by).asked_ns == 5);
    CHECK(wants.tries(kTrain, mias.owed_by).asked_ns == 5);  // it waits for what she gives first
    CHECK_FALSE(wants.tries(kWeights, moes.owed_by).asked_ns);
    const auto fail_as = [&](RequestId request, FetchFault fault) {
        bench.requests.answer(
            BlobFetched{request, kWeights,
                        base::failed(FetchFailure({base::ErrorKind::kUnreachable, "not given", {}}, fault))});
    };
    fail_as(first.first, FetchFault::kNotServed);
    fail_as(other.first, FetchFault::kBusy);
    CHECK(wants.tries(kWeights, mias.owed_by).unserved == 1);
    CHECK(wants.tries(kWeights, moes.owed_by).unserved == 0);
    CHECK(wants.tries(kWeights, moes.owed_by).busy == 1);
    CHECK_FALSE(wants.tries(kWeights, mias.owed_by).asked_ns);
    CHECK_FALSE(wants.tries(kTrain, mias.owed_by).asked_ns);
}

TEST_CASE("a party that was gone for a while, and gives chunks, is forgiven once") {
    Bench bench(true);
    BlobWants& wants = bench.bench.wants();
    const auto ask = [&] {
        bench.clock.now += 1'000'000'000;
        CHECK_FALSE(wants.here(kWeights, {"mia"}, {}));
        return bench.blobs.asked.back().first;
    };
    const FetchFailure gone({base::ErrorKind::kUnreachable, "gone", {}}, FetchFault::kNotServed);
    for (int i = 0; i < 3; ++i) bench.requests.answer(BlobFetched{ask(), kWeights, base::failed(gone)});
    CHECK(wants.tries(kWeights).unserved == 3);
    for (const std::uint32_t failed : {0U, 1U, 2U}) {  // breaking off counts from then on
        bench.requests.answer(BlobArriving{ask()});
        CHECK(wants.tries(kWeights).unserved == failed);
        const RequestId at = bench.blobs.asked.back().first;
        bench.requests.answer(BlobFetched{at, kWeights, base::failed(gone)});
    }
}

TEST_CASE("what nobody asks for any more is forgotten, and what work still waits for is not") {
    Bench bench(true);
    BlobWants& wants = bench.bench.wants();
    const auto fail_all = [&] {
        for (const auto& [request, id] : std::exchange(bench.blobs.asked, {})) {
            bench.requests.answer(
                BlobFetched{request, id, base::fail(base::ErrorKind::kNotFound, "no holder has it")});
        }
    };
    for (std::uint8_t i = 0; i < 100; ++i) (void)wants.here(bytes_of("update " + std::to_string(i)), {}, {});
    CHECK_FALSE(wants.here(kWeights, {}, {}));
    fail_all();
    CHECK(wants.remembered() == 101);
    for (int minute = 0; minute < 11; ++minute) {
        bench.clock.now += 60'000'000'000;
        CHECK_FALSE(wants.here(kWeights, {}, {}));
        fail_all();
        wants.drop_all_but({});
    }
    CHECK(wants.remembered() == 1);
    CHECK(wants.tries(kWeights).unserved == 12);
    // One under way is remembered, however long it takes.
    CHECK_FALSE(wants.here(kTrain, {}, {}));
    bench.clock.now += 3'600'000'000'000;
    wants.drop_all_but({});
    CHECK(wants.remembered() == 1);
    CHECK(wants.tries(kWeights).unserved == 0);
    fail_all();
    CHECK(wants.tries(kTrain).unserved == 1);
}

TEST_CASE("a blob that the disk does not pin is not taken for one that stays") {
    Bench bench(false);
    bench.store.here[kTrain] = Pin::kEvictable;
    bench.store.disk_refuses = true;
    BlobWants& wants = bench.bench.wants();
    CHECK_FALSE(wants.here(kTrain, {}));
    CHECK(wants.here(kTrain, {}, {.size = {}, .pin = Pin::kEvictable}));
    CHECK(bench.blobs.asked.empty());  // it is here
    bench.store.disk_refuses = false;
    CHECK(wants.here(kTrain, {}));
    CHECK_FALSE(bench.store.is_evictable(kTrain));
}

TEST_CASE("a verifier that ends says what its worker said") {
    using enum frames::RefusalReason;
    const auto said = [](frames::Message message) {
        return not_done("a unit could not be replayed", WorkerAnswered{1, std::move(message), {}, true});
    };
    const base::Error machine = said(frames::Refusal{kMachine, "too little memory", "set ASSAY_MEMORY"});
    CHECK(machine.what == "a unit could not be replayed: too little memory");
    CHECK(machine.fix == "set ASSAY_MEMORY");
    CHECK(said(frames::Refusal{kInternal, "no memory"}).fix.find("assay doctor") != std::string::npos);
    CHECK(said(frames::Opened{}).what.find("something else") != std::string::npos);
}

TEST_CASE("only wrong bytes, wrong fields and too small a machine refuse a job for good") {
    using enum frames::RefusalReason;
    for (const auto reason : {kBadFrame, kNoJob, kBadRequest, kBadBytes, kCancelled, kNotSupported,
                              kDrillForbidden, kInternal, kDiverged, kMachine, kUnsound, kLost}) {
        const bool for_good = reason == kBadRequest || reason == kBadBytes || reason == kMachine ||
                              reason == kNotSupported || reason == kDrillForbidden;
        CAPTURE(frames::to_text(reason));
        Bench opening(true);
        REQUIRE_FALSE(opening.vouched());
        opening.serve();
        REQUIRE_FALSE(opening.vouched());
        opening.answer(frames::Refusal{reason, "said the worker"});
        if (for_good) {
            opening.check_refused();
        } else {
            opening.pass_time();
            opening.reach_check();
        }
        Bench checking(true);
        checking.reach_check();
        checking.answer(frames::Refusal{reason, "said the worker"});
        if (for_good) {
            checking.check_refused();
        } else {
            checking.pass_time();
            REQUIRE_FALSE(checking.vouched());
            REQUIRE(checking.worker.asked.size() == 1);
            // A worker that has lost the job is given it again; any other is asked the same question.
            CHECK(std::holds_alternative<frames::OpenJob>(checking.worker.asked.back().second) ==
                  (reason == kNoJob));
        }
    }
}

TEST_CASE("a job that was open is opened again after the worker was asked to open another") {
    Bench bench(false);
    const contracts::Job other = Bench::make_job("another job", false);
    REQUIRE_FALSE(bench.bench.ready(bench.state, bench.job).has_value());
    bench.serve();
    REQUIRE_FALSE(bench.bench.ready(bench.state, bench.job).has_value());
    bench.answer(frames::Opened{});
    REQUIRE_FALSE(bench.bench.ready(bench.state, bench.job).has_value());
    bench.answer(frames::BaseStateFrame{bench.job.spec.initial_root},
                 {frames::memory_file("state", base::as_bytes("state")).value()});
    REQUIRE(bench.bench.ready(bench.state, bench.job).has_value());
    // The worker drops its job before it looks at the next: a refusal leaves it with none.
    REQUIRE_FALSE(bench.bench.ready(bench.state, other).has_value());
    bench.answer(frames::Refusal{frames::RefusalReason::kMachine, "too little memory"});
    REQUIRE_FALSE(bench.bench.ready(bench.state, bench.job).has_value());
    REQUIRE(bench.worker.asked.size() == 1);
    const auto* open = std::get_if<frames::OpenJob>(&bench.worker.asked.back().second);
    REQUIRE(open != nullptr);
    CHECK(open->spec == bench.job.spec);
    bench.answer(frames::Opened{});
    CHECK(bench.bench.ready(bench.state, bench.job).has_value());
}

TEST_CASE("the spec says how large each blob is, and what is looked at before bidding is not pinned") {
    Bench bench(true);
    const program::JobSpec& spec = bench.job.spec;
    // The worker is at work: bytes come all the same, and nothing is asked of it.
    REQUIRE_FALSE(bench.vouched(Worker::kAtWork));
    REQUIRE(bench.blobs.asked.size() == 3);
    CHECK(bench.blobs.terms.at(kTrain).size == 1024 + 2 * spec.data.train_tokens);
    CHECK(bench.blobs.terms.at(kHeldOut).size == 1024 + 2 * spec.data.held_out_tokens);
    CHECK(bench.blobs.terms.at(kWeights).size == 16 + 8 * program::parameter_count(spec.model));
    for (const auto& [id, terms] : bench.blobs.terms) CHECK(terms.pin == Pin::kEvictable);
    bench.serve();
    REQUIRE_FALSE(bench.vouched(Worker::kAtWork));
    CHECK(bench.worker.asked.empty());
    bench.reach_check();
    bench.answer(frames::BaseStateFrame{spec.initial_root}, bench.worker.bulk);
    REQUIRE(bench.vouched());
    CHECK(bench.store.evictable().size() == 3);
    // Its round has work for this node: now they stay.
    REQUIRE(bench.bench.ready(bench.state, bench.job).has_value());
    CHECK(bench.store.evictable().empty());
}

TEST_CASE("the files of a job's states are fetched at the length that its model gives them") {
    const program::JobSpec spec = contracts::test::small_job();
    const std::uint64_t count = program::parameter_count(spec.model);
    CHECK(base_state_terms(spec).size == 16 + 8 * count);
    const auto arrays = program::strategy_of(spec).finalise_arrays;
    const StateTerms state = slot_terms(spec, arrays, Traffic::kCarried);
    CHECK(state.head_bytes == 8 + 8 + 8 + 1 + 4 + 3 * 65);
    CHECK(state.array_bytes == 4 * count);
    CHECK(state.arrays.size() == 3);
    CHECK(state.wanted.data() == arrays.data());
    CHECK_FALSE(state.aged);
    CHECK(state.traffic == Traffic::kCarried);
    // An update may be shorter: its codec judges that.
    CHECK(update_terms(spec).most == 8 + 8 * count);
    CHECK_FALSE(update_terms(spec).size);
}

TEST_CASE("work does not wait for bytes that another buyer serves slowly for its bidding") {
    Bench bench(true);
    REQUIRE_FALSE(bench.vouched());
    const auto slow = std::exchange(bench.blobs.asked, {});
    REQUIRE(slow.size() == 3);
    contracts::Job won = Bench::make_job("a job of the same data", false);
    REQUIRE_FALSE(bench.bench.ready(bench.state, won).has_value());
    REQUIRE(bench.blobs.asked.size() == 2);
    CHECK(bench.blobs.terms.at(kTrain).pin == Pin::kPinned);
    bench.serve();
    REQUIRE_FALSE(bench.bench.ready(bench.state, won).has_value());
    REQUIRE(bench.worker.asked.size() == 1);
    // What comes late changes nothing about what is here.
    for (const auto& [request, id] : slow) bench.requests.answer(BlobFetched{request, id, {}});
    CHECK_FALSE(bench.store.is_evictable(kTrain));
}

TEST_CASE("blobs of a refused job and of one that others won are dropped, those of open bidding are not") {
    contracts::test::Env env;
    env.miner("m1");
    env.verifier("v1");
    env.verifier("v2");
    Bench bench(true);
    bench.job = env.job(env.post(bench.job.spec));
    const base::PublicKey me = env.person("m1").node_key();
    const base::PublicKey stranger = env.person("stranger").node_key();
    const auto tidy = [&](const base::PublicKey& node) {
        bench.bench.tidy(env.state(), ++bench.clock.now, node);
    };

    REQUIRE_FALSE(bench.vouched());
    bench.serve();
    bench.store.here[bytes_of("a base of an ended job")] = Pin::kPinned;
    tidy(stranger);
    CHECK(bench.store.here.size() == 4);  // bidding may still be won
    // What no running round needs is served until its room is needed.
    CHECK(bench.store.is_evictable(bytes_of("a base of an ended job")));

    env.hold_auction(bench.job.id, {{"m1", 1}}, {"v1", "v2"});
    tidy(me);
    CHECK(bench.store.here.size() == 4);
    tidy(stranger);
    CHECK(bench.store.here.size() == 1);

    REQUIRE_FALSE(bench.vouched());
    bench.serve();
    REQUIRE_FALSE(bench.vouched());
    bench.answer(frames::Refusal{frames::RefusalReason::kBadBytes, "no tokens of this vocabulary"});
    tidy(me);
    CHECK(bench.store.here.size() == 1);
    CHECK(bench.store.has(bytes_of("a base of an ended job")));

    // A job made of blobs that are kept for other reasons takes none of them with it.
    Bench thief(true);
    for (const BlobId& blob : {kTrain, kHeldOut, kWeights}) thief.store.here[blob] = Pin::kPinned;
    thief.reach_check();
    thief.answer(frames::Refusal{frames::RefusalReason::kBadBytes, "it has outer momentum"});
    thief.bench.tidy(env.state(), 1, me);
    CHECK(thief.store.here.size() == 3);
    CHECK(thief.store.evictable().empty());
}

TEST_CASE("data that was fetched before bidding and then worked with is served after the job, not dropped") {
    contracts::test::Env env;
    env.miner("m1");
    env.verifier("v1");
    env.verifier("v2");
    Bench bench(false);
    bench.job = env.job(env.post(bench.job.spec));
    REQUIRE_FALSE(bench.bench.gather(env.state(), bench.job, Pin::kEvictable));
    bench.serve();
    REQUIRE(bench.bench.gather(env.state(), bench.job, Pin::kEvictable));
    env.hold_auction(bench.job.id, {{"m1", 1}}, {"v1", "v2"});
    REQUIRE(bench.bench.gather(env.state(), env.job(bench.job.id)));
    bench.bench.tidy(env.state(), ++bench.clock.now, env.person("v1").node_key());
    CHECK(bench.store.evictable().empty());

    const contracts::test::Env without_jobs;
    bench.bench.tidy(without_jobs.state(), ++bench.clock.now, env.person("v1").node_key());
    CHECK(bench.store.evictable().size() == 2);  // an audit needs them
}

}  // namespace assay::node
