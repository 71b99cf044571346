// SPDX-License-Identifier: Apache-2.0
// Gives devices DeviceFailure, which says why one cannot go on: its own memory is used up, or it is lost.
#pragma once

#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "contracts/base/error.hpp"

namespace assay::trainer {

/// kFailure: memory of the device is used up. kUnreachable: the device is lost, and is not to be used again;
/// what it gave before is right. A device that computes other bits is neither (Device::check, kPreflight).
class DeviceFailure : public std::bad_alloc {
public:
    explicit DeviceFailure(base::Error error) : error_(std::move(error)) {}
    [[nodiscard]] const base::Error& error() const { return error_; }
    [[nodiscard]] const char* what() const noexcept override { return error_.what.c_str(); }

private:
    base::Error error_;
};

/// `asked` bytes beside the `used` ones of a device that has `size`; 0 of either: nobody knows.
DeviceFailure out_of_device_memory(std::string_view device, std::uint64_t asked, std::uint64_t used,
                                   std::uint64_t size);
DeviceFailure lost_device(std::string_view device, std::string_view why);

/// What a person is told of memory that was not there for `what`: a device's own words, else those about the
/// host.
base::Failed<base::Error> memory_error(const std::bad_alloc& problem, std::string_view what);

}  // namespace assay::trainer
