// SPDX-License-Identifier: Apache-2.0
// Gives rules and readers of the state what a work unit costs in a round. A job with an auction of its own
// has one price, its clearing price; in one that leases, a slot has the price of its miner's lot. A slot's
// pay, its bond and what replays take out of that pay go by the slot's price; fees, penalties, and what games
// cost go by the round's, the highest of its slots: nobody who judges a slot chose its miner.
#pragma once

#include <optional>

#include "contracts/rules/job/records.hpp"
#include "contracts/rules/round/records.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::contracts {

Bytes round_prices_key(const Hash256& job, std::uint32_t round);
/// As stored: of a round that was dealt, in a job that leases.
std::optional<RoundPrices> read_round_prices(const StateView& state, const Hash256& job, std::uint32_t round);

/// Of every slot of the round, whichever job it is. Of a job that leases, before the round is dealt, its cap.
RoundPrices prices_of_round(const StateView& state, const Job& job, std::uint32_t round);
/// REQUIRES a slot of the job.
Amount price_of_slot(const StateView& state, const Job& job, std::uint32_t round, std::uint32_t slot);
Amount price_of_round(const StateView& state, const Job& job, std::uint32_t round);
/// No round of the job is dearer. REQUIRES a job that leases or whose auction was held.
Amount price_at_most(const Job& job);

}  // namespace assay::contracts
