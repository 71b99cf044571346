// SPDX-License-Identifier: Apache-2.0
// A network that stays, and one whose parties do not come up.
#include "node/devnet/stay_up.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace assay::node {

TEST_CASE("a network ends where a miner ends before everybody has staked, whatever its exit code") {
    const test::TemporaryFolder folder;
    DevnetPlan plan;
    plan.home = folder / "net";
    plan.verifiers = 2;
    plan.program = test::built_program_path("assay");
    plan.miners.resize(1);
    plan.miners[0].ask = base::units(500);
    plan.miners[0].flags = {"--help"};  // it ends with exit code 0 and never stakes
    std::stop_source left;
    const NetworkHeard heard{
        .ready = [](const Devnet&, const Network&) { FAIL_CHECK("a miner has no stake"); },
        .left = [&](const std::string&) { left.request_stop(); }};
    const auto kept = keep_network_up(plan, left.get_token(), heard);
    CHECK_FALSE(left.stop_requested());
    REQUIRE_FALSE(kept.ok());
    CHECK(kept.error().kind == base::ErrorKind::kFailure);
    INFO(kept.error().what);
    CHECK(kept.error().what.starts_with("miner-1 ended (exit code 0) before everybody had staked"));
}

}  // namespace assay::node
