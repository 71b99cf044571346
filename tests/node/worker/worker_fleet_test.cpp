// SPDX-License-Identifier: Apache-2.0
// Several devices behind one client, real workers each: cuda-host, a GPU emulated, breaks in every way that a
// fault can be planted, and the processor goes on with what it had begun.
#include "node/worker/worker_fleet.hpp"

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>

#include "contracts/worker/self_test.hpp"
#include "node/worker/device_list.hpp"
#include "node/worker/local_training.hpp"
#include "tests/node/worker/worker_calls.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tiny_job.hpp"

using namespace assay;
using namespace assay::node;
using namespace assay::node::test_worker;

namespace {

/// What a fleet told of its devices.
class Told {
public:
    void add(const base::Error& what) {
        const std::lock_guard lock(mutex_);
        lines_.push_back(what.what);
    }
    [[nodiscard]] std::vector<std::string> lines() const {
        const std::lock_guard lock(mutex_);
        return lines_;
    }

private:
    mutable std::mutex mutex_;
    std::vector<std::string> lines_;
};

base::Outcome<std::unique_ptr<WorkerFleet>> fleet_of(const std::vector<std::string>& devices,
                                                     const std::string& fault, Told& told) {
    FleetOptions fleet;
    fleet.worker = options();
    if (fault.find("hangs") != std::string::npos) fleet.worker.least_patience = std::chrono::seconds(2);
    if (!fault.empty()) fleet.worker.environment = {{"ASSAY_DEVICE_FAULT", fault}};
    fleet.devices = devices;
    fleet.tell = [&told](const base::Error& what) { told.add(what); };
    return WorkerFleet::start(std::move(fleet));
}

/// The tiny job, and the trace of its slot 0 on one processor.
struct FleetStage {
    tests::TinyJob job = tests::tiny_job();
    program::TraceRecord alone;

    FleetStage() {
        auto worker = WorkerProcess::start(options());
        REQUIRE(worker.ok());
        const StateFile base = opened(**worker, job);
        const auto trained = call_for<frames::Trained>(**worker, train_request(0), {base.bytes});
        REQUIRE(trained.ok());
        alone = trained->first.trace;
    }
};

/// Trains slot 0 as a role does: asked again from the last boundary while a device fails.
struct Attempts {
    unsigned refused = 0;
    std::string text;              ///< of the first refusal
    std::uint32_t boundaries = 0;  ///< that were there when it came
    program::TraceRecord trace;
};
Attempts train_like_a_role(WorkerClient& worker, const StateFile& base) {
    Attempts attempts;
    frames::Train request = train_request(0);
    std::vector<frames::SharedDescriptor> bulk{base.bytes};
    while (attempts.refused < 5) {
        const auto trained = call_for<frames::Trained>(worker, request, bulk, [&](const WorkerEvent& event) {
            const auto* boundary = std::get_if<frames::Boundary>(&event.message);
            if (boundary == nullptr) return;
            if (attempts.refused == 0) ++attempts.boundaries;
            request.resume = boundary->so_far;
            bulk = {base.bytes};
            bulk.insert(bulk.end(), event.bulk.begin(), event.bulk.end());
        });
        if (trained.ok()) {
            attempts.trace = trained->first.trace;
            return attempts;
        }
        if (attempts.refused++ == 0) attempts.text = trained.error().what;
    }
    FAIL("refused " << attempts.refused << " times: " << attempts.text);
    return attempts;
}

}  // namespace

TEST_CASE("two devices train two slots at a time, each to the bits of one alone") {
    const FleetStage stage;
    Told told;
    const auto fleet = fleet_of({"cuda-host", "cpu"}, "", told).value();
    CHECK(fleet->width() == 2);
    const StateFile base = opened(*fleet, stage.job);
    CHECK(fleet->width() == 2);
    // Both are at work before either is done: the first waits in its first progress for the other's.
    std::mutex mutex;
    std::condition_variable both;
    int begun = 0;
    std::vector<std::promise<program::TraceRecord>> traces(2);
    for (const std::uint32_t slot : {0U, 1U}) {
        auto first = std::make_shared<bool>(true);
        fleet->submit(train_request(slot), {base.bytes}, [&, slot, first](const WorkerEvent& event) {
            if (std::exchange(*first, false)) {
                std::unique_lock lock(mutex);
                ++begun;
                both.notify_all();
                both.wait(lock, [&] { return begun == 2; });
            }
            if (!event.last) return;
            const auto* trained = std::get_if<frames::Trained>(&event.message);
            traces[slot].set_value(trained == nullptr ? program::TraceRecord() : trained->trace);
        });
    }
    CHECK(traces[0].get_future().get() == stage.alone);
    CHECK(traces[1].get_future().get().boundaries.size() == stage.alone.boundaries.size());
    CHECK(told.lines().empty());
}

TEST_CASE("what a device had begun when it failed is done by another one, to the same bits") {
    const FleetStage stage;
    struct Break {
        std::string fault;
        std::string text;
        std::uint32_t boundaries = 0;  // that the other device goes on from
    };
    for (const auto& [fault, text, boundaries] :
         {Break{"cuda-host lost 140", "the device is lost", 1},
          Break{"cuda-host dies 20", "died 2 times in a row", 0},
          Break{"cuda-host hangs 60",
                "died 2 times in a row on this request, the last time by our hand: it hung", 0},
          Break{"cuda-host memory 9", "memory", 2}}) {
        INFO(fault);
        Told told;
        const auto fleet = fleet_of({"cuda-host", "cpu"}, fault, told).value();
        const StateFile base = opened(*fleet, stage.job);
        const Attempts attempts = train_like_a_role(*fleet, base);
        CHECK(attempts.trace == stage.alone);
        CHECK(attempts.refused == 1);
        CHECK(attempts.boundaries == boundaries);
        CHECK(attempts.text.find("device cuda-host fails: ") == 0);
        CHECK(attempts.text.find(text) != std::string::npos);
        CHECK(attempts.text.find("another device takes over") != std::string::npos);
        const auto lines = told.lines();
        REQUIRE(lines.size() == 1);
        CHECK(lines[0].find("device cuda-host is put out of use: ") == 0);
        CHECK(fleet->width() == 1);
        REQUIRE(fleet->members().size() == 1);
        CHECK(fleet->members().front().device == "cpu");
    }
}

TEST_CASE("a device whose process cannot be ended is put out of use, and another one takes over") {
    const FleetStage stage;
    Told told;
    FleetOptions how;
    how.worker = options();
    how.worker.least_patience = std::chrono::seconds(2);
    how.worker.environment = {{"ASSAY_DEVICE_FAULT", "cuda-host hangs 140"}};
    how.worker.kill_signal = SIGURG;  // does nothing to it, as if its driver did not let go
    how.worker.kill_patience = std::chrono::milliseconds(200);
    how.devices = {"cuda-host", "cpu"};
    how.tell = [&told](const base::Error& what) { told.add(what); };
    const auto fleet = WorkerFleet::start(std::move(how)).value();
    const Attempts attempts = train_like_a_role(*fleet, opened(*fleet, stage.job));
    CHECK(attempts.trace == stage.alone);
    CHECK(attempts.refused == 1);
    CHECK(attempts.boundaries == 1);
    CHECK(attempts.text.find("of the worker cannot be ended") != std::string::npos);
    REQUIRE(told.lines().size() == 1);
    CHECK(told.lines()[0].find("device cuda-host is put out of use: ") == 0);
    REQUIRE(fleet->members().size() == 1);
    CHECK(fleet->members().front().device == "cpu");
}

TEST_CASE("a device with other bits is left out at the start, with the operator that differs") {
    const FleetStage stage;
    Told told;
    const auto fleet = fleet_of({"cuda-host", "cpu"}, "cuda-host wrong 17", told).value();
    const auto lines = told.lines();
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].find("device cuda-host is refused: device cuda-host: its self-test gives ") == 0);
    CHECK(lines[0].find("operator h.1.attn.c_attn.forward of a step of gpt2 in f32 differs") !=
          std::string::npos);
    CHECK(fleet->width() == 1);
    CHECK(train_like_a_role(*fleet, opened(*fleet, stage.job)).trace == stage.alone);
    Told none;
    const auto refused = fleet_of({"cuda-host", "cuda:9999"}, "cuda-host wrong 17", none);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().kind == base::ErrorKind::kPreflight);
    CHECK(refused.error().what.find("its self-test gives") != std::string::npos);
    CHECK(none.lines().size() == 2);
}

TEST_CASE("the last device stays, and its refusals come as they are") {
    const FleetStage stage;
    Told told;
    const auto fleet = fleet_of({"cuda-host", "cuda:9999"}, "cuda-host lost 140", told).value();
    CHECK(told.lines().size() == 1);  // the card that is not there
    const StateFile base = opened(*fleet, stage.job);
    const auto answer = call(*fleet, train_request(0), {base.bytes});
    REQUIRE_FALSE(answer.ok());
    CHECK(answer.error().kind == base::ErrorKind::kPreflight);
    CHECK(answer.error().what.find("cuda-host: the device is lost") == 0);
    CHECK(fleet->width() == 1);
    CHECK(told.lines().size() == 1);
}

TEST_CASE("what a distrusted device works on comes back spoiled, and the last one cannot be put out") {
    const FleetStage stage;
    Told told;
    const auto fleet = fleet_of({"cuda-host", "cpu"}, "", told).value();
    const StateFile base = opened(*fleet, stage.job);
    std::promise<WorkerEvent> last;
    std::atomic<bool> begun = false;
    const base::Error why{base::ErrorKind::kPreflight, "other bits", ""};
    fleet->submit(train_request(0), {base.bytes}, [&](const WorkerEvent& event) {
        if (!event.last && !begun.exchange(true)) CHECK(fleet->distrust("cuda-host", why));
        if (event.last) last.set_value(event);
    });
    const WorkerEvent event = last.get_future().get();
    CHECK(event.spoiled);
    CHECK(std::holds_alternative<frames::Refusal>(event.message));
    CHECK(fleet->width() == 1);
    CHECK(told.lines() == std::vector<std::string>{"device cuda-host is put out of use: other bits"});
    CHECK_FALSE(fleet->distrust("cpu", why));
    const auto trained = call_for<frames::Trained>(*fleet, train_request(0), {base.bytes});
    REQUIRE(trained.ok());
    CHECK(trained->first.trace == stage.alone);
}

TEST_CASE(
    "a device that has other bits when it is started again spoils what it gave, and a lost one does not") {
    const FleetStage stage;
    const test::TemporaryFolder folder;
    for (const bool wrong : {false, true}) {
        INFO(wrong);
        // Its process dies behind its first boundary; the next one has an operator with other bits.
        const std::filesystem::path program = folder.path() / ("worker" + std::to_string(wrong));
        std::ofstream(program) << "#!/bin/sh\n"
                               << "case \"$*\" in *cuda-host*)\n"
                               << "  if [ -e " << program.string() << ".died ]\n"
                               << "  then export ASSAY_DEVICE_FAULT='cuda-host "
                               << (wrong ? "wrong 17" : "lost 60") << "'\n"
                               << "  else export ASSAY_DEVICE_FAULT='cuda-host dies 140'; : > "
                               << program.string() << ".died\n"
                               << "  fi;; esac\n"
                               << "exec " << options().program.string() << " \"$@\"\n";
        std::filesystem::permissions(program, std::filesystem::perms::owner_all);
        Told told;
        FleetOptions how;
        how.worker = options();
        how.worker.program = program;
        how.devices = {"cuda-host", "cpu"};
        how.tell = [&told](const base::Error& what) { told.add(what); };
        const auto fleet = WorkerFleet::start(std::move(how)).value();
        const StateFile base = opened(*fleet, stage.job);
        std::promise<WorkerEvent> last;
        std::size_t boundaries = 0;
        fleet->submit(train_request(0), {base.bytes}, [&](const WorkerEvent& event) {
            CHECK(event.device == "cuda-host");
            if (std::holds_alternative<frames::Boundary>(event.message)) ++boundaries;
            if (event.last) last.set_value(event);
        });
        const WorkerEvent event = last.get_future().get();
        CHECK(boundaries > 0);
        CHECK(event.spoiled == wrong);
        const auto* refusal = std::get_if<frames::Refusal>(&event.message);
        REQUIRE(refusal != nullptr);
        CHECK(refusal->reason == frames::RefusalReason::kInternal);
        CHECK(refusal->text.find(wrong ? "computes other bits" : "the device is lost") != std::string::npos);
        CHECK(told.lines().size() == 1);
        REQUIRE(fleet->members().size() == 1);
        CHECK(fleet->members().front().device == "cpu");
    }
}

TEST_CASE("a list of devices is words between commas, each once") {
    const auto list = [](const std::string& text) { return device_list(text, options()); };
    CHECK(list("").value() == std::vector<std::string>{""});
    CHECK(list("cpu").value() == std::vector<std::string>{"cpu"});
    CHECK(list("cuda:0,cuda:1,cpu").value() == std::vector<std::string>{"cuda:0", "cuda:1", "cpu"});
    for (const char* text : {",", "cpu,", "cpu,,cuda:0", "cpu,cpu"}) {
        INFO(text);
        const auto refused = list(text);
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.error().kind == base::ErrorKind::kUsage);
    }
}

TEST_CASE("what the worker says of cards is read strictly") {
    const std::string driver = "driver\t2\t580.82.07\t13.0\tkernels\t\t\n";
    const std::string card = "card\t0\tNVIDIA H100\t9.0\t85520809984\t\t\n";
    const auto report =
        parse_cards(driver + card + "card\t1\tTesla V100\t7.0\t16945512448\ttoo old\tuse cpu\n");
    REQUIRE(report.ok());
    CHECK(report->on_bus == 2);
    CHECK(report->driver == "580.82.07");
    CHECK(report->kernels);
    CHECK_FALSE(report->missing.has_value());
    REQUIRE(report->cards.size() == 2);
    CHECK(report->cards[0].device == "cuda:0");
    CHECK(report->cards[0].memory == 85'520'809'984U);
    REQUIRE(report->cards[1].missing.has_value());
    CHECK(report->cards[1].missing->what == "too old");
    CHECK(report->cards[1].missing->fix == "use cpu");
    for (const std::string& wrong :
         {std::string(), card, std::string("driver\t2\n"), driver + driver, driver + card + card,
          std::string("driver\tx\t\t\tnone\t\t\n"), driver + "card\t0\tA\t9.0\tmuch\t\t\n"}) {
        INFO(wrong);
        CHECK_FALSE(parse_cards(wrong).ok());
    }
}
