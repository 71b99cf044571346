// SPDX-License-Identifier: Apache-2.0
// DeviceFault makes a device break on purpose, so that drills and tests can show that its users go on. The
// self-test finds a kWrong fault. It runs without the other kinds, which strike in the middle of work.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "contracts/base/error.hpp"
#include "trainer/step/device.hpp"

namespace assay::trainer {

enum class DeviceFaultKind : std::uint8_t {
    kMemory,  ///< no more memory: an allocation throws std::bad_alloc
    kLost,    ///< it is gone: nothing is computed any more, and check() says so
    kDies,    ///< SIGKILL ends the process, as a driver's crash may
    kHangs,   ///< a piece of work never ends, as a kernel on a broken card
    kWrong,   ///< the lowest bit of the first number that an operator writes is flipped
};

struct DeviceFault {
    DeviceFaultKind kind = DeviceFaultKind::kLost;
    /// kMemory: the allocation that fails; kLost, kDies and kHangs: the call of Device::run. Both count from
    /// 1 when the device is opened, and all later ones fail, too. kWrong: the operator of a program, from 0,
    /// modulo the program's number of operators.
    std::uint64_t number = 1;
    friend bool operator==(const DeviceFault&, const DeviceFault&) = default;
};

/// Returns the fault that ASSAY_DEVICE_FAULT ("DEVICE memory|lost|dies|hangs|wrong NUMBER") plants in the
/// device of this name; nothing when it names another device or is not set. kUsage for any other text.
base::Outcome<std::optional<DeviceFault>> device_fault_from_environment(std::string_view device);
/// The same for a given value of ASSAY_DEVICE_FAULT.
base::Outcome<std::optional<DeviceFault>> parse_device_fault(std::string_view value, std::string_view device);

/// Wraps the device so that it has the fault.
std::unique_ptr<Device> with_fault(std::unique_ptr<Device> device, const DeviceFault& fault);

}  // namespace assay::trainer
