// SPDX-License-Identifier: Apache-2.0
// Gives markets in one thread what may differ from one to another.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "contracts/program/job_spec.hpp"
#include "node/roles/miner.hpp"

namespace assay::node::test_market {

struct MarketOptions {
    std::vector<std::string> miners = {"mia", "moe"};

}  // namespace assay::node::test_market
