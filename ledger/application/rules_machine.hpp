// SPDX-License-Identifier: Apache-2.0
// The marketplace's rules (contracts/rules) as a StateMachine, for a ledger node and its followers. It has no
// state.
#pragma once

#include "ledger/application/machine.hpp"

namespace assay::ledger {

const StateMachine& rules_machine();

}  // namespace assay::ledger
