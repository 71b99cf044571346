// SPDX-License-Identifier: Apache-2.0
// What the certificate of a model says of claims that lost a game after they were merged, at every moment of
// a market in which that happens.
#include "node/audit/birth_certificate.hpp"
#include "tests/node/roles/small_market.hpp"

namespace assay::node {
namespace {

using namespace test_market;

/// Of the model that round 0 gave, as the ledger has it now.
BirthCertificate certificate_now(const Market& market) {
    const contracts::MemoryState state = market.with_evidence();
    const contracts::Job job = *market.job();
    auto made = certify(state, job, "market", market.round(0).result.base_blob, reveals_in(state, job.id));
    if (!made.ok()) FAIL(made.error().what);
    REQUIRE(made->rounds.size() == 1);
    return *std::move(made);
}

bool has_defeat(const Market& market) {
    for (const contracts::Game& game : contracts::list_games(market.state(), market.job()->id))
        if (!game.is_open() && game.claimant_lost) return true;
    return false;
}

void check_told_later(const BirthCertificate& early, const BirthCertificate& late) {
    CHECK(differences(late, late).empty());
    const auto found = differences(early, late);
    REQUIRE(found.size() == 1);
    CHECK(found[0].find("fetch the model again") != std::string::npos);
}

}  // namespace

TEST_CASE("a certificate names a merge that died, once for its claimant, and whether windows are open") {
    MarketOptions options;
    options.claim_window = 120;
    options.conducts = {{"vera", Misconduct::kBadMerge}, {"viki", Misconduct::kBadMerge}};
    Market market(options);
    market.start();
    REQUIRE(market.turn_until([&] { return market.settled(0); }));
    REQUIRE(market.round(0).merged);
    const BirthCertificate early = certificate_now(market);
    CHECK(early.rounds[0].defeated.empty());
    CHECK(early.rounds[0].windows_open);
    REQUIRE(market.turn_until([&] { return has_defeat(market); }));
    const BirthCertificate dead = certificate_now(market);
    REQUIRE(dead.rounds[0].defeated.size() == 1);
    const DefeatedClaim& defeat = dead.rounds[0].defeated[0];
    CHECK(defeat.claim == contracts::ClaimKind::kMerge);
    CHECK(defeat.unit == dispute::UnitKind::kMerge);
    CHECK(defeat.claimant != market.party("vito").node.public_key());
    CHECK(is_possible(defeat, dead.rounds[0], dead.spec));
    check_told_later(early, dead);
    // Whoever is called about it stands for its word: the certificate speaks of claims alone.
    REQUIRE(market.turn_until([&] { return market.job()->phase == contracts::JobPhase::kEnded; }, 2'000));
    const BirthCertificate last = certificate_now(market);
    CHECK(last.rounds[0].defeated == dead.rounds[0].defeated);
    CHECK_FALSE(last.rounds[0].windows_open);
    check_told_later(early, last);
    CHECK(differences(dead, last).empty());
}

TEST_CASE("a certificate names a merged slot that one party without a seat on its panel showed to be false") {
    worker::Drill drill{.kind = worker::DrillKind::kOperator, .segment = 1, .tensor = ""};
    drill.step = 1;
    drill.operator_index = 17;
    drill.index = 320;
    MarketOptions options;
    options.claim_window = 120;
    options.drills["mia"] = {{.round = 0, .drill = drill}};
    options.colluding = {"vera", "viki", "vito"};
    options.challenges["bea"] = 1;
    Market market(options);
    market.start();
    REQUIRE(market.turn_until([&] { return market.settled(0); }));
    const BirthCertificate early = certificate_now(market);
    CHECK(early.rounds[0].defeated.empty());
    REQUIRE(market.turn_until([&] { return has_defeat(market); }, 2'000));
    const BirthCertificate dead = certificate_now(market);
    REQUIRE(dead.rounds[0].defeated.size() == 1);
    const DefeatedClaim& defeat = dead.rounds[0].defeated[0];
    CHECK(defeat.claim == contracts::ClaimKind::kSlot);
    CHECK(defeat.claimant == market.party("mia").node.public_key());
    CHECK(defeat.unit == dispute::UnitKind::kSegment);
    CHECK(defeat.part == 1);
    CHECK(defeat.reason == contracts::Reason::kDisputeLost);
    CHECK(is_possible(defeat, dead.rounds[0], dead.spec));
    check_told_later(early, dead);
}

}  // namespace assay::node
