// SPDX-License-Identifier: Apache-2.0
// Gives drills and tests DeviceFault: what a device that breaks does, so that whoever works with it can be
// seen to go on. A device that has one is never taken for a sound one by its self-test.
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
    kDies,    ///< the process ends by SIGKILL, as a driver's crash may end it
    kWrong,   ///< the lowest bit of the first number that an operator writes is another
};

struct DeviceFault {
    DeviceFaultKind kind = DeviceFaultKind::kLost;
    /// kMemory: the allocation, kLost and kDies: the piece of work (Device::run), from 1 and from when the
    /// device was opened; all later ones fail too. kWrong: the operator of a program, from 0,
    /// counted round where it has fewer.
    std::uint64_t number = 1;
    friend bool operator==(const DeviceFault&, const DeviceFault&) = default;
};

/// The fault that ASSAY_DEVICE_FAULT ("DEVICE memory|lost|dies|wrong NUMBER") plants in the device of this
/// name; nothing where it names another device or is not set. kUsage for other words.
base::Outcome<std::optional<DeviceFault>> device_fault_from_environment(std::string_view device);
/// The same of its value.
base::Outcome<std::optional<DeviceFault>> parse_device_fault(std::string_view value, std::string_view device);

/// The device, with the fault in it.
std::unique_ptr<Device> with_fault(std::unique_ptr<Device> device, const DeviceFault& fault);

}  // namespace assay::trainer
