// SPDX-License-Identifier: Apache-2.0
// The price of a work unit in a round, for rules and readers of the state. A job with an auction of its own
// has one price, its clearing price. In a job that leases, a slot has the price of its miner's lot. A slot's
// pay, its bond, and what replays take out of that pay use the slot's price. Fees, penalties, and the cost of
// games use the round's price, the highest of its slots, because nobody who judges a slot chose its miner.
#pragma once

#include <optional>

#include "contracts/rules/job/records.hpp"
#include "contracts/rules/round/records.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::contracts {

Bytes round_prices_key(const Hash256& job, std::uint32_t round);
/// The stored prices. Only a dealt round of a job that leases has them.
std::optional<RoundPrices> read_round_prices(const StateView& state, const Hash256& job, std::uint32_t round);

/// The prices of every slot of the round, for any job. Before a round is dealt, a job that leases has its cap
/// as the price.
RoundPrices prices_of_round(const StateView& state, const Job& job, std::uint32_t round);
/// REQUIRES a slot of the job.
Amount price_of_slot(const StateView& state, const Job& job, std::uint32_t round, std::uint32_t slot);
Amount price_of_round(const StateView& state, const Job& job, std::uint32_t round);
/// An upper bound of the price of every round of the job. REQUIRES a job that leases or whose auction was
/// held.
Amount price_at_most(const Job& job);

}  // namespace assay::contracts
