// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/market/records.hpp"

#include <algorithm>
#include <bit>

namespace assay::contracts {

std::string_view to_text(MarketPhase phase) {
    switch (phase) {
        case MarketPhase::kStopped: return "stopped";
        case MarketPhase::kSealing: return "sealing";
        case MarketPhase::kOpening: return "opening";
        case MarketPhase::kNotice: return "notice";
    }
    return "unknown";
}

std::optional<std::uint8_t> MachineSpeed::speed_bits() const {
    if (speeds.empty()) return std::nullopt;
    const std::uint64_t best = *std::max_element(speeds.begin(), speeds.end());
    return bits_of_speed(best);
}

std::uint8_t bits_of_speed(std::uint64_t speed) { return static_cast<std::uint8_t>(std::bit_width(speed)); }

}  // namespace assay::contracts
