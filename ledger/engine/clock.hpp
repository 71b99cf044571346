// SPDX-License-Identifier: Apache-2.0
// EngineClock is the source of time for engines. Rules never see it.
#pragma once

#include <cstdint>

namespace assay::ledger {

/// A wall clock's reading as engines take it: a time before 1970 is 1970.
constexpr std::uint64_t unix_ms(std::int64_t reading_ms) {
    return reading_ms < 0 ? 0 : static_cast<std::uint64_t>(reading_ms);
}

class EngineClock {
public:
    virtual ~EngineClock() = default;
    /// Never goes back; only differences have a meaning. Goes on while the machine is suspended.
    virtual std::uint64_t monotonic_ms() = 0;
    /// Unix epoch; may jump.
    virtual std::uint64_t wall_ms() = 0;
};

class SystemEngineClock final : public EngineClock {
public:
    std::uint64_t monotonic_ms() override;
    std::uint64_t wall_ms() override;
};

}  // namespace assay::ledger
