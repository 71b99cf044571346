// SPDX-License-Identifier: Apache-2.0
// Gives a ledger node and its followers the marketplace's rules (contracts/rules) as a StateMachine.
// Stateless.
#pragma once

#include "ledger/application/machine.hpp"

namespace assay::ledger {

const StateMachine& rules_machine();

}  // namespace assay::ledger
