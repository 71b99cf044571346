// SPDX-License-Identifier: Apache-2.0
#include "trainer/devices/device_fault.hpp"

#include <unistd.h>

#include <csignal>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <new>
#include <sstream>
#include <utility>

#include "trainer/step/device_failure.hpp"
#include "trainer/step/forwarding_device.hpp"

namespace assay::trainer {

using base::ErrorKind;
using base::fail;

namespace {

constexpr std::pair<std::string_view, DeviceFaultKind> kWords[] = {{"memory", DeviceFaultKind::kMemory},
                                                                   {"lost", DeviceFaultKind::kLost},
                                                                   {"dies", DeviceFaultKind::kDies},
                                                                   {"hangs", DeviceFaultKind::kHangs},
                                                                   {"wrong", DeviceFaultKind::kWrong}};

class FaultyDevice final : public ForwardingDevice {
public:
    FaultyDevice(std::unique_ptr<Device> device, const DeviceFault& fault)
        : ForwardingDevice(std::move(device)), fault_(fault) {}

    [[nodiscard]] base::Outcome<void> check() override {
        if (!lost_) return ForwardingDevice::check();
        return fail(ErrorKind::kUnreachable, std::string(name()) + ": the device is lost (a planted fault)",
                    "unset ASSAY_DEVICE_FAULT");
    }
    float* allocate(std::uint64_t count) override {
        take_memory();
        return ForwardingDevice::allocate(count);
    }
    float* adopt(std::span<float> host) override {
        take_memory();
        return ForwardingDevice::adopt(host);
    }
    const float* adopt_read_only(std::span<const float> host) override {
        take_memory();
        return ForwardingDevice::adopt_read_only(host);
    }
    void begin(const program::Program& program, const StepNumbers& numbers) override {
        program_ = &program;
        ForwardingDevice::begin(program, numbers);
    }
    void run(const GroupCall& call) override {
        ++runs_;
        const bool now = runs_ >= fault_.number;
        if (fault_.kind == DeviceFaultKind::kDies && now) static_cast<void>(::raise(SIGKILL));
        while (fault_.kind == DeviceFaultKind::kHangs && now) static_cast<void>(::pause());
        lost_ = lost_ || (fault_.kind == DeviceFaultKind::kLost && now);
        if (lost_) return;
        ForwardingDevice::run(call);
        if (fault_.kind == DeviceFaultKind::kWrong) spoil(call);
    }

    [[nodiscard]] base::Outcome<std::vector<base::Hash256>> roots(
        const std::vector<program::TensorInfo>& tensors, std::span<const DeviceView> arrays) override {
        require_sound();
        return ForwardingDevice::roots(tensors, arrays);
    }
    void tile_hashes(std::uint64_t cols, std::span<const float> matrix,
                     std::span<base::Hash256> out) override {
        require_sound();
        ForwardingDevice::tile_hashes(cols, matrix, out);
    }
    [[nodiscard]] base::Outcome<base::Hash256> update_root(const std::vector<program::TensorInfo>& tensors,
                                                           std::span<const std::int64_t> update) override {
        require_sound();
        return ForwardingDevice::update_root(tensors, update);
    }

private:
    void require_sound() {
        if (lost_) throw DeviceFailure(check().error());
    }
    void take_memory() {
        ++allocations_;
        if (fault_.kind == DeviceFaultKind::kMemory && allocations_ >= fault_.number) throw std::bad_alloc();
    }
    void spoil(const GroupCall& call) {
        const auto& operators = call.group.operators;
        // Some operator of every program, so that no self-test is too small for the fault.
        const std::uint64_t place = fault_.number % program_->operators.size();
        const auto wrong = std::find(operators.begin(), operators.end(), place);
        if (wrong == operators.end()) return;
        // A group's intermediate tensors may not lie in memory; then one that the group writes is spoiled.
        const program::TensorId own = program_->operators[*wrong].outputs.front();
        const auto& writes = call.group.writes;
        const bool there = std::find(writes.begin(), writes.end(), own) != writes.end();
        if (!there && writes.empty()) return;
        float* const at = call.tensors[there ? own : writes.front()];
        float number = 0;
        read(at, {&number, 1});
        number = std::bit_cast<float>(std::bit_cast<std::uint32_t>(number) ^ 1U);
        write(at, {&number, 1});
    }

    const DeviceFault fault_;
    const program::Program* program_ = nullptr;
    std::uint64_t runs_ = 0;
    std::uint64_t allocations_ = 0;
    bool lost_ = false;
};

}  // namespace

base::Outcome<std::optional<DeviceFault>> parse_device_fault(std::string_view value,
                                                             std::string_view device) {
    std::istringstream words{std::string(value)};
    const std::vector<std::string> all{std::istream_iterator<std::string>(words), {}};
    const auto wrong = [&] {
        return fail(
            ErrorKind::kUsage, "ASSAY_DEVICE_FAULT: '" + std::string(value) + "' is no fault",
            "write DEVICE KIND NUMBER, like: cuda-host lost 40 (kinds: memory, lost, dies, hangs, wrong)");
    };
    if (all.size() != 3) return wrong();
    const auto word = std::find_if(std::begin(kWords), std::end(kWords),
                                   [&](const auto& entry) { return entry.first == all[1]; });
    DeviceFault fault;
    const std::string& number = all[2];
    const auto parsed = std::from_chars(number.data(), number.data() + number.size(), fault.number);
    const bool whole = parsed.ec == std::errc() && parsed.ptr == number.data() + number.size();
    if (word == std::end(kWords) || !whole) return wrong();
    fault.kind = word->second;
    if (all[0] != device) return std::optional<DeviceFault>();
    return std::optional(fault);
}

base::Outcome<std::optional<DeviceFault>> device_fault_from_environment(std::string_view device) {
    const char* const value = std::getenv("ASSAY_DEVICE_FAULT");
    if (value == nullptr || *value == '\0') return std::optional<DeviceFault>();
    return parse_device_fault(value, device);
}

std::unique_ptr<Device> with_fault(std::unique_ptr<Device> device, const DeviceFault& fault) {
    return std::make_unique<FaultyDevice>(std::move(device), fault);
}

}  // namespace assay::trainer
