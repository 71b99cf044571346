// SPDX-License-Identifier: Apache-2.0
// Markets whose updates have several chunks: verifiers fetch parts of them and exchange these. Somebody among
// them is gone, trickles, lies or starts again; or the miner gives a part alone.
#include "contracts/program/round_plan.hpp"
#include "node/audit/slot_traffic.hpp"
#include "tests/node/roles/small_market.hpp"

namespace assay::node {
namespace {

using namespace test_market;
using contracts::Reason;
using contracts::RoundPhase;

/// Nothing is drawn, so that every verifier has to fetch every update, of three chunks.
MarketOptions wide(std::uint32_t rounds = 1) {
    MarketOptions options;
    options.draw_everything = false;
    options.draw_finalise = false;
    options.rounds = rounds;
    options.width = 120;
    return options;
}

std::uint64_t update_bytes(const Market& market) { return program::file_sizes(market.spec()).update; }

std::string miner_of(const Market& market, std::uint32_t round, std::uint32_t place) {
    for (const auto& [name, party] : market.parties()) {
        if (party->node.public_key() == market.slot(round, place).miner) return name;
    }
    return {};
}

/// Bytes of the slot's update that its miner gave, to whomever.
std::uint64_t sent_by_miner(Market& market, std::uint32_t round, std::uint32_t place) {
    const contracts::MemoryState whole = market.with_evidence();
    const auto reveal = contracts::read_reveal(whole, market.job()->id, round, place);
    REQUIRE(reveal);
    return market.party(miner_of(market, round, place)).sent[reveal->update_blob];
}

bool is_drawn(const Market& market, std::uint32_t round, std::uint32_t place) {
    return !market.slot(round, place).drawn_units.empty();
}

void check_nobody_lost(const Market& market) {
    for (const auto& line : contracts::list_settlement(market.state(), market.job()->id, 0))
        CHECK(line.lost.is_zero());
}

}  // namespace

TEST_CASE("three verifiers fetch an update once of its miner and the rest of each other") {
    Market market(wide());
    market.start();
    check_all_paid(market);
    const std::uint64_t update = update_bytes(market);
    REQUIRE(update > 2 * kChunkBytes);
    int undrawn_slots = 0;
    for (std::uint32_t round = 0; round < market.spec().rounds; ++round) {
        for (std::uint32_t slot = 0; slot < market.spec().slots; ++slot) {
            if (is_drawn(market, round, slot)) continue;
            ++undrawn_slots;
            CHECK(sent_by_miner(market, round, slot) == update);
        }
    }
    CHECK(undrawn_slots > 0);
    for (const std::string name : {"vera", "viki", "vito"}) CHECK_FALSE(market.party(name).sent.empty());
}

TEST_CASE("parts of the state that a slot hands on are exchanged as well, also of a miner that dials out") {
    MarketOptions options = wide(2);
    options.draw_finalise = true;
    options.inner_state = program::InnerState::kCarried;
    options.outward = {"mia", "moe"};
    Market market(options);
    market.start();
    check_all_paid(market);
    // Whoever recomputes `finalise` has the update of a slot, and the third asks its miner for a part alone.
    for (std::uint32_t slot = 0; slot < market.spec().slots; ++slot) {
        CHECK(sent_by_miner(market, 0, slot) <= 2 * kChunkBytes);
    }
    CHECK(market.party("vera").received[Traffic::kCarried] > 0);
}

TEST_CASE("plan's bytes of a slot, up and down, are those that a market moves") {
    constexpr std::uint32_t kRounds = 6;
    MarketOptions options;
    options.draw_everything = false;  // `finalise` alone is drawn for certain
    options.rounds = kRounds;
    Market market(options);
    market.start();
    check_all_paid(market);
    program::JobSpec spec = market.spec();
    spec.security.audit_threshold = 0;
    const SlotTraffic planned = slot_traffic(spec, plan_bytes(spec), 3);
    std::uint64_t slots = 0;
    double drawn = 0;
    for (std::uint32_t round = 0; round < kRounds; ++round) {
        for (std::uint32_t slot = 0; slot < spec.slots; ++slot) {
            drawn += static_cast<double>(market.slot(round, slot).verifiers.size());
            slots += market.slot(round, slot).drawn_units.size() == 1 ? 1U : 0U;
        }
    }
    REQUIRE(slots == kRounds * spec.slots);  // another luck, if a segment was drawn
    const auto bytes_of = [](const auto& counts) {
        double sum = 0;
        for (const auto& [what, bytes] : counts) sum += static_cast<double>(bytes);
        return sum;
    };
    double miners_up = 0, miners_down = 0, verifiers_down = 0;
    for (const std::string name : {"mia", "moe"}) {
        miners_up += bytes_of(market.party(name).sent);
        miners_down += static_cast<double>(market.party(name).received[Traffic::kUpdate]);
    }
    for (const std::string name : {"vera", "viki", "vito"}) {
        auto received = market.party(name).received;
        received.erase(Traffic::kData);
        verifiers_down += bytes_of(received);
    }
    const auto of = [&](std::uint64_t each, double count) { return static_cast<double>(each) * count; };
    // A verifier's download is the formula to a hundredth, which counts with two verifiers a slot: whoever is
    // drawn besides fetches a start and lacks no update. Nobody goes on from the last round's updates.
    const program::FileSizes sizes = program::file_sizes(spec);
    const double spared =
        static_cast<double>(sizes.update) - static_cast<double>(sizes.slot_head + sizes.array);
    const double more = drawn - 2.0 * static_cast<double>(slots);
    CHECK(verifiers_down + more * spared ==
          Approx(of(planned.verifier_down.proven, 3.0 * static_cast<double>(slots))).epsilon(0.01));
    CHECK(miners_down ==
          Approx(of(planned.miner_down, static_cast<double>(slots - spec.slots))).epsilon(0.01));
    // Which third of an update comes of its miner is a matter of who was drawn: a quarter off at most.
    CHECK(miners_up == Approx(of(planned.miner_up.proven, static_cast<double>(slots))).epsilon(0.25));
}

TEST_CASE("a verifier that is gone costs half of the window, and no slot its pay") {
    Market market(wide());
    market.start();
    REQUIRE(market.turn_until([&] { return market.at_phase(0, RoundPhase::kReveal); }));
    market.party("viki").ended = true;
    market.party("viki").serves = false;
    REQUIRE(market.turn_until([&] { return market.settled(0); }));
    for (std::uint32_t slot = 0; slot < market.spec().slots; ++slot) {
        CHECK(market.slot(0, slot).verdict == Reason::kPaid);
        if (is_drawn(market, 0, slot)) continue;
        // Two parts once, and the third to each of two at most.
        CHECK(sent_by_miner(market, 0, slot) < update_bytes(market) + 2 * kChunkBytes);
    }
}

TEST_CASE("a verifier that trickles what it has is left, and no slot loses by it") {
    Market market(wide());
    market.start();
    REQUIRE(market.turn_until([&] { return market.at_phase(0, RoundPhase::kReveal); }));
    market.party("viki").trickles = true;
    REQUIRE(market.turn_until([&] { return market.round(0).phase > RoundPhase::kStore; }));
    market.party("viki").trickles = false;
    check_all_paid(market);
    check_nobody_lost(market);
}

TEST_CASE("a verifier that gives false parts is named by the others, who store every slot") {
    Market market(wide());
    market.start();
    REQUIRE(market.turn_until([&] { return market.at_phase(0, RoundPhase::kReveal); }));
    market.party("viki").lies = true;
    check_all_paid(market);
    check_nobody_lost(market);
    bool named = false;
    for (const std::string name : {"vera", "vito"}) {
        named = named || market.party(name).log.said("viki:1: chunk", "is not the one its hash names");
    }
    CHECK(named);
}

TEST_CASE("a slot whose miner gives one part alone is not stored, and nobody loses anything") {
    Market market(wide());
    market.start();
    REQUIRE(market.turn_until([&] { return market.at_phase(0, RoundPhase::kReveal); }));
    market.party("mia").only = ChunkRange{0, 1};
    REQUIRE(market.turn_until([&] { return market.settled(0); }));
    check_nobody_ended(market);
    int not_stored = 0;
    for (std::uint32_t slot = 0; slot < market.spec().slots; ++slot) {
        if (is_drawn(market, 0, slot)) continue;
        const bool mias = miner_of(market, 0, slot) == "mia";
        not_stored += mias ? 1 : 0;
        CHECK(market.slot(0, slot).verdict == (mias ? Reason::kNotStored : Reason::kPaid));
        CHECK(market.slot(0, slot).stored == !mias);
    }
    CHECK(not_stored == 1);
    check_nobody_lost(market);
}

TEST_CASE("a verifier that starts again in the middle goes on with the parts that it had") {
    Market market(wide());
    market.start();
    REQUIRE(market.turn_until([&] { return market.at_phase(0, RoundPhase::kStore); }));
    market.restart_verifier("viki");
    check_all_paid(market);
    check_nobody_lost(market);
    for (std::uint32_t slot = 0; slot < market.spec().slots; ++slot) {
        if (!is_drawn(market, 0, slot)) CHECK(sent_by_miner(market, 0, slot) == update_bytes(market));
    }
}

}  // namespace assay::node
