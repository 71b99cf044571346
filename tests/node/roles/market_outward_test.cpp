// SPDX-License-Identifier: Apache-2.0
// A market with a miner that accepts no connection: its verifiers alone can ask it, over calls that it opens
// to them, and everybody else asks the verifiers.
#include "contracts/program/round_plan.hpp"
#include "node/roles/outward_peers.hpp"
#include "tests/node/roles/small_market.hpp"

namespace assay::node {
namespace {

using namespace test_market;
using contracts::Reason;

MarketOptions with_outward_miner() {
    MarketOptions options;
    options.outward = {"mia"};
    return options;
}

}  // namespace

TEST_CASE("a miner that accepts no connection is audited from what it serves, and paid") {
    MarketOptions options = with_outward_miner();
    options.draw_everything = false;  // `finalise` alone, from a state that its miner serves
    Market market(options);
    market.start();
    std::set<OutwardPeer> lent;
    std::set<base::PublicKey> admitted;
    REQUIRE(market.turn_until([&] {
        for (const OutwardPeer& peer : market.party("mia").blobs.lent) lent.insert(peer);
        const auto& now = market.party("vera").blobs.admitted;
        admitted.insert(now.begin(), now.end());
        return market.ended();
    }));
    check_all_paid(market);
    for (const auto& slot : slots_of(market, "mia", 0)) {
        const auto audited = market.audited(0, slot.slot);
        CHECK(audited.served == static_cast<int>(slot.verifiers.size()));
        CHECK(audited.replayed == 0);
    }
    REQUIRE_FALSE(slots_of(market, "mia", 0).empty());
    // Calls go to the job's verifiers, and are taken of its outward miner, and of nobody else.
    std::set<OutwardPeer> verifiers;
    for (const std::string name : {"vera", "viki", "vito"}) {
        verifiers.insert({market.party(name).node.public_key(), name + ":1"});
    }
    CHECK(lent == verifiers);
    CHECK(admitted == std::set{market.party("mia").node.public_key()});
    CHECK(market.party("moe").blobs.lent.empty());
    // Once the job is over nobody is asked any more.
    market.turn();
    CHECK(market.party("mia").blobs.lent.empty());
    CHECK(market.party("vera").blobs.admitted.empty());
}

TEST_CASE("nothing is drawn, and the updates of a miner that accepts no connection are stored and merged") {
    MarketOptions options = with_outward_miner();
    options.draw_everything = false;
    options.draw_finalise = false;
    options.rounds = 3;
    Market market(options);
    market.start();
    check_all_paid(market);
    // The other miner makes each round's base itself: the updates came to it by the verifiers.
    CHECK(market.party("moe").received[Traffic::kUpdate] > 0);
    CHECK(market.party("moe").received[Traffic::kBase] == 0);
}

TEST_CASE("what a slot of a miner that accepts no connection carries goes to whoever takes the slot") {
    MarketOptions options = with_outward_miner();
    options.miners = {"mia", "moe", "max"};
    options.outward = {"mia", "moe", "max"};
    options.rounds = 8;  // enough for slots to change hands
    options.inner_state = program::InnerState::kCarried;
    Market market(options);
    market.start();
    check_all_paid(market);
    int moved = 0;
    for (std::uint32_t round = 1; round < 8; ++round) {
        for (std::uint32_t slot = 0; slot < market.spec().slots; ++slot) {
            const base::PublicKey before = market.slot(round - 1, slot).miner;
            if (market.slot(round, slot).miner != before) ++moved;
        }
    }
    CHECK(moved > 0);
}

TEST_CASE("a miner whose calls nobody gets is as one that serves nothing: replayed, and nobody forfeits") {
    MarketOptions options = with_outward_miner();
    options.rounds = 1;
    options.draw_everything = false;
    Market market(options);
    market.start();
    market.party("mia").serves = false;
    REQUIRE(market.turn_until([&] { return market.ended(); }, 800));
    check_nobody_ended(market);
    for (const auto& slot : slots_of(market, "mia", 0)) {
        CHECK(slot.verdict == Reason::kPaid);  // two replays agree, and the verifiers hold the update
        CHECK(market.audited(0, slot.slot).replayed == 3);
    }
    for (const auto& slot : slots_of(market, "moe", 0)) CHECK(slot.verdict == Reason::kPaid);
}

}  // namespace assay::node
