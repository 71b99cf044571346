// SPDX-License-Identifier: Apache-2.0
// Devices: opened by name, alike in every bit, and given the host's arrays for as long as they work on them.
#include "trainer/devices/devices.hpp"

#include <cfenv>
#include <limits>
#include <map>

#include "contracts/program/round_law.hpp"
#include "tests/support/catch.hpp"
#include "tests/trainer/executor_machine.hpp"
#include "trainer/reference/reference_device.hpp"
#include "trainer/run/bench.hpp"
#include "trainer/step/forwarding_device.hpp"

namespace assay::trainer {
namespace {

RunnerOptions on_device(const std::string& name) {
    RunnerOptions options = test::on_cpu(2, test::all_targets().front());
    options.device.name = name;
    return options;
}

// A device with memory of its own, as an accelerator has: a copy of every array that it adopts. Those that it
// may change are spoilt on the host until they are back, so that whoever looks at one meanwhile shows.
class DistantDevice final : public ForwardingDevice {
public:
    struct Count {
        int adopted = 0;
        int dropped = 0;
        int synced = 0;
        int allocated = 0;
    };
    explicit DistantDevice(Count& count)
        : ForwardingDevice(std::make_unique<CpuDevice>(test::all_targets().front(), 2, nullptr)),
          count_(count) {}

    std::function<void()> meddle;  ///< done in the middle of work, as a library that a driver loads may

    [[nodiscard]] std::string_view name() const override { return "distant"; }
    float* allocate(std::uint64_t count) override {
        ++count_.allocated;
        return ForwardingDevice::allocate(count);
    }

    float* adopt(std::span<float> host) override {
        ++count_.adopted;
        std::vector<float> copy(host.begin(), host.end());
        std::vector<float> before = copy;
        float* at = ForwardingDevice::adopt(copy);
        copies_.emplace(at, Copy{std::move(copy), host, std::move(before)});
        std::fill(host.begin(), host.end(), std::numeric_limits<float>::quiet_NaN());
        return at;
    }
    const float* adopt_read_only(std::span<const float> host) override {
        ++count_.adopted;
        std::vector<float> copy(host.begin(), host.end());
        const float* at = copy.data();
        copies_.emplace(at, Copy{std::move(copy), {}, {}});
        return at;
    }
    float* adopt_streamed(std::span<float> host) override { return adopt(host); }
    const float* adopt_streamed_read_only(std::span<const float> host) override {
        return adopt_read_only(host);
    }
    void sync(float* adopted) override {
        ++count_.synced;
        Copy& copy = copies_.at(adopted);
        copy.before = copy.values;
        std::copy(copy.values.begin(), copy.values.end(), copy.host.begin());
    }
    void drop(const float* adopted) override {
        ++count_.dropped;
        const Copy& copy = copies_.at(adopted);
        std::copy(copy.before.begin(), copy.before.end(), copy.host.begin());
        copies_.erase(adopted);
    }

    void run(const GroupCall& call) override {
        if (meddle) meddle();
        ForwardingDevice::run(call);
    }
    // Of arrays on the device only: an address of the host is a mistake here.
    [[nodiscard]] bool is_finite(DeviceView array) override {
        require_here(array);
        return ForwardingDevice::is_finite(array);
    }
    [[nodiscard]] base::Outcome<std::vector<base::Hash256>> roots(
        const std::vector<program::TensorInfo>& tensors, std::span<const DeviceView> arrays) override {
        for (const DeviceView array : arrays) require_here(array);
        return ForwardingDevice::roots(tensors, arrays);
    }
    [[nodiscard]] base::Outcome<bool> finalise(const RoundLaw& law, DeviceView start, DeviceView end,
                                               std::span<std::int64_t> update) override {
        require_here(start);
        require_here(end);
        return ForwardingDevice::finalise(law, start, end, update);
    }
    [[nodiscard]] base::Outcome<bool> merge(const RoundLaw& law,
                                            std::span<const program::Contribution> contributions,
                                            DeviceArray parameters, DeviceArray outer_momentum) override {
        require_here(parameters);
        require_here(outer_momentum);
        return ForwardingDevice::merge(law, contributions, parameters, outer_momentum);
    }

private:
    struct Copy {
        std::vector<float> values;
        std::span<float> host;
        std::vector<float> before;  // what the host's array holds after a drop
    };
    void require_here(DeviceView array) const {
        const auto found = copies_.find(array.data());
        REQUIRE(found != copies_.end());
        REQUIRE(found->second.values.size() == array.size());
    }
    Count& count_;
    std::map<const float*, Copy> copies_;
};

// A small job on a device: all that its rounds leave behind.
struct TrainedJob {
    std::vector<program::TraceRecord> traces;
    std::vector<base::Hash256> bases;
    std::uint32_t loss = 0;
    std::vector<std::uint32_t> sample;
    friend bool operator==(const TrainedJob&, const TrainedJob&) = default;
};

struct SmallWork {
    explicit SmallWork(const program::JobSpec& job)
        : spec(job),
          train(test::small_tokens(job.data.train_tokens, job.model.vocabulary, 1)),
          held_out(test::small_tokens(job.data.held_out_tokens, job.model.vocabulary, 2)) {}

    TrainedJob trained(JobRunner& runner) const {
        TrainedJob all;
        BaseState base = runner.initial();
        all.bases.push_back(runner.base_root(base));
        for (std::uint32_t r = 0; r < spec.rounds; ++r) {
            std::vector<SlotRoundOutcome> slots;
            std::vector<AcceptedUpdate> accepted;
            for (std::uint32_t s = 0; s < spec.slots; ++s) {
                slots.push_back(runner.run_slot_round(base, r, s, std::nullopt, {}, {}).value());
                REQUIRE(slots.back().trace.boundaries.back() == runner.state_root(slots.back().end));
                all.traces.push_back(slots.back().trace);
            }
            for (std::uint32_t s = 0; s < spec.slots; ++s) {
                REQUIRE(slots[s].update);
                accepted.push_back({s, s + 1, &*slots[s].update});
            }
            base = runner.merge(base, accepted).value();
            all.bases.push_back(runner.base_root(base));
        }
        all.loss = runner.evaluate_held_out(base.parameters, 3, {}).value().loss.bits;
        all.sample = runner.sample(base.parameters, {{1, 2, 3}, 4, 0.8F, 5}).value();
        return all;
    }
    TrainedJob trained_on(const RunnerOptions& options) const {
        return trained(*JobRunner::create(spec, {train}, {held_out}, options).value());
    }

    program::JobSpec spec;
    std::vector<std::uint32_t> train, held_out;
};

}  // namespace

TEST_CASE("a device is opened by its name, and one that is not there is refused by it", "[trainer][device]") {
    for (const char* name : {"cpu", "reference", "cuda-host"}) {
        CHECK(open_device({.name = name}).value()->name() == name);
    }
    const SmallWork work(test::small_job());
    for (const std::string name : {"cuda", "", "CPU", "cpu "}) {
        INFO("'" << name << "'");
        const auto opened = open_device({.name = name});
        REQUIRE_FALSE(opened.ok());
        CHECK(opened.error().kind == base::ErrorKind::kPreflight);
        CHECK(opened.error().what.find("device '" + name + "' is not there") == 0);
        CHECK(opened.error().fix == "use one of: cpu, reference, cuda-host, or cuda:N for an NVIDIA card");
        const auto runner = JobRunner::create(work.spec, {work.train}, {}, on_device(name));
        REQUIRE_FALSE(runner.ok());
        CHECK(runner.error().what == opened.error().what);
    }
    for (const int threads : {-1, 0, 257}) {
        CHECK(open_device({.name = "cpu", .threads = threads}).error().kind == base::ErrorKind::kUsage);
    }
}

TEST_CASE("a device does not open in another floating-point mode than the law's", "[trainer][device][mode]") {
    for (const char* name : {"cpu", "reference", "cuda-host"}) {
        INFO(name);
        std::fesetround(FE_UPWARD);
        const auto opened = open_device({.name = name});
        std::fesetround(FE_TONEAREST);
        REQUIRE_FALSE(opened.ok());
        CHECK(opened.error().kind == base::ErrorKind::kPreflight);
        CHECK(opened.error().what.find("round to nearest") != std::string::npos);
    }
}

TEST_CASE("the law itself and emulated kernels of a GPU train a job to the roots of the processor",
          "[trainer][device]") {
    for (const program::JobSpec& spec : test::small_jobs()) {
        INFO(spec.name);
        const SmallWork work(spec);
        const TrainedJob expected = work.trained_on(on_device("cpu"));
        CHECK(work.trained_on(on_device("reference")) == expected);
        CHECK(work.trained_on(on_device("cuda-host")) == expected);
        RunnerOptions in_turns = on_device("reference");
        in_turns.micro_batch = 1;
        CHECK(work.trained_on(in_turns) == expected);
    }
}

TEST_CASE("the law itself as a device names a diverging step's operator and leaves the state alone",
          "[trainer][device]") {
    for (const program::JobSpec& spec : test::small_jobs()) {
        const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
        const auto coefficients = program::Schedule(spec.train).at(0, 0);
        const auto tokens = test::batch_of(spec, 3, 200);
        ReferenceDevice device;
        Executor executor(program, device, plan_allocation(program, device, {1}, 3));
        std::uint64_t place = 0;
        for (const program::TensorInfo& info : program.parameters) {
            // In parameters anything can happen, in moments AdamW alone.
            const bool is_last = &info == &program.parameters.back();
            for (const int array : is_last ? std::vector<int>{0, 1, 2} : std::vector<int>{0}) {
                INFO(spec.name << ", " << info.name << ", array " << array);
                program::SlotArrays before = test::initial_state(spec);
                auto& broken = array == 0   ? before.parameters
                               : array == 1 ? before.first_moment
                                            : before.second_moment;
                broken[info.offset + place++ % info.size()] = array == 2 ? -1.0F : 3e38F;
                program::SlotArrays expected = before;
                const auto reference = program::reference_step(program, coefficients, tokens, expected);
                program::SlotArrays state = before;
                AdoptedState adopted(device, state.parameters, state.first_moment, state.second_moment);
                REQUIRE(executor.step(coefficients, tokens, adopted.at()).diverged == reference.diverged);
                adopted.sync();
                REQUIRE(test::same(state, expected));
            }
        }
    }
}

TEST_CASE("a device with memory of its own is given states for a segment and gives them back",
          "[trainer][device]") {
    for (const program::JobSpec& spec : test::small_jobs()) {
        INFO(spec.name);
        const SmallWork work(spec);
        DistantDevice::Count count;
        const auto runner =
            JobRunner::create(spec, {work.train}, {work.held_out}, {}, std::make_unique<DistantDevice>(count))
                .value();
        const BaseState base = runner->initial();
        SlotState state = runner->start(base).value();
        REQUIRE(runner->run_segment(state, {0, 0, 0}, {}).ok());
        // A step's memory at once: what fails in the middle leaves nothing behind.
        CHECK(count.allocated == 1);
        // Three arrays, once each, however many steps there are.
        CHECK(count.adopted == 3);
        CHECK(count.synced == 3);
        CHECK(count.dropped == 3);
        CHECK(work.trained(*runner) == work.trained_on(on_device("cpu")));
        CHECK(count.dropped == count.adopted);
    }
}

TEST_CASE("a segment that ends early leaves the state of its last whole step on the host",
          "[trainer][device]") {
    const SmallWork work(test::small_job());
    DistantDevice::Count count;
    const auto distant = JobRunner::create(work.spec, {work.train}, {work.held_out}, {},
                                           std::make_unique<DistantDevice>(count))
                             .value();
    const auto cpu = JobRunner::create(work.spec, {work.train}, {work.held_out}, on_device("cpu")).value();
    const SlotState start = cpu->start(cpu->initial()).value();
    SECTION("when it is cancelled") {
        std::atomic<bool> cancel = false;
        Watch watch;
        watch.cancel = &cancel;
        watch.progress = [&](const StepReport&) { cancel = true; };
        SlotState expected = start, state = start;
        CHECK(cpu->run_segment(expected, {0, 0, 0}, watch).error().kind == base::ErrorKind::kInterrupted);
        cancel = false;
        CHECK(distant->run_segment(state, {0, 0, 0}, watch).error().kind == base::ErrorKind::kInterrupted);
        CHECK(state.step == 1);
        CHECK(state == expected);
    }
    SECTION("when it diverges") {
        SlotState state = start;
        state.parameters[program::parameter_tensors(work.spec.model).back().offset] = 3e38F;
        const SlotState before = state;
        REQUIRE(distant->run_segment(state, {0, 0, 0}, {}).value().divergence);
        CHECK(state == before);
    }
    SECTION("when a number of its start is not finite") {
        SlotState state = start;
        state.second_moment.back() = std::numeric_limits<float>::infinity();
        const SlotState before = state;
        CHECK(distant->run_segment(state, {0, 0, 0}, {}).error().kind == base::ErrorKind::kUsage);
        CHECK(state == before);
    }
    CHECK(count.dropped == count.adopted);
}

TEST_CASE("a mode that changes in the middle of work is refused and ends nothing",
          "[trainer][device][mode]") {
    const SmallWork work(test::small_job());
    DistantDevice::Count count;
    auto device = std::make_unique<DistantDevice>(count);
    std::function<void()>& meddle = device->meddle;
    const auto runner =
        JobRunner::create(work.spec, {work.train}, {work.held_out}, {}, std::move(device)).value();
    const BaseState base = runner->initial();
    const SlotState start = runner->start(base).value();
    meddle = [] { std::fesetround(FE_UPWARD); };
    const auto while_it_meddles = [](const auto& work_of) {
        auto result = work_of();
        std::fesetround(FE_TONEAREST);
        return result.error().kind;
    };
    SlotState state = start;
    CHECK(while_it_meddles([&] {
              return runner->run_segment(state, {0, 0, 0}, {});
          }) == base::ErrorKind::kPreflight);
    CHECK(state.step == 0);
    CHECK(while_it_meddles([&] { return runner->evaluate_held_out(base.parameters, 1, {}); }) ==
          base::ErrorKind::kPreflight);
    CHECK(while_it_meddles([&] {
              return runner->sample(base.parameters, {{1}, 1, 1.0F, 1});
          }) == base::ErrorKind::kPreflight);
    // Once nobody does, the work is right again.
    meddle = {};
    const auto cpu = JobRunner::create(work.spec, {work.train}, {work.held_out}, on_device("cpu")).value();
    SlotState expected = start;
    REQUIRE(cpu->run_segment(expected, {0, 0, 0}, {}).ok());
    REQUIRE(runner->run_segment(state = start, {0, 0, 0}, {}).ok());
    CHECK(state == expected);
}

TEST_CASE("a state that was adopted anew is looked at anew before AdamW changes it in place",
          "[trainer][device]") {
    const program::JobSpec spec = test::small_job();
    const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
    const auto coefficients = program::Schedule(spec.train).at(0, 0);
    const auto tokens = test::batch_of(spec, 3, 200);
    test::ExecutorMachine machine(program, test::all_targets().front(), 2, {3}, 3);
    program::SlotArrays state = test::initial_state(spec);
    // The step proves that the numbers are far from overflow; then others lie at the same addresses.
    REQUIRE_FALSE(machine.step(coefficients, tokens, state).diverged);
    state.second_moment.back() = -1.0F;
    const program::SlotArrays before = state;
    program::SlotArrays expected = state;
    const auto reference = program::reference_step(program, coefficients, tokens, expected);
    REQUIRE(reference.diverged);
    CHECK(machine.step(coefficients, tokens, state).diverged == reference.diverged);
    CHECK(test::same(state, before));
    // The same of two states that are adopted at the same time.
    program::SlotArrays sound = test::initial_state(spec);
    AdoptedState one(machine.device, sound.parameters, sound.first_moment, sound.second_moment);
    AdoptedState other(machine.device, state.parameters, state.first_moment, state.second_moment);
    CHECK_FALSE(machine.executor.step(coefficients, tokens, one.at()).diverged);
    CHECK(machine.executor.step(coefficients, tokens, other.at()).diverged == reference.diverged);
    CHECK(test::same(state, before));
}

TEST_CASE("an array that a merge changed is looked at anew before AdamW changes it in place",
          "[trainer][device]") {
    const program::JobSpec spec = test::small_job();
    const auto program = program::build_step_program(spec.model, spec.train, spec.profile);
    const auto coefficients = program::Schedule(spec.train).at(0, 0);
    const auto tokens = test::batch_of(spec, 3, 200);
    test::ExecutorMachine machine(program, test::all_targets().front(), 2, {3}, 3);
    program::SlotArrays state = test::initial_state(spec);
    AdoptedState adopted(machine.device, state.parameters, state.first_moment, state.second_moment);
    // The step proves that the numbers are far from overflow; then a merge makes second moments negative.
    REQUIRE_FALSE(machine.executor.step(coefficients, tokens, adopted.at()).diverged);
    const std::size_t count = state.parameters.size();
    const std::vector<std::int64_t> update(count, -1);
    const RoundLaw law{program::strategy_of(spec),
                       {.sum_exponent = 0, .outer_learning_rate = 0.0F, .outer_momentum = 0.0F}};
    const std::vector<program::Contribution> one = {{update, 1}};
    const DeviceState at = adopted.at();
    REQUIRE(machine.device.merge(law, one, {at.parameters, count}, {at.second_moment, count}).value());
    REQUIRE(state.second_moment[0] == -1.0F);
    const program::SlotArrays before = state;
    program::SlotArrays expected = state;
    const auto reference = program::reference_step(program, coefficients, tokens, expected);
    REQUIRE(reference.diverged);
    CHECK(machine.executor.step(coefficients, tokens, at).diverged == reference.diverged);
    CHECK(test::same(state, before));
}

TEST_CASE("a bench's step keeps to the memory that a card has for it", "[trainer][device][memory]") {
    constexpr std::uint32_t kBatch = 64;
    const program::ModelConfig model = test::small_job().model;
    const auto bytes = [&](std::uint64_t memory) {
        return step_bench_bytes(model, kBatch, program::Profile::kF32,
                                {.name = "cuda-host", .memory = memory});
    };
    const std::uint64_t most = bytes(std::uint64_t{1} << 30U).value();
    const std::uint64_t less = most / 10 * 9;  // the most of it are parts of streamed arrays
    CHECK(bytes(less).value() <= less);
    make_step_bench(model, kBatch, program::Profile::kF32, {.name = "cuda-host", .memory = less}).value()();
    const auto refused =
        make_step_bench(model, kBatch, program::Profile::kF32, {.name = "cuda-host", .memory = 4096});
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().kind == base::ErrorKind::kPreflight);
    CHECK(refused.error().what.find("on cuda-host, which has 4.0 KiB for it") != std::string::npos);
}

TEST_CASE("products, roots and steps are timed on any device", "[trainer][device]") {
    const GemmShape shape{6, 5, 7};
    const program::ModelConfig model = test::small_job().model;
    for (const char* name : {"cpu", "reference", "cuda-host"}) {
        for (const auto profile : {program::Profile::kF32, program::Profile::kI16}) {
            for (const GemmKind kind :
                 {GemmKind::kForward, GemmKind::kInputGradient, GemmKind::kWeightGradient,
                  GemmKind::kHeadInputGradient, GemmKind::kHeadWeightGradient}) {
                make_gemm_bench({.name = name}, profile, shape, kind).value()();
            }
            make_step_bench(model, 2, profile, {.name = name}).value()();
            CHECK(step_bench_bytes(model, 2, profile, {.name = name}).value() > 0);
        }
        for (const StateWork work : {StateWork::kRoots, StateWork::kCopy})
            make_state_bench(model, work, {.name = name}).value()();
    }
    CHECK(
        make_gemm_bench({.name = "cuda:0"}, program::Profile::kF32, shape, GemmKind::kForward).error().kind ==
        base::ErrorKind::kPreflight);
    CHECK(make_gemm_bench({.name = "reference"}, program::Profile::kF32, {0, 1, 1}, GemmKind::kForward)
              .error()
              .kind == base::ErrorKind::kUsage);
    CHECK(make_step_bench(test::small_job().model, 2, program::Profile::kF32, {.name = "cuda:0"})
              .error()
              .kind == base::ErrorKind::kPreflight);
}

}  // namespace assay::trainer
