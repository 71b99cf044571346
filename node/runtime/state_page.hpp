// SPDX-License-Identifier: Apache-2.0
// A page of the state as a ledger node serves it.
#pragma once

#include "contracts/rules/state/state.hpp"
#include "node/seams/ledger_service.hpp"

namespace assay::node {

/// The entries that `request` asks for, and where the next page begins. Reads at most one pair more than it
/// returns, wherever in the state the page lies.
StatePage page_of(const contracts::StateView& state, const ScanRequest& request);

}  // namespace assay::node
