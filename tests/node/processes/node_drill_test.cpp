// SPDX-License-Identifier: Apache-2.0
// A ledger node is told to cheat on devnets alone.
#include "node/processes/node_process.hpp"
#include "tests/node/processes/site.hpp"

namespace assay::node {

using test_site::Site;

TEST_CASE("a ledger node of another chain than a devnet leaves out nobody's moves and has no wrong clock") {
    const Site site;
    NodeProcessOptions options;
    options.home = site.home;
    options.genesis = site.genesis;
    options.passphrase.file = site.folder / "words";
    options.listen = "127.0.0.1:0";
    NodeProcessOptions late = options;
    options.drops_moves_of = site.alices_node();
    late.clock_offset_ms = 1'000;
    for (const NodeProcessOptions& drilled : {options, late}) {
        const auto ended = run_ledger_node(drilled, {});
        REQUIRE_FALSE(ended.ok());
        CHECK(ended.error().kind == base::ErrorKind::kUsage);
        CHECK(ended.error().what.find("devnet only") != std::string::npos);
    }
}

}  // namespace assay::node
