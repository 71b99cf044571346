// SPDX-License-Identifier: Apache-2.0
// What kernels took on an emulated card: every launch once, in its group, and the same bits.
#include <algorithm>
#include <array>
#include <new>

#include "tests/support/catch.hpp"
#include "tests/trainer/executor_machine.hpp"
#include "trainer/cuda/emulated_card.hpp"
#include "trainer/cuda/kernels/product_i16_wide.hpp"
#include "trainer/devices/device_fault.hpp"
#include "trainer/devices/devices.hpp"

namespace assay::trainer::cuda {
namespace {
struct TimedStep {
    explicit TimedStep(const program::JobSpec& job)
        : spec(job),
          program(program::build_step_program(spec.model, spec.train, spec.profile)),
          state(trainer::test::initial_state(spec)) {}
    void run_on(CudaDevice& device) {
        Executor executor(program, device, plan_allocation(program, device, {.micro_batch = 2}, 2));
        AdoptedState adopted(device, state.parameters, state.first_moment, state.second_moment);
        result = executor.step(program::Schedule(spec.train).at(0, 0), trainer::test::batch_of(spec, 2, 7),
                               adopted.at());
        adopted.sync();
    }
    program::JobSpec spec;
    program::Program program;
    program::SlotArrays state;
    StepResult result;
};
}  // namespace

TEST_CASE("a step that is timed has its bits, and each of its launches counts once", "[trainer][cuda]") {
    const program::JobSpec spec = trainer::test::small_jobs()[2];
    TimedStep plain(spec), timed(spec);
    CudaHostDevice one(2), other(2);
    plain.run_on(one);
    const std::vector<WorkTime> parts = other.timed([&] { timed.run_on(other); });
    CHECK(timed.result.fingerprint == plain.result.fingerprint);
    CHECK(trainer::test::same(timed.state, plain.state));
    std::uint64_t launches = 0;
    for (const WorkTime& part : parts) {
        launches += part.count;
        CHECK(part.seconds >= 0);
        CHECK(part.name.find(' ') == std::string::npos);
    }
    CHECK(launches == other.emulated().counts().launches);
    CHECK(launches == one.emulated().counts().launches);
    const auto of = [&](const std::string& begin) {
        return std::count_if(parts.begin(), parts.end(),
                             [&](const WorkTime& part) { return part.name.starts_with(begin); });
    };
    CHECK(of("linear/ProductI16") >= 1);
    CHECK(of("attention/") >= 1);
    CHECK(of("weight-gradient/Pack") >= 1);
    CHECK(of("update/") >= 1);
    // Nobody looks any more.
    CHECK(launch_watch() == nullptr);
    CHECK(other.timed([] {}).empty());
}

TEST_CASE("a card without one of its ways launches other kernels, for the same bits", "[trainer][cuda]") {
    const program::JobSpec spec = trainer::test::small_jobs()[2];
    REQUIRE(spec.profile == program::Profile::kI16);
    TimedStep usual(spec);
    // Whether a device that is opened with these ways launched fused attention, added parts of products, and
    // held rows of logits in shared memory.
    const auto launched = [&](const CardWays& ways) {
        const auto device = open_device({.name = "cuda-host", .threads = 2, .ways = ways}).value();
        auto& card = dynamic_cast<CudaDevice&>(*device);
        TimedStep step(spec);
        const std::vector<WorkTime> parts = card.timed([&] { step.run_on(card); });
        CHECK(trainer::test::same(step.state, usual.state));
        const auto some = [&](const char* kernel) {
            return std::any_of(parts.begin(), parts.end(), [&](const WorkTime& part) {
                return part.name.find(kernel) != std::string::npos;
            });
        };
        return std::array{some("/AttentionI16<"), some("/AddPartsI16"), some("/LossBlocks<")};
    };
    CudaHostDevice device(2);
    usual.run_on(device);
    CHECK(launched({.processors = 2}) == std::array{true, true, true});
    CHECK(launched({}) == std::array{true, false, false});
    CHECK(launched({.processors = 2, .fused_attention = false}) == std::array{false, true, true});
    CHECK(launched({.processors = 2, .cut_products = false}) == std::array{true, false, true});
}

TEST_CASE("work that ends by an exception leaves nothing behind", "[trainer][cuda]") {
    CudaHostDevice device(2);
    TimedStep step(trainer::test::small_jobs()[0]);
    const auto failing = [&] {
        step.run_on(device);
        throw std::bad_alloc();
    };
    CHECK_THROWS_AS(device.timed(failing), std::bad_alloc);
    CHECK(launch_watch() == nullptr);
    std::uint64_t launches = 0;
    const std::uint64_t before = device.emulated().counts().launches;
    for (const WorkTime& part : device.timed([&] { step.run_on(device); })) launches += part.count;
    CHECK(launches == device.emulated().counts().launches - before);
}

TEST_CASE("a device that forwards tells what the one behind it tells", "[trainer][cuda]") {
    // A fault that never comes.
    const DeviceFault fault{.kind = DeviceFaultKind::kMemory, .number = 1'000'000};
    auto device = with_fault(std::make_unique<CudaHostDevice>(1), fault);
    float* const numbers = device->allocate(64);
    const std::vector<WorkTime> parts = device->timed([&] {
        device->zero(numbers, 64);
        const DeviceView view{numbers, 64};
        REQUIRE(device->is_finite(view));
    });
    CHECK(parts.size() == 1);
}

TEST_CASE("of a card that is lost nothing is timed", "[trainer][cuda]") {
    CudaHostDevice device(1);
    TimedStep step(trainer::test::small_jobs()[0]);
    const std::vector<WorkTime> parts = device.timed([&] {
        step.run_on(device);
        device.emulated().set_troubles({.lost_at = 0});
    });
    CHECK(parts.empty());
    CHECK_FALSE(device.check().ok());
}

TEST_CASE("kernels are called by their classes", "[trainer][cuda]") {
    CHECK(kernel_name(typeid(ProductI16Wide<2, 128>)) == "ProductI16Wide<2,128,0,1,0>");
    CHECK(kernel_name(typeid(AddPartsI16<3, 96>)) == "AddPartsI16<3,96>");
}

}  // namespace assay::trainer::cuda
