// SPDX-License-Identifier: Apache-2.0
// A member of a beacon that opens its link last: it sees the draw that comes, and keeps its link back only
// where another one is worth its bond. With a third of the verifiers none is.
#include "node/sim/last_look.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "contracts/rules/round/draws.hpp"
#include "node/sim/strategies.hpp"
#include "tests/node/sim/played_row.hpp"
#include "tests/support/catch.hpp"

namespace assay::node::sim {
namespace {

using contracts::LineKind;
using contracts::SettlementLine;
using test_rows::job_of;
using test_rows::open_world;

constexpr int kJobs = 24;

base::PublicKey key(std::uint8_t first) {
    base::PublicKey made;
    made.bytes[0] = first;
    return made;
}

/// A row in which every segment is false, so that its miner is met often.
CheatRow lazy(const char* name) {
    CheatRow row = *find_strategy(name);
    row.behaviour.false_units = FalseUnits::kAll;
    return row;
}

/// The look of each job, which is the only one: one member opens last, and a round has one try or two.
DrawLook look_of(const JobOutcome& outcome) {
    REQUIRE(outcome.looks.size() == 1);
    return outcome.looks.front();
}

/// What the member that looked lost; nothing: it opened its link.
std::optional<base::Amount> lost_link(const World& world, const JobOutcome& outcome) {
    std::optional<base::Amount> lost;
    for (const SettlementLine& line : outcome.lines) {
        if (line.kind != LineKind::kLink) continue;
        CHECK(line.node == world.party("friend-last").node.public_key());
        CHECK_FALSE(lost.has_value());
        lost = line.lost;
    }
    return lost;
}

std::set<std::uint32_t> dead_slots(const JobOutcome& outcome) {
    std::set<std::uint32_t> dead;
    for (const contracts::Game& game : outcome.games)
        if (game.killed_claim() && game.kind == contracts::ClaimKind::kSlot) dead.insert(game.claim);
    return dead;
}

}  // namespace

TEST_CASE("friends alone are drawn as often as the rules draw them") {
    std::vector<JudgeCandidate> candidates;
    for (std::uint8_t i = 0; i < 9; ++i) candidates.push_back({key(i), key(i), 7});
    const std::set<base::PublicKey> friends{key(0), key(4), key(8)};
    CHECK(chance_of_friends(candidates, friends, 1) == Approx(1.0 / 3));
    CHECK(chance_of_friends(candidates, friends, 3) == Approx(1.0 / 84));
    // Unequal weights, and two names of one owner.
    candidates[4].weight = 40;
    candidates[8].owner = key(0);
    candidates[5].weight = 0;
    const double chance = chance_of_friends(candidates, friends, 2);
    std::vector<contracts::EligibleVerifier> eligible;
    for (const JudgeCandidate& one : candidates) eligible.push_back({one.node, one.owner, one.weight});
    constexpr int kDraws = 20'000;
    int alone = 0;
    for (int i = 0; i < kDraws; ++i) {
        const auto beacon = base::Hasher("assay/test/beacon").add_u64(static_cast<std::uint64_t>(i)).finish();
        const auto drawn = contracts::draw_weighted(beacon, "verifiers", 0, eligible, 2);
        alone +=
            std::all_of(drawn.begin(), drawn.end(), [&](const auto& node) { return friends.contains(node); });
    }
    const double deviation = std::sqrt(chance * (1 - chance) / kDraws);
    CHECK(std::abs(static_cast<double>(alone) / kDraws - chance) < 4 * deviation);
    // Where fewer are there than are drawn, all of them have to be friends.
    CHECK(chance_of_friends({{key(0), key(0), 1}, {key(4), key(4), 1}}, friends, 3) == 1);
    CHECK(chance_of_friends({{key(0), key(0), 1}, {key(5), key(5), 1}}, friends, 3) == 0);
}

TEST_CASE("who opens last sees the draw that comes, and with a third of the verifiers keeps no link back") {
    for (const char* name : {"last-look", "last-look-bought"}) {
        const auto world = open_world(lazy(name));
        int met = 0;
        int passed = 0;
        for (int job = 0; job < kJobs; ++job) {
            const JobOutcome outcome = job_of(*world);
            const DrawLook look = look_of(outcome);
            CHECK_FALSE(look.withheld);
            CHECK_FALSE(lost_link(*world, outcome).has_value());
            CHECK(look.met == dead_slots(outcome));
            CHECK(look.another <= look.opened + look.bond);
            ++(look.met.empty() ? passed : met);
        }
        CHECK(met > 0);
        CHECK(passed > 0);
    }
}

TEST_CASE("who counts no price keeps its link back wherever its accomplice is met, and loses the bond") {
    const auto world = open_world(lazy("last-look-at-any-price"));
    int withheld = 0;
    int opened = 0;
    for (int job = 0; job < kJobs; ++job) {
        const JobOutcome outcome = job_of(*world);
        const DrawLook look = look_of(outcome);
        CHECK(look.withheld == !look.met.empty());
        const auto lost = lost_link(*world, outcome);
        CHECK(lost.has_value() == look.withheld);
        if (lost) {
            CHECK(static_cast<double>(lost->units()) == look.bond);
            CHECK(look.another > look.opened);
            CHECK(look.another < look.opened + look.bond);
        }
        ++(look.withheld ? withheld : opened);
    }
    CHECK(withheld > 0);
    CHECK(opened > 0);
}

// Link bonds count with a third (Params::collusion_ppm). That the looker takes what it can where it has more
// shows that it is its bond that stops it.
TEST_CASE("a looker whose friends are two thirds of the verifiers keeps its link back, and knows why") {
    CheatRow row = lazy("last-look-bought");
    for (PartySetup& party : row.others) party.behaviour.verdicts = Verdicts::kColludes;
    const auto world = open_world(row);
    int withheld = 0;
    int saved = 0;
    for (int job = 0; job < 2 * kJobs; ++job) {
        const JobOutcome outcome = job_of(*world);
        const DrawLook look = look_of(outcome);
        CHECK(look.withheld == !look.met.empty());
        CHECK(lost_link(*world, outcome).has_value() == look.withheld);
        if (!look.withheld) continue;
        CHECK(look.another > look.opened + look.bond);
        ++withheld;
        if (dead_slots(outcome).empty()) ++saved;
    }
    CHECK(withheld > 0);
    CHECK(saved > 0);
    CHECK(saved < withheld);
}

}  // namespace assay::node::sim
