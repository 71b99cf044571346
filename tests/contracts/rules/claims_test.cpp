// SPDX-License-Identifier: Apache-2.0
// A slot's result and a merge are claims: bond and pay are set aside when the work is given, and nothing is
// left of them when the round is settled.
#include "contracts/rules/claim/claims.hpp"

#include "contracts/rules/job/costs.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

struct ClaimsWorld {
    Env env;
    Hash256 id;

    ClaimsWorld() {
        for (const char* name : {"m1", "m2"}) env.miner(name);
        for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
        id = env.post(small_job());
        env.hold_auction(id, {{"m1", 500}, {"m2", 600}}, {"v1", "v2", "v3"});
    }
    [[nodiscard]] Amount held() const {
        Amount held;
        for (const auto& [name, claim] : list_claims(env.state(), id)) held = held.plus(claim.held).value();
        return held;
    }
    /// What the job has not spent: in its escrow and held.
    [[nodiscard]] Amount left() const { return env.job(id).escrow.plus(held()).value(); }
};

}  // namespace

TEST_CASE("a dealt slot is a claim of its miner, with its bond and its pay out of the escrow") {
    ClaimsWorld w;
    const Job job = w.env.job(w.id);
    const Amount pay = slot_pay(job.auction.clearing_price, job.slot_work).value();
    const auto claims = list_claims(w.env.state(), w.id);
    REQUIRE(claims.size() == 2);
    for (std::uint32_t number = 0; number < 2; ++number) {
        const auto& [name, claim] = claims[number];
        CHECK(name == ClaimId{w.id, 0, ClaimKind::kSlot, number});
        const SlotRound slot = *read_slot(w.env.whole(), w.id, 0, number);
        CHECK(claim.node == slot.miner);
        CHECK(claim.owner == slot.owner);
        CHECK(claim.bond == slot.bond);
        CHECK(claim.held == pay);
        CHECK(claim_of(claim_key(name)) == name);
    }
    CHECK(w.left() == job.spec.market.budget);
}

TEST_CASE("each judge's merge is a claim: part of what it locked for the job moves to it, and no pay") {
    ClaimsWorld w;
    const Job before = w.env.job(w.id);
    play_commits(w.env, w.id, {});
    play_links(w.env, w.id, {});
    play_verdicts(w.env, w.id, {});
    const Job job = w.env.job(w.id);
    const Round round = w.env.round(w.id);
    const Params params = params_of(w.env.state(), job);
    REQUIRE(round.phase == RoundPhase::kMergeSeal);
    REQUIRE(round.merges.size() == 3);
    const Amount bond = read_slot(w.env.whole(), w.id, 0, 0)->bond;
    for (std::uint32_t place = 0; place < 3; ++place) {
        const auto claim = read_claim(w.env.state(), {w.id, 0, ClaimKind::kMerge, place});
        REQUIRE(claim.has_value());
        CHECK(claim->node == round.merges[place].verifier);
        CHECK(claim->held.is_zero());
        CHECK(claim->bond == word_penalty(params, bond));
        for (std::size_t i = 0; i < job.verifiers.size(); ++i) {
            if (job.verifiers[i].node != claim->node) continue;
            CHECK(job.verifiers[i].bond.plus(claim->bond) == before.verifiers[i].bond);
        }
    }
    CHECK(w.left() == job.spec.market.budget);
}

TEST_CASE("pay goes to who earned it once its window is over, the rest back, and no claim is left") {
    for (const Play& play :
         {Play{}, Play{.miners = {{"m1", MinerManner::kCheats}}},
          Play{.miners = {{"m2", MinerManner::kAbsent}}}, Play{.mergers = {{"v1", MergeManner::kLies}}},
          Play{.mergers = {{"v2", MergeManner::kSealsOnly}}},
          Play{.mergers = {{"v1", MergeManner::kAbsent}, {"v2", MergeManner::kAbsent}}}}) {
        ClaimsWorld w;
        const Amount budget = w.env.job(w.id).spec.market.budget;
        play_round(w.env, w.id, play);
        const Job settled = w.env.job(w.id);
        for (const auto& [name, claim] : list_claims(w.env.state(), w.id))
            CHECK((name.round == 1 || claim.window >= w.env.params().claim_window));
        if (settled.phase == JobPhase::kRounds) let_windows_pass(w.env, w.id, 0);
        play_job(w.env, w.id);
        const Job ended = w.env.job(w.id);
        CHECK(ended.phase == JobPhase::kEnded);
        CHECK(list_claims(w.env.state(), w.id).empty());
        CHECK(w.held().is_zero());
        Amount paid;
        Amount returned;
        for (std::uint32_t round = 0; round < ended.round; ++round) {
            for (const SettlementLine& line : list_settlement(w.env.whole(), w.id, round)) {
                paid = paid.plus(line.from_escrow).value();
                returned = returned.plus(line.lost_to_escrow).value();
            }
        }
        for (const Game& game : list_games(w.env.whole(), w.id)) {
            paid = difference(paid, game.returned);
            paid = paid.plus(game.fees).value();
        }
        CHECK(ended.spent == paid);
        CHECK(paid.plus(ended.refunded) == budget.plus(returned));
    }
}

TEST_CASE("a claim that differs from its slot, or is missing, or is nobody's, is a violation") {
    const ClaimsWorld w;
    const ClaimId name{w.id, 0, ClaimKind::kSlot, 0};
    const auto finding = [&](const std::function<void(Overlay&)>& damage) {
        Overlay overlay(w.env.state());
        damage(overlay);
        const auto whole = check_invariants(overlay);
        CHECK(whole.ok() == check_invariants(w.env.state(), overlay).ok());
        return whole.ok() ? std::string() : whole.error().what;
    };
    CHECK_FALSE(finding([&](Overlay& o) { o.erase(claim_key(name)); }).empty());
    CHECK_FALSE(finding([&](Overlay& o) {
                    Claim claim = close_claim(o, name);
                    claim.node = PublicKey{bytes_of("stranger").bytes};
                    open_claim(o, name, claim);
                }).empty());
    CHECK_FALSE(finding([&](Overlay& o) { open_claim(o, {w.id, 0, ClaimKind::kMerge, 0}, {}); }).empty());
    CHECK_FALSE(finding([&](Overlay& o) {
                    open_claim(o, {bytes_of("no such job"), 0, ClaimKind::kSlot, 0}, {});
                }).empty());
}

}  // namespace assay::contracts::test
