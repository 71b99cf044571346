// SPDX-License-Identifier: Apache-2.0
#include "node/views/supply.hpp"

#include "tests/support/catch.hpp"

namespace assay::node {

TEST_CASE("money that was made or lost shows in the supply delta with its sign") {
    contracts::Supply supply;
    supply.minted = base::units(100);
    supply.balances = base::units(60);
    supply.escrow = base::units(30);
    supply.burned = base::units(10);
    REQUIRE(supply_delta(supply) == 0);
    supply.stake = base::units(5);
    REQUIRE(supply_delta(supply) == -5);
    supply.balances = base::units(50);
    REQUIRE(supply_delta(supply) == 5);
}

}  // namespace assay::node
