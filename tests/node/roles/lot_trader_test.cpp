// SPDX-License-Identifier: Apache-2.0
// What a miner decides about its lot, on states that the real rules made.
#include "node/roles/lot_trader.hpp"

#include "contracts/rules/market/measure.hpp"
#include "tests/contracts/rules/market_world.hpp"

namespace assay::node::test_lots {

using namespace contracts::test;
using base::Amount;
using contracts::LotClass;

namespace {

const LotTerms kTerms{.ask = base::units(500), .epochs = 3, .speed = 10, .memory = 5, .network = 8};
/// The lot that seal_lot() of the world seals on these terms.
const MarketWorld::Offer kOffer{500, kFast, 3};

LotStep step_of(MarketWorld& w, const std::optional<LotTerms>& terms = kTerms,
                const std::string& name = "m1") {
    return next_lot_step(w.env.state(), w.env.person(name).node_key(), terms);
}

void open(MarketWorld& w, const std::string& miner) { w.env.send(w.env.person(miner), w.lot_opening(miner)); }

void measure(MarketWorld& w, const std::string& name, std::uint64_t speed) {
    w.env.step([&](contracts::Work& work) {
        contracts::note_speed(work.state, w.env.person(name).node_key(), program::Profile::kF32, speed,
                              1'000);
    });
}

}  // namespace

TEST_CASE("lot trader: sizes of a class are numbers of bits") {
    for (const auto& [size, bits] :
         {std::pair{0U, 0U}, std::pair{1U, 1U}, std::pair{16U, 5U}, std::pair{31U, 5U}, std::pair{32U, 6U}}) {
        CAPTURE(size);
        CHECK(class_bits(size) == bits);
    }
}

TEST_CASE("lot trader: it seals, waits, opens, and keeps what stands") {
    MarketWorld w;
    CHECK(step_of(w) == LotStep::kSeal);  // the clock stands still: its seal starts it
    CHECK(step_of(w, std::nullopt) == LotStep::kNone);
    w.seal_lot("m1", kOffer);
    CHECK(step_of(w) == LotStep::kNone);
    CHECK(step_of(w, kTerms, "m2") == LotStep::kSeal);
    w.to_opening();
    CHECK(step_of(w) == LotStep::kOpen);
    CHECK(step_of(w, std::nullopt) == LotStep::kOpen);  // its deposit would be burned
    CHECK(step_of(w, kTerms, "m2") == LotStep::kNone);  // too late for this epoch
    open(w, "m1");
    CHECK(step_of(w) == LotStep::kNone);
    CHECK(step_of(w, std::nullopt) == LotStep::kWithdraw);
    w.to_clearing();
    CHECK(step_of(w) == LotStep::kNone);
    w.to_next_epoch();
    CHECK(w.clock().phase == contracts::MarketPhase::kStopped);
    CHECK(step_of(w) == LotStep::kNone);  // it stands for two more epochs
}

TEST_CASE(
    "lot trader: an ask that ran out is sealed anew, but not for a lot that is left where time stands") {
    MarketWorld w;
    w.seal_lot("m1", {1, kFast, 1});  // at the least base price: left for instant leases
    w.seal_lot("m2", {500, kFast, 1});
    w.open_and_clear();
    CHECK(step_of(w) == LotStep::kNone);  // the notice: nothing is sealed
    w.to_next_epoch();
    REQUIRE(w.clock().phase == contracts::MarketPhase::kStopped);
    LotTerms cheap = kTerms;
    cheap.ask = base::units(1);
    CHECK(step_of(w, cheap, "m1") == LotStep::kNone);
    CHECK(step_of(w, std::nullopt, "m1") == LotStep::kWithdraw);
    CHECK(step_of(w, kTerms, "m2") == LotStep::kSeal);
}

TEST_CASE("lot trader: what stands in another class or at another price is withdrawn while seals are taken") {
    MarketWorld w;
    w.seal_lot("m1", kOffer);
    w.open_and_clear();
    LotTerms other = kTerms;
    other.ask = base::units(501);
    CHECK(step_of(w, other) == LotStep::kNone);  // a new one could not be sealed yet
    w.to_next_epoch();
    CHECK(step_of(w, other) == LotStep::kWithdraw);
    CHECK(step_of(w) == LotStep::kNone);
    measure(w, "m1", 4'000);  // 12 bits, where it offers 10
    CHECK(class_of(w.env.state(), w.env.person("m1").node_key(), kTerms) ==
          LotClass{program::Profile::kF32, 12, 5, 8});
    CHECK(step_of(w) == LotStep::kWithdraw);
    w.env.send(w.env.person("m1"), contracts::LotWithdraw{});
    CHECK(step_of(w) == LotStep::kSeal);
    CHECK(w.free_stake("m1") == amount(kPlenty));
}

TEST_CASE("lot trader: a leased machine is bound to its job, and to no auction") {
    MarketWorld w;
    const base::PublicKey m1 = w.env.person("m1").node_key();
    w.seal_lot("m1", kOffer);
    w.seal_bid("buyer", {1, 700});
    w.open_and_clear();
    REQUIRE(w.leases("buyer").size() == 1);
    CHECK(leased_by(w.env.state(), m1) == w.first);
    CHECK(leased_by(w.env.state(), w.env.person("m2").node_key()) == std::nullopt);
    CHECK(has_place(w.env.state(), w.env.job(w.first), m1));
    CHECK_FALSE(has_place(w.env.state(), w.env.job(w.second), m1));
    CHECK_FALSE(is_bound_by_auction(w.env.state(), m1));
    CHECK(lot_lasts(w.env.state(), w.env.height()) == w.clock().end - w.env.height() + w.params().epoch);
    program::JobSpec own = small_job();
    own.name = "own";
    const base::Hash256 job = w.post(own);
    w.env.send(w.env.person("m2"), contracts::AskCommit{job, bytes_of("seal")});
    CHECK(is_bound_by_auction(w.env.state(), w.env.person("m2").node_key()));
}

TEST_CASE("lot trader: the expected speed is an eighth of the quickest pace of the profile") {
    MinerPace pace;
    CHECK(expected_speed(pace, program::Profile::kF32, 100) == std::nullopt);
    // A work unit in a millisecond is 100 in a block of 100 ms: 100,000 thousandths, half of which has 16
    // bits.
    pace.classes.push_back({program::Family::kGpt2, program::Profile::kF32, 3, 1'000, 1'000'000'000});
    pace.classes.push_back({program::Family::kGpt2, program::Profile::kF32, 4, 1, 1'000'000'000});
    pace.classes.push_back({program::Family::kGpt2, program::Profile::kI16, 3, 1'000'000, 1'000'000'000});
    CHECK(expected_speed(pace, program::Profile::kF32, 100) == 14);
    CHECK(expected_speed(pace, program::Profile::kF32, 0) == std::nullopt);
    pace.classes.front().units = UINT64_MAX;
    pace.classes.front().ns = 1;
    CHECK(expected_speed(pace, program::Profile::kF32, UINT64_MAX) == contracts::kMaxSpeedBits);
}

}  // namespace assay::node::test_lots
