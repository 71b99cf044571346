// SPDX-License-Identifier: Apache-2.0
// EngineClock is the source of time for engines. Rules never see it.
#pragma once

#include <cstdint>

namespace assay::ledger {

class EngineClock {
public:
    virtual ~EngineClock() = default;
    /// Never goes back; only differences have a meaning.
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
