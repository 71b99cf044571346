// SPDX-License-Identifier: Apache-2.0
// Gives views of the ledger what a block's height will cause, on a state that stays as it is.
#pragma once

#include "contracts/rules/state/state.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

/// What begin_block (apply.hpp) would tell on this very state. The same work, but for writing what changes,
/// and for the check that it conserves money, which is for what is written.
Events foresee_block(const StateView& state, const BlockContext& block);

}  // namespace assay::contracts
