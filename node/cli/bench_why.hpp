// SPDX-License-Identifier: Apache-2.0
// Gives `bench market` what `job why` and `miner why` do for one clearing, on a state that holds a class.
#pragma once

#include "contracts/rules/market/clearing.hpp"
#include "contracts/rules/state/state.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::node {

/// The state before a clearing of only this class. Each bid is of its own job, each ask of its own miner; all
/// are opened and covered. Ties are broken by another seed than the class names.
contracts::MemoryState state_before_clearing(const contracts::ClassMarket& market);
/// The block that clears it.
contracts::BlockContext clearing_block();

/// Gathers the market from the state, lets the rules clear it, and explains why the bid or ask at this index
/// won or lost. False when the state holds no such market.
bool explain_bid(const contracts::StateView& before, const contracts::ClassMarket& market, std::size_t bid);
bool explain_ask(const contracts::StateView& before, const contracts::ClassMarket& market, std::size_t ask);

}  // namespace assay::node
