// SPDX-License-Identifier: Apache-2.0
// DeviceFailure is what a device throws when it cannot go on: its own memory is used up, or it is lost.
#pragma once

#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "contracts/base/error.hpp"

namespace assay::trainer {

/// kFailure: the device's memory is used up. kUnreachable: the device is lost and must not be used again; its
/// earlier results are right. A device that computes other bits is a different case: Device::check() fails
/// with kPreflight.
class DeviceFailure : public std::bad_alloc {
public:
    explicit DeviceFailure(base::Error error) : error_(std::move(error)) {}
    [[nodiscard]] const base::Error& error() const { return error_; }
    [[nodiscard]] const char* what() const noexcept override { return error_.what.c_str(); }

private:
    base::Error error_;
};

/// `asked` more bytes were wanted while `used` of the device's `size` were in use. `asked` or `size` 0: not
/// known.
DeviceFailure out_of_device_memory(std::string_view device, std::uint64_t asked, std::uint64_t used,
                                   std::uint64_t size);
DeviceFailure lost_device(std::string_view device, std::string_view why);

/// The error for a person when memory for `what` was short: a DeviceFailure's own, else one about the host's
/// memory.
base::Failed<base::Error> memory_error(const std::bad_alloc& problem, std::string_view what);

}  // namespace assay::trainer
