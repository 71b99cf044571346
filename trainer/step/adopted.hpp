// SPDX-License-Identifier: Apache-2.0
// Adopted and AdoptedReadOnly hand a host array to a device for a scope, and take it back at its end.
#pragma once

#include <cstdint>
#include <span>

#include "trainer/step/device.hpp"

namespace assay::trainer {

/// Whether a whole array lies in the device's memory, or passes through it a part at a time
/// (Device::adopt_streamed).
enum class Adoption : std::uint8_t { kWhole, kStreamed };

/// An array that the device may change. sync() brings the changes back; without it they are lost.
class Adopted {
public:
    Adopted(Device& device, std::span<float> host, Adoption how = Adoption::kWhole)
        : device_(device),
          at_(how == Adoption::kWhole ? device.adopt(host) : device.adopt_streamed(host)),
          count_(host.size()) {}
    Adopted(const Adopted&) = delete;
    Adopted& operator=(const Adopted&) = delete;
    ~Adopted() { device_.drop(at_); }

    [[nodiscard]] float* at() const { return at_; }
    [[nodiscard]] DeviceArray array() const { return {at_, count_}; }
    void sync() { device_.sync(at_); }

private:
    Device& device_;
    float* at_;
    std::size_t count_;
};

/// An array that the device only reads.
class AdoptedReadOnly {
public:
    AdoptedReadOnly(Device& device, std::span<const float> host, Adoption how = Adoption::kWhole)
        : device_(device),
          at_(how == Adoption::kWhole ? device.adopt_read_only(host) : device.adopt_streamed_read_only(host)),
          count_(host.size()) {}
    AdoptedReadOnly(const AdoptedReadOnly&) = delete;
    AdoptedReadOnly& operator=(const AdoptedReadOnly&) = delete;
    ~AdoptedReadOnly() { device_.drop(at_); }

    [[nodiscard]] const float* at() const { return at_; }
    [[nodiscard]] DeviceView array() const { return {at_, count_}; }

private:
    Device& device_;
    const float* at_;
    std::size_t count_;
};

/// Addresses of the arrays of a slot's state on a device. Each array is as long as the model's flat
/// parameters. REQUIRES every number to be finite: the packed operands of profile i16 cannot represent
/// others, and no step leaves one behind.
struct DeviceState {
    float* parameters = nullptr;
    float* first_moment = nullptr;
    float* second_moment = nullptr;
};

/// A slot's state, for the steps of a segment.
class AdoptedState {
public:
    AdoptedState(Device& device, std::span<float> parameters, std::span<float> first_moment,
                 std::span<float> second_moment, Adoption moments = Adoption::kWhole)
        : parameters_(device, parameters),
          first_moment_(device, first_moment, moments),
          second_moment_(device, second_moment, moments) {}

    [[nodiscard]] DeviceState at() const {
        return {parameters_.at(), first_moment_.at(), second_moment_.at()};
    }
    void sync() {
        parameters_.sync();
        first_moment_.sync();
        second_moment_.sync();
    }

private:
    Adopted parameters_;
    Adopted first_moment_;
    Adopted second_moment_;
};

}  // namespace assay::trainer
