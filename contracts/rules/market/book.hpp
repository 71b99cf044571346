// SPDX-License-Identifier: Apache-2.0
// Gives the market, and readers of the state, the base price that a clearing begins with; and the market its
// record of the last epochs.
#pragma once

#include "contracts/rules/market/params.hpp"
#include "contracts/rules/market/records.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::contracts {

/// The base price at which an epoch of the class is cleared: what the epoch before it sold, instant leases
/// too, moves the price of that one. A class that nobody offered in begins with the least price there is.
Amount base_price_for(const StateView& state, const LotClass& kind, std::uint64_t epoch, Amount least);

/// Keeps what the epoch came to; the oldest that is kept goes.
void write_class_epoch(State& state, const LotClass& kind, std::uint64_t epoch, const ClassEpoch& cleared,
                       const MarketParams& params);
/// Classes in which nobody offered for as many epochs as the history has are forgotten.
void forget_old_classes(State& state, std::uint64_t epoch, const MarketParams& params);

}  // namespace assay::contracts
