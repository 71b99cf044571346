// SPDX-License-Identifier: Apache-2.0
#include "node/worker/worker_process.hpp"

#include <linux/landlock.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <future>
#include <mutex>
#include <thread>

#include "contracts/program/round_law.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/program/state_head.hpp"
#include "contracts/worker/self_test.hpp"
#include "node/worker/local_training.hpp"
#include "node/worker/program/call_filter.hpp"
#include "node/worker/program/self_test.hpp"
#include "node/worker/worker_report.hpp"
#include "tests/node/worker/worker_calls.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tiny_job.hpp"

using namespace assay;
using namespace assay::node;
using namespace assay::node::test_worker;

namespace {

base::Error why_not_opened(const WorkerOptions& how) {
    const auto worker = started(how);
    const tests::TinyJob job = tests::tiny_job();
    const auto file = in_memory(job.file);
    const auto answer = call(*worker, frames::OpenJob{"local", job.spec}, {file, file});
    REQUIRE_FALSE(answer.ok());
    return answer.error();
}

/// Holds the calling thread to as many Landlock restrictions as the kernel takes, each of which forbids next
/// to nothing. False without Landlock.
bool restrict_often() {
    constexpr int kMost = 16;
    landlock_ruleset_attr attributes{};
    attributes.handled_access_fs = LANDLOCK_ACCESS_FS_MAKE_BLOCK;
    const auto rules =
        static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0));
    if (rules < 0 || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
    bool held = true;
    for (int i = 0; i < kMost; ++i) held = held && ::syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    ::close(rules);
    return held;
}

}  // namespace

TEST_CASE("a worker says what it is and passes its self-test") {
    const auto worker = started();
    const frames::Hello hello = worker->hello();
    CHECK(hello.version == frames::kProtocolVersion);
    CHECK(hello.self_test == frames::self_test_golden());
    CHECK(hello.threads == 1);
    REQUIRE_FALSE(hello.targets.empty());
    CHECK(hello.targets.back() == "scalar");
    CHECK(worker->pid() > 0);
}

TEST_CASE("a missing worker program and an unknown target are told with a fix") {
    WorkerOptions missing = options();
    missing.program = "/nonexistent/assay-worker";
    const auto none = WorkerProcess::start(missing);
    REQUIRE_FALSE(none.ok());
    CHECK(none.error().kind == base::ErrorKind::kNotFound);
    CHECK_FALSE(none.error().fix.empty());
    WorkerOptions wrong = options();
    wrong.targets = "abacus";
    const auto refused = WorkerProcess::start(wrong);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().what.find("abacus") != std::string::npos);
    CHECK(refused.error().kind == base::ErrorKind::kUsage);
    CHECK(refused.error().fix.find("scalar") != std::string::npos);
}

TEST_CASE("a worker computes on the device that is named, and one that is not there is told with a fix") {
    WorkerOptions how = options();
    how.device = "reference";
    CHECK(started(how)->hello().self_test == frames::self_test_golden());
    how.device = "gpu";
    const auto refused = WorkerProcess::start(how);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().kind == base::ErrorKind::kPreflight);
    CHECK(refused.error().what.find("device 'gpu' is not there") == 0);
    CHECK(refused.error().fix == "use one of: cpu, reference, cuda-host, or cuda:N for an NVIDIA card");
    how.device = "cuda:9999";
    const auto card = WorkerProcess::start(how);
    REQUIRE_FALSE(card.ok());
    CHECK(card.error().kind == base::ErrorKind::kPreflight);
    CHECK(card.error().what.find("cuda:9999 is not there: ") == 0);
    CHECK_FALSE(card.error().fix.empty());
}

TEST_CASE("a self-test that cannot be computed says why, and so does whoever looks for the difference") {
    trainer::RunnerOptions nowhere;
    nowhere.device.name = "gpu";
    const auto root = verifier::self_test_root(nowhere);
    REQUIRE_FALSE(root.ok());
    CHECK(root.error().kind == base::ErrorKind::kPreflight);
    CHECK(root.error().what.find("device 'gpu' is not there") == 0);
    CHECK(verifier::self_test_difference(nowhere) ==
          "a step that cannot be computed (" + root.error().what + ")");
}

TEST_CASE("a refusal keeps its kind and its fix on the way from the worker") {
    WorkerOptions how = options();
    how.memory = "much";
    const auto amount = WorkerProcess::start(how);
    REQUIRE_FALSE(amount.ok());
    CHECK(amount.error().kind == base::ErrorKind::kUsage);
    CHECK(amount.error().what.find("ASSAY_MEMORY") != std::string::npos);
    CHECK(amount.error().fix == "write it like 2GiB or 512MiB");
    how.memory = "4KiB";
    const base::Error opened = why_not_opened(how);
    CHECK(opened.kind == base::ErrorKind::kPreflight);
    CHECK(opened.what.find("cannot hold one sequence") != std::string::npos);
    CHECK(opened.fix.starts_with("give at least "));
}

TEST_CASE("a worker that cannot confine itself computes nothing, and says what the kernel refuses") {
    base::Outcome<void> served, tested;
    bool restricted = false;
    const WorkerOptions how = options();
    // Landlock's restrictions are of a thread and of what it starts; the kernel takes 16, one in another.
    std::thread([&] {
        restricted = restrict_often();
        const auto worker = WorkerProcess::start(how);
        if (!worker.ok()) served = base::failed(worker.error());
        const auto report = run_self_test(how);
        if (!report.ok()) tested = base::failed(report.error());
    }).join();
    if (!restricted) {
        WARN("this kernel has no Landlock: nothing refuses a worker's confinement here");
        return;
    }
    for (const auto* refused : {&served, &tested}) {
        REQUIRE_FALSE(refused->ok());
        CHECK(refused->error().kind == base::ErrorKind::kFailure);
        CHECK(refused->error().what.find("the worker cannot confine itself: the kernel refuses Landlock's") ==
              0);
        CHECK(refused->error().fix.find("outside of whatever sandbox") != std::string::npos);
    }
}

TEST_CASE("whoever starts a worker is told what this machine refuses of its confinement") {
    base::Outcome<std::vector<base::Error>> lacks = std::vector<base::Error>();
    bool filtered = false;
    // A filter is of a thread and of what it starts.
    std::thread([&] {
        filtered = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                   worker::hold_to_calls({{SYS_unshare}, {SYS_seccomp}}) == 0;
        lacks = list_lacks(options());
    }).join();
    REQUIRE(filtered);
    REQUIRE(lacks.ok());
    REQUIRE(lacks->size() >= 2);
    CHECK(lacks->at(0).what.find("reaches the network: the kernel refuses it a network namespace") !=
          std::string::npos);
    CHECK(lacks->at(1).what.find("the kernel refuses it a filter of calls (Operation not permitted)") !=
          std::string::npos);
    CHECK_FALSE(lacks->at(0).fix.empty());
}

TEST_CASE("the memory of a card is a budget of its own") {
    WorkerOptions how = options();
    how.device = "cuda-host";
    how.device_memory = "much";
    const auto amount = WorkerProcess::start(how);
    REQUIRE_FALSE(amount.ok());
    CHECK(amount.error().kind == base::ErrorKind::kUsage);
    CHECK(amount.error().what.find("ASSAY_DEVICE_MEMORY") != std::string::npos);
    how.device_memory = "4KiB";
    const base::Error opened = why_not_opened(how);
    CHECK(opened.kind == base::ErrorKind::kPreflight);
    CHECK(opened.what.find("on cuda-host, which has 4.0 KiB") != std::string::npos);
}

TEST_CASE("a request without a job is refused by name") {
    const auto worker = started();
    const auto answer = call(*worker, frames::Initial{}, {});
    REQUIRE_FALSE(answer.ok());
    CHECK(answer.error().what.find("no job") != std::string::npos);
    const auto progress = call(*worker, frames::Progress{}, {});
    CHECK_FALSE(progress.ok());
}

TEST_CASE("a worker trains, replays every unit, merges and evaluates") {
    const tests::TinyJob job = tests::tiny_job();
    const auto worker = started();
    const StateFile base = opened(*worker, job);
    const TrainLog log = train(*worker, base);
    CHECK(log.boundaries == std::vector<std::uint32_t>{1, 2, 3});
    CHECK(program::is_well_formed(log.trained.trace, job.spec));
    for (std::uint32_t unit = 0; unit < program::RoundPlan(job.spec).units(); ++unit) {
        frames::Replay replay;
        replay.unit = unit;
        replay.base_root = base.root;
        if (unit > 0) replay.start_root = log.trained.trace.boundaries[unit];
        replay.want_end_state = true;
        std::vector<frames::SharedDescriptor> bulk;
        if (unit == 0 || unit == 3) bulk.push_back(base.bytes);
        const auto arrays = program::RoundPlan(job.spec).start(unit).arrays;
        if (unit > 0) {
            const auto state =
                program::narrowed(log.states[unit - 1], program::strategy_of(job.spec).lane_arrays, arrays);
            REQUIRE(state.size() == (unit == 3 ? 2 : 4));  // `finalise` needs no moment
            bulk.insert(bulk.end(), state.begin(), state.end());
        }
        const auto answer = call_for<frames::Replayed>(*worker, replay, bulk);
        REQUIRE(answer.ok());
        INFO("unit " << unit << ": " << answer->first.why);
        CHECK(answer->first.verdict == frames::UnitVerdict::kComputed);
        CHECK(answer->first.parts == worker::claimed_parts(log.trained.trace, job.spec, unit));
        const auto wanted = unit == 3 ? std::vector{log.update} : log.states[unit];
        REQUIRE(answer->second.size() == wanted.size());
        for (std::size_t i = 0; i < wanted.size(); ++i)
            CHECK(content(answer->second[i]) == content(wanted[i]));
    }
    // A base that is not the round's gives no unit, and says so.
    frames::Replay elsewhere;
    elsewhere.base_root = log.trained.trace.boundaries[1];
    const auto misled = call_for<frames::Replayed>(*worker, elsewhere, {base.bytes});
    REQUIRE(misled.ok());
    CHECK(misled->first.verdict == frames::UnitVerdict::kUnavailable);
    CHECK(misled->first.parts == worker::UnitParts{});
    CHECK(misled->first.why == "the base state here has root " + base.root.brief() + ", the round's has " +
                                   elsewhere.base_root.brief());
    frames::Merge merge;
    merge.accepted = {{0, 1, log.trained.trace.update}};
    const auto merged = call_for<frames::BaseStateFrame>(*worker, merge, {base.bytes, log.update});
    REQUIRE(merged.ok());
    CHECK(merged->first.root != base.root);
    const auto rooted = call_for<frames::Rooted>(*worker, frames::Root{frames::BulkKind::kBaseState},
                                                 {merged->second.front()});
    REQUIRE(rooted.ok());
    CHECK(rooted->first.root == merged->first.root);
    const auto before = evaluate_state(*worker, base.bytes, 0);
    const auto after = evaluate_state(*worker, merged->second.front(), 0);
    REQUIRE(before.ok());
    REQUIRE(after.ok());
    CHECK(after->loss < before->loss);
}

TEST_CASE("an update that is not the accepted one is not merged") {
    const tests::TinyJob job = tests::tiny_job();
    const auto worker = started();
    const StateFile base = opened(*worker, job);
    const TrainLog log = train(*worker, base);
    base::Bytes altered = content(log.update);
    altered[8] ^= 1;
    frames::Merge merge;
    merge.accepted = {{0, 1, log.trained.trace.update}};
    const auto merged = call(*worker, merge, {base.bytes, in_memory(altered)});
    REQUIRE_FALSE(merged.ok());
    CHECK(merged.error().kind == base::ErrorKind::kVerification);
}

TEST_CASE("a worker killed in the middle of a step goes on from its last boundary with the same bits") {
    const tests::TinyJob job = tests::tiny_job();
    const auto worker = started();
    const StateFile base = opened(*worker, job);
    const TrainLog quiet = train(*worker, base);
    for (const std::uint32_t victim : {0U, 1U, 3U, 4U}) {  // before the first boundary and after each
        const unsigned deaths = worker->deaths();
        bool killed = false;
        const TrainLog disturbed = train(*worker, base, [&](const WorkerEvent& event) {
            const auto* step = std::get_if<frames::Progress>(&event.message);
            if (step == nullptr || step->step != victim || killed) return;
            killed = true;
            ::kill(worker->pid(), SIGKILL);
        });
        INFO("killed after step " << victim);
        CHECK(killed);
        CHECK(worker->deaths() >= deaths);  // a very fast worker may have answered before it died
        CHECK(disturbed.boundaries == quiet.boundaries);
        CHECK(disturbed.trained.trace == quiet.trained.trace);
        CHECK(content(disturbed.update) == content(quiet.update));
    }
    REQUIRE(initial_state(*worker).ok());
    CHECK(worker->deaths() > 0);
}

TEST_CASE("a role that was restarted itself resumes from a boundary it kept") {
    const tests::TinyJob job = tests::tiny_job();
    const auto worker = started();
    const StateFile base = opened(*worker, job);
    frames::Train request = train_request(0);
    program::TraceRecord kept;
    std::vector<frames::SharedDescriptor> start{base.bytes};
    const auto whole =
        call_for<frames::Trained>(*worker, request, {base.bytes}, [&](const WorkerEvent& event) {
            const auto* boundary = std::get_if<frames::Boundary>(&event.message);
            if (boundary == nullptr || boundary->index != 2) return;
            kept = boundary->so_far;
            start.insert(start.end(), event.bulk.begin(), event.bulk.end());
        });
    REQUIRE(whole.ok());
    request.resume = kept;
    std::vector<std::uint32_t> steps;
    const auto rest = call_for<frames::Trained>(*worker, request, start, [&](const WorkerEvent& event) {
        if (const auto* step = std::get_if<frames::Progress>(&event.message)) steps.push_back(step->step);
    });
    REQUIRE(rest.ok());
    CHECK(rest->first.trace == whole->first.trace);
    CHECK(steps == std::vector<std::uint32_t>{4});
    const auto refused = [&](const std::vector<frames::SharedDescriptor>& bulk) {
        const auto wrong = call(*worker, request, bulk);
        REQUIRE_FALSE(wrong.ok());
        return wrong.error();
    };
    CHECK(refused({base.bytes, base.bytes}).kind == base::ErrorKind::kVerification);
    auto mixed = start;
    mixed.push_back(base.bytes);
    CHECK(refused(mixed).what.find("6 files where it needs 5") != std::string::npos);
    mixed = start;
    std::swap(mixed[2], mixed[3]);  // arrays in another order have other roots
    CHECK(refused(mixed).kind == base::ErrorKind::kVerification);
    mixed = start;
    mixed[4] = in_memory(base::Bytes(content(start[4]).size() - 4));
    CHECK(refused(mixed).kind == base::ErrorKind::kVerification);
    mixed.pop_back();
    CHECK(refused(mixed).what.find("an array of a state is missing") != std::string::npos);
}

TEST_CASE("a worker whose job cannot be opened again opens another one") {
    const tests::TinyJob job = tests::tiny_job();
    const test::TemporaryFolder folder;
    const std::string path = (folder / "tokens").string();
    const auto write = [&](const base::Bytes& bytes) {
        std::ofstream(path, std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    };
    write(job.file);
    const auto worker = started();
    const auto tokens = frames::open_file(path).value();
    const frames::OpenJob request{"devnet-1", job.spec};
    REQUIRE(call_for<frames::Opened>(*worker, request, {tokens, tokens}).ok());
    write(base::Bytes(job.file.size(), 0));  // as if its disk had lost it
    const auto whole = in_memory(job.file);
    std::promise<WorkerEvent> last;
    stop(*worker);
    worker->submit(request, {whole, whole}, [&](const WorkerEvent& event) {
        if (event.last) last.set_value(event);
    });
    REQUIRE(::kill(worker->pid(), SIGKILL) == 0);
    auto answer = last.get_future();
    REQUIRE(answer.wait_for(std::chrono::minutes(10)) == std::future_status::ready);
    CHECK(std::holds_alternative<frames::Opened>(answer.get().message));
    CHECK(worker->deaths() == 1);
    CHECK(initial_state(*worker).ok());
}

TEST_CASE("a request that kills every worker is given up with a reason, and the next one is served") {
    const tests::TinyJob job = tests::tiny_job();
    WorkerOptions how = options();
    how.max_deaths = 2;
    const auto worker = started(how);
    const StateFile base = opened(*worker, job);
    const auto answer = call(*worker, train_request(0), {base.bytes}, [&](const WorkerEvent& event) {
        const auto* step = std::get_if<frames::Progress>(&event.message);
        if (step != nullptr && step->step == 0) ::kill(worker->pid(), SIGKILL);
    });
    if (!answer.ok()) CHECK(answer.error().what.find("2 times in a row") != std::string::npos);
    CHECK(initial_state(*worker).ok());
}

TEST_CASE("drills are refused outside a devnet and run inside one") {
    const tests::TinyJob job = tests::tiny_job();
    const auto worker = started();
    frames::Train request = train_request(0);
    request.drills = {{frames::DrillKind::kFlip, 1, "wte.weight", 3, 7}};
    {
        const StateFile base = opened(*worker, job, "mainnet");
        const auto refused = call(*worker, request, {base.bytes});
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.error().what.find("devnet") != std::string::npos);
    }
    const StateFile base = opened(*worker, job, "devnet-7");
    const TrainLog honest = train(*worker, base);
    std::vector<frames::SharedDescriptor> start;
    const auto drilled =
        call_for<frames::Trained>(*worker, request, {base.bytes}, [&](const WorkerEvent& event) {
            const auto* boundary = std::get_if<frames::Boundary>(&event.message);
            if (boundary != nullptr && boundary->index == 1) start = event.bulk;
        });
    REQUIRE(drilled.ok());
    CHECK(drilled->first.trace.boundaries[1] == honest.trained.trace.boundaries[1]);
    CHECK(drilled->first.trace.boundaries[2] != honest.trained.trace.boundaries[2]);
    frames::Replay replay;
    replay.unit = 1;
    replay.start_root = drilled->first.trace.boundaries[1];
    const auto verdict = call_for<frames::Replayed>(*worker, replay, start);
    REQUIRE(verdict.ok());
    CHECK(verdict->first.verdict == frames::UnitVerdict::kComputed);
    CHECK(verdict->first.parts.end_root == honest.trained.trace.boundaries[2]);
    CHECK(worker::name_difference(drilled->first.trace, job.spec, 1, verdict->first.parts)
              .starts_with("boundary 2: claimed root"));
}

TEST_CASE("a cancelled request gets one last answer and the worker stays usable") {
    tests::TinyJob job = tests::tiny_job();
    job.spec.train.inner_steps = 3000;
    job.spec.security.segment_steps = 1000;
    const auto worker = started();
    const StateFile base = opened(*worker, job);
    std::atomic<int> lasts = 0;
    std::promise<WorkerEvent> ended;
    std::atomic<WorkerRequestId> id = 0;
    std::atomic<bool> cancelled = false;
    id = worker->submit(train_request(0), {base.bytes}, [&](WorkerEvent event) {
        if (!event.last) {
            if (id != 0 && !cancelled.exchange(true)) worker->cancel(id);
            return;
        }
        ++lasts;
        ended.set_value(std::move(event));
    });
    const WorkerEvent last = ended.get_future().get();
    const auto* refusal = std::get_if<frames::Refusal>(&last.message);
    REQUIRE(refusal != nullptr);
    CHECK(refusal->reason == frames::RefusalReason::kCancelled);
    CHECK(initial_state(*worker).ok());
    CHECK(lasts == 1);
}

TEST_CASE("closing a client answers what is still at work") {
    tests::TinyJob job = tests::tiny_job();
    job.spec.train.inner_steps = 3000;
    job.spec.security.segment_steps = 1000;
    auto worker = started();
    const StateFile base = opened(*worker, job);
    std::atomic<int> lasts = 0;
    const auto count = [&](const WorkerEvent& event) { lasts += event.last ? 1 : 0; };
    worker->submit(train_request(0), {base.bytes}, count);
    worker->submit(train_request(1), {base.bytes}, count);
    worker.reset();
    CHECK(lasts == 2);
}

TEST_CASE("data that is not what the job names is refused") {
    const tests::TinyJob job = tests::tiny_job();
    const auto worker = started();
    base::Bytes altered = job.file;
    altered.back() ^= 1;
    const auto good = in_memory(job.file);
    const auto answer = call(*worker, frames::OpenJob{"devnet", job.spec}, {in_memory(altered), good});
    REQUIRE_FALSE(answer.ok());
    CHECK(answer.error().kind == base::ErrorKind::kVerification);
    program::JobSpec broken = job.spec;
    broken.model.heads = 3;
    const auto refused = call(*worker, frames::OpenJob{"devnet", broken}, {good, good});
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().what.find("heads") != std::string::npos);
}
