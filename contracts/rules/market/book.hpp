// SPDX-License-Identifier: Apache-2.0
// The base price with which a clearing begins, for the market and readers of the state, and the market's
// record of the last epochs.
#pragma once

#include "contracts/rules/market/params.hpp"
#include "contracts/rules/market/records.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::contracts {

/// The base price at which an epoch of the class is cleared. It is the price of the epoch before, moved by
/// what that epoch sold, instant leases included. A class without a record begins with `least`.
Amount base_price_for(const StateView& state, const LotClass& kind, std::uint64_t epoch, Amount least);

/// Records the result of the epoch, and removes the records older than MarketParams::history_epochs.
void write_class_epoch(State& state, const LotClass& kind, std::uint64_t epoch, const ClassEpoch& cleared,
                       const MarketParams& params);
/// Removes the classes that were not cleared in the last MarketParams::history_epochs epochs.
void forget_old_classes(State& state, std::uint64_t epoch, const MarketParams& params);

}  // namespace assay::contracts
