// SPDX-License-Identifier: Apache-2.0
// Gives the rules and views the length of the market's history.
#pragma once

#include <cstdint>

#include "contracts/rules/market/params.hpp"

namespace assay::contracts {

/// The heights of the epochs whose clearings the state keeps. Longer than two epochs.
inline std::uint64_t kept_window(const MarketParams& market) {
    return market.epoch * market.history_epochs + 1;
}

}  // namespace assay::contracts
