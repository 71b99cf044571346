// SPDX-License-Identifier: Apache-2.0
// Gives the simulator its strategies in which a beacon member withholds a link for an accomplice.
#pragma once

#include <vector>

#include "node/sim/strategies.hpp"

namespace assay::node::sim {

std::vector<CheatRow> link_rows();

}  // namespace assay::node::sim
