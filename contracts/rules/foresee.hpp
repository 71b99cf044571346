// SPDX-License-Identifier: Apache-2.0
// Predicts, for views of the ledger, what a block's height will cause. The state does not change.
#pragma once

#include "contracts/rules/state/state.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

/// The events that begin_block (apply.hpp) would report on this very state. Does the same work, but does not
/// write the changes, and omits the conservation check, which is about what is written.
Events foresee_block(const StateView& state, const BlockContext& block);

}  // namespace assay::contracts
