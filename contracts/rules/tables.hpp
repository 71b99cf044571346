// SPDX-License-Identifier: Apache-2.0
// Every stored layout, for readers of the state outside the rules: keys, records and readers of all subjects.
#pragma once

#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/dispute/tables.hpp"
#include "contracts/rules/identity/tables.hpp"
#include "contracts/rules/job/history.hpp"
#include "contracts/rules/job/tables.hpp"
#include "contracts/rules/market/leases.hpp"
#include "contracts/rules/market/tables.hpp"
#include "contracts/rules/round/tables.hpp"
#include "contracts/rules/state/tables.hpp"
