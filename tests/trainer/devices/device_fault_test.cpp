// SPDX-License-Identifier: Apache-2.0
// Faults that are planted in a device: what each does, and that nothing of a faulty device is taken for
// sound.
#include "trainer/devices/device_fault.hpp"

#include "tests/support/catch.hpp"
#include "tests/trainer/small_job.hpp"
#include "trainer/run/job_runner.hpp"

namespace assay::trainer {

namespace {

/// The error of a first segment on a device with this fault.
base::Error error_of(const std::string& device, const DeviceFault& fault) {
    const program::JobSpec spec = test::small_job();
    const auto tokens = test::small_tokens(spec.data.train_tokens, spec.model.vocabulary, 1);
    RunnerOptions options;
    options.device.name = device;
    options.device.fault = fault;
    const auto runner = JobRunner::create(spec, {tokens}, {}, options).value();
    const auto round = runner->run_slot_round(runner->initial(), 0, 0, std::nullopt, {}, {});
    REQUIRE_FALSE(round.ok());
    return round.error();
}

}  // namespace

TEST_CASE("a fault is read for the device that it names, and other words are refused", "[trainer][fault]") {
    const auto parsed = parse_device_fault("cuda-host lost 40", "cuda-host");
    REQUIRE(parsed.ok());
    CHECK(*parsed == DeviceFault{DeviceFaultKind::kLost, 40});
    CHECK(parse_device_fault("cpu memory 3", "cpu").value() == DeviceFault{DeviceFaultKind::kMemory, 3});
    CHECK(parse_device_fault("cpu hangs 7", "cpu").value() == DeviceFault{DeviceFaultKind::kHangs, 7});
    CHECK(parse_device_fault("cpu dies 1", "cpu").value() == DeviceFault{DeviceFaultKind::kDies, 1});
    CHECK(parse_device_fault("cpu wrong 7", "cpu").value() == DeviceFault{DeviceFaultKind::kWrong, 7});
    CHECK_FALSE(parse_device_fault("cuda-host lost 40", "cpu").value().has_value());
    for (const char* words :
         {"lost 40", "cpu lost", "cpu broken 1", "cpu lost x", "cpu lost -1", "cpu lost 1 2"}) {
        INFO(words);
        const auto refused = parse_device_fault(words, "cpu");
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.error().kind == base::ErrorKind::kUsage);
        CHECK(refused.error().what.find(words) != std::string::npos);
    }
}

TEST_CASE("a device that is lost, or has no memory left, ends the work with an error", "[trainer][fault]") {
    for (const std::string device : {"cpu", "cuda-host"}) {
        INFO(device);
        const base::Error lost = error_of(device, {DeviceFaultKind::kLost, 5});
        CHECK(lost.kind == base::ErrorKind::kUnreachable);
        CHECK(lost.what == device + ": the device is lost (a planted fault)");
        CHECK(error_of(device, {DeviceFaultKind::kMemory, 6}).kind == base::ErrorKind::kFailure);
    }
}

}  // namespace assay::trainer
