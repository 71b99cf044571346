// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>

#include "node/worker/bench_run.hpp"
#include "tests/support/catch.hpp"
#include "trainer/run/bench.hpp"

using namespace assay;
using namespace assay::node;

namespace {

BenchProgram worker() {
    return {std::filesystem::path(std::getenv("ASSAY_BIN_DIR")) / "assay-worker",
            {"--bench"},
            tuned_environment(1)};
}

constexpr const char* kSmallStep = "step f32 1 16 2 8 50 2";

}  // namespace

TEST_CASE("a worker prepares a case, times each run of it and knows its peak memory") {
    auto child = BenchChild::start(worker());
    REQUIRE(child.ok());
    CHECK_FALSE(child->run(1).ok());  // nothing is prepared
    for (const char* line :
         {"gemm f32 forward 8 16 24", "gemm f32 input 8 16 24", "gemm f32 weight 8 16 24",
          "gemm i16 forward 8 16 24", "gemm i16 weight 300 16 24", "gemm f32 head-input 8 16 24",
          "gemm i16 head-input 8 16 24", "gemm i16 head-weight 8 16 24", "state roots 1 16 2 8 50",
          "state copy 1 16 2 8 50", kSmallStep}) {
        INFO(line);
        REQUIRE(child->prepare(line).ok());
        const auto times = child->run(3);
        REQUIRE(times.ok());
        REQUIRE(times->size() == 3);
        for (const double seconds : *times) CHECK(seconds > 0);
    }
    const auto peak = child->peak();
    REQUIRE(peak.ok());
    CHECK(*peak > 1 << 20);
}

TEST_CASE("a device that fails in a bench is told as such, and has no times") {
    BenchProgram failing = worker();
    failing.arguments = {"--bench", "--device", "cuda-host"};
    failing.environment.emplace_back("ASSAY_DEVICE_FAULT", "cuda-host lost 5");
    auto child = BenchChild::start(failing);
    REQUIRE(child.ok());
    const auto prepared = child->prepare(kSmallStep);
    REQUIRE_FALSE(prepared.ok());
    CHECK(prepared.error().what.find("cuda-host: the device is lost") != std::string::npos);
    CHECK_FALSE(child->run(1).ok());
}

TEST_CASE("a worker times every case on the emulated GPU, whose peak is what its step planned for") {
    BenchProgram emulated = worker();
    emulated.arguments = {"--bench", "--device", "cuda-host"};
    auto child = BenchChild::start(emulated);
    REQUIRE(child.ok());
    for (const char* line : {"gemm f32 forward 8 16 24", "gemm i16 head-weight 8 16 24",
                             "state roots 1 16 2 8 50", "state copy 1 16 2 8 50", kSmallStep}) {
        INFO(line);
        REQUIRE(child->prepare(line).ok());
        CHECK(child->run(1).ok());
    }
    const auto peak = child->peak();
    REQUIRE(peak.ok());
    const program::ModelConfig model{.layers = 1, .width = 16, .heads = 2, .context = 8, .vocabulary = 50};
    const auto planned = trainer::step_bench_bytes(model, 2, program::Profile::kF32, {.name = "cuda-host"});
    REQUIRE(planned.ok());
    CHECK(*peak == static_cast<double>(*planned));
}

TEST_CASE(
    "a worker tells what the kernels of a step took on the emulated GPU, and nothing of a processor's") {
    BenchProgram program = worker();
    program.arguments = {"--bench", "--device", "cuda-host"};
    const std::string line = "parts" + std::string(kSmallStep).substr(std::string("step").size());
    auto child = BenchChild::start(program);
    REQUIRE(child.ok());
    const auto parts = child->parts(line);
    REQUIRE(parts.ok());
    CHECK(parts->size() >= 10);
    CHECK(std::is_sorted(parts->begin(), parts->end(),
                         [](const BenchPart& a, const BenchPart& b) { return a.seconds > b.seconds; }));
    for (const BenchPart& one : *parts) CHECK((one.count >= 1 && one.seconds > 0));
    CHECK(child->prepare(kSmallStep).ok());
    CHECK_FALSE(child->parts("parts f32 1 16").ok());
    CHECK_FALSE(child->parts("parts f64 1 16 2 8 50 2").ok());
    auto processor = BenchChild::start(worker());
    REQUIRE(processor.ok());
    const auto none = processor->parts(line);
    REQUIRE(none.ok());
    CHECK(none->empty());
}

TEST_CASE("an answer of another form is an error that says what was asked for") {
    const auto answering = [](const std::string& answer) {
        auto child = BenchChild::start({"/bin/sh", {"-c", "read line; echo '" + answer + "'"}, {}});
        REQUIRE(child.ok());
        return std::move(child).value();
    };
    CHECK(answering("times 0.5 1e-3").run(2).value() == std::vector<double>{0.5, 0.001});
    for (const char* answer : {"times 0.5", "times 0.5 1 2", "times 0.5 x", "times 0.5 1x", "times 0.5 nan",
                               "times", "time 0.5 1", "error no case is prepared", ""}) {
        INFO(answer);
        CHECK_FALSE(answering(answer).run(2).ok());
    }
    CHECK(answering("peak 4096").peak().value() == 4096);
    for (const char* answer : {"peak", "peak much", "peak 4096 KiB"}) {
        INFO(answer);
        const auto peak = answering(answer).peak();
        REQUIRE_FALSE(peak.ok());
        CHECK(peak.error().what == "a measuring process told of its memory what cannot be read");
    }
    CHECK(answering("parts").parts("parts").value().empty());
    CHECK(answering("parts gemm 3 0.25 rows 1 0.5").parts("parts").value().size() == 2);
    for (const char* answer : {"parts gemm", "parts gemm 3", "parts gemm 3 0.25 rows", "parts gemm 0.25 3",
                               "parts gemm 3 x", "part"}) {
        INFO(answer);
        CHECK_FALSE(answering(answer).parts("parts").ok());
    }
}

TEST_CASE("a card that is not there is refused before anything is measured") {
    BenchProgram absent = worker();
    absent.arguments = {"--bench", "--device", "cuda:99"};
    auto child = BenchChild::start(absent);
    REQUIRE(child.ok());
    CHECK_FALSE(child->ask("name", "name").ok());
}

TEST_CASE("a case that does not exist is refused with its line, and the worker stays") {
    auto child = BenchChild::start(worker());
    REQUIRE(child.ok());
    for (const char* line : {"", "gemm", "gemm f64 forward 8 8 8", "gemm f32 sideways 8 8 8",
                             "gemm f32 forward 8 8 0", "gemm f32 forward 8 8", "step f32 1 15 2 8 50 2",
                             "state f32 1 16 2 8 50", "state roots 1 15 2 8 50", "state roots 1 16 2 8"}) {
        INFO(line);
        CHECK_FALSE(child->prepare(line).ok());
    }
    CHECK(child->prepare(kSmallStep).ok());
}

TEST_CASE("sides take turns; one that is absent or dies leaves a gap and is complained about") {
    std::vector<std::string> lost;
    BenchRoom room([&](const BenchSide& side, const std::string&) { lost.push_back(side.key); });
    const std::vector<BenchSide> sides = {{"ours", worker(), kSmallStep},
                                          {"absent", {}, kSmallStep},
                                          {"dead", {"/bin/false", {}, {}}, kSmallStep},
                                          {"again", worker(), kSmallStep}};
    const auto timings = room.take_turns(sides, 0.01);
    REQUIRE(timings.size() == 4);
    CHECK((timings[0] && timings[0]->seconds > 0));
    CHECK_FALSE(timings[1]);
    CHECK_FALSE(timings[2]);
    CHECK((timings[3] && timings[3]->peak_bytes > 0));
    CHECK(lost == std::vector<std::string>{"dead"});
    CHECK(timings[0]->turns.size() == 3);
    CHECK(timings[3]->turns.size() == 3);
}

TEST_CASE("sides are compared turn by turn") {
    // The machine went half as fast for two turns of five; the other side took 1.5 times as long in each but
    // one.
    const BenchTiming ours{1.0, {1.0, 1.0, 2.0, 2.0, 1.0}, 0, ""};
    const BenchTiming other{3.0, {1.5, 1.5, 3.0, 9.0, 1.5}, 0, ""};
    CHECK(times_longer(other, ours) == 1.5);
    CHECK(times_longer(ours, ours) == 1.0);
    // Of an even number of turns the mean of the middle two: neither side has the better of it.
    CHECK(times_longer({0, {1.0, 3.0}, 0, ""}, {0, {1.0, 1.0}, 0, ""}) == 2.0);
}
