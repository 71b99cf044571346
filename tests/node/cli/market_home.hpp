// SPDX-License-Identifier: Apache-2.0
// A home whose chain holds a market: three fast lots and a slow one, two bids that do not both fit.
#pragma once

#include "tests/contracts/rules/market_world.hpp"
#include "tests/node/cli/cli_fixture.hpp"
#include "tests/node/cli/env_home.hpp"

namespace assay::test {

class MarketHome {
public:
    /// Epoch 2 runs: "buyer" leases the lots at 20 and 40, the one at 100 and the slow one at 50 are not
    /// sold; "other" bid 300 for two and lost.
    MarketHome() {
        world.seal_lot("m1", {.price = 20});
        world.seal_lot("m2", {.price = 40});
        world.seal_lot("m3", {.price = 100});
        world.seal_lot("m4", {.price = 50, .kind = contracts::test::kSlow, .epochs = 3});
        world.seal_bid("buyer", {.lots = 2, .price = 500});
        world.seal_bid("other", {.lots = 2, .price = 300});
        world.open_and_clear();
        world.to_next_epoch();
    }
    /// The ledger of the home from here on.
    void write() { write_ledger(world.env, cli.home()); }
    [[nodiscard]] CliRun offline(std::vector<std::string> words) const {
        words.emplace_back("--offline");
        return cli(words);
    }

    Cli cli;
    contracts::test::MarketWorld world;
};

}  // namespace assay::test
