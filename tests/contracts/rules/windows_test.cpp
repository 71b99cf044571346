// SPDX-License-Identifier: Apache-2.0
// A settled claim with a window holds its pay and its bond until the window is over, and its job's records
// stay that long.
#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/claim/window_ends.hpp"
#include "contracts/rules/escrow.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/job/history.hpp"
#include "contracts/rules/state/deadlines.hpp"
#include "contracts/rules/state/store.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

constexpr std::uint64_t kWindow = 40;

Params with_window() {
    Params params = short_windows();
    params.claim_window = kWindow;
    return params;
}

/// A job of one round whose claims have windows.
struct WindowWorld {
    Env env{with_window()};
    Hash256 id;
    ClaimId name;

    explicit WindowWorld(ClaimKind kind = ClaimKind::kSlot) {
        for (const char* miner : {"m1", "m2"}) env.miner(miner);
        for (const char* verifier : {"v1", "v2", "v3"}) env.verifier(verifier);
        JobSpec spec = small_job();
        spec.rounds = 1;
        id = env.post(spec);
        env.hold_auction(id, {{"m1", 500}, {"m2", 600}}, {"v1", "v2", "v3"});
        name = {id, 0, kind, 0};
        if (kind == ClaimKind::kMerge) {
            play_commits(env, id, {});
            play_links(env, id, {});
            play_verdicts(env, id, {});
        }
    }
    void finish(const Play& play = {}) {
        if (name.kind == ClaimKind::kSlot) return play_round(env, id, play);
        play_merges(env, id, play);
    }
    [[nodiscard]] Amount balance(const PublicKey& owner) const {
        return read_account(env.state(), owner).balance;
    }
};

}  // namespace

TEST_CASE("what a claim holds is its owner's when its window is over, and not before") {
    for (const ClaimKind kind : {ClaimKind::kSlot, ClaimKind::kMerge}) {
        WindowWorld with(kind);
        Claim given = *read_claim(with.env.state(), with.name);
        const Amount before = with.balance(given.owner);
        if (kind == ClaimKind::kMerge) {
            // Whose pay it is, is known once it stands.
            const Job job = with.env.job(with.id);
            const Params params = params_of(with.env.state(), job);
            given.held = merge_fee(params, job.auction.clearing_price, job.slot_work).value();
        }
        with.finish();
        const std::uint64_t settled = with.env.height();
        const Job job = with.env.job(with.id);
        REQUIRE(job.phase == JobPhase::kClosing);
        CHECK(job.end_reason == Reason::kJobComplete);
        const auto held = read_claim(with.env.state(), with.name);
        REQUIRE(held.has_value());
        CHECK(held->held == given.held);
        CHECK(held->bond == (kind == ClaimKind::kSlot ? given.bond : Amount{}));
        // It is spent, and in nobody's account yet. What is left waits with it, and so does every bond.
        CHECK(job.refunded.is_zero());
        CHECK(job.spent.plus(escrow_of(with.env.state(), job)) == job.spec.market.budget);
        for (const EnlistedVerifier& verifier : job.verifiers) CHECK(verifier.bond == verifier.locked);
        for (const BeaconMember& member : job.beacon) CHECK_FALSE(member.bond.is_zero());
        CHECK(job.due == 0);
        with.env.refuse(Reason::kJobOver, with.env.person("buyer"), JobCancel{with.id});
        const Amount buyers = with.balance(job.buyer);
        CHECK(next_deadline(with.env.state()) == settled + kWindow);
        const Amount paid_at_once = difference(with.balance(given.owner), before);
        with.env.advance_to(settled + kWindow - 1);
        CHECK(read_claim(with.env.state(), with.name).has_value());
        CHECK(read_job(with.env.state(), with.id).has_value());
        with.env.next_block();
        CHECK_FALSE(read_claim(with.env.state(), with.name).has_value());
        CHECK(difference(with.balance(given.owner), before) == sum(paid_at_once, given.held));
        // Nothing is open any more: the job ends, and its records leave in the next block.
        CHECK(read_stake(with.env.state(), given.node).bonded.is_zero());
        const Job ended = with.env.job(with.id);
        CHECK(ended.phase == JobPhase::kEnded);
        CHECK(ended.spent.plus(ended.refunded) == ended.spec.market.budget);
        CHECK(with.balance(job.buyer) > sum(buyers, ended.refunded));  // and its link bond
        with.env.next_block();
        CHECK(read_ended_job(with.env.state(), with.id).has_value());
        CHECK_FALSE(read_job(with.env.state(), with.id).has_value());
    }
}

TEST_CASE("a window moves no pay: a miner ends with what it has without one") {
    WindowWorld with;
    with.finish();
    with.env.advance_to(with.env.height() + kWindow);
    Env without;
    for (const char* miner : {"m1", "m2"}) without.miner(miner);
    for (const char* verifier : {"v1", "v2", "v3"}) without.verifier(verifier);
    JobSpec spec = small_job();
    spec.rounds = 1;
    const Hash256 id = without.post(spec);
    without.hold_auction(id, {{"m1", 500}, {"m2", 600}}, {"v1", "v2", "v3"});
    play_round(without, id);
    without.advance_to(with.env.height());
    for (const char* name : {"m1", "m2"}) {
        INFO(name);
        CHECK(with.env.balance(name) == without.balance(name));
        CHECK(with.env.stake(name) == without.stake(name));
    }
    // With a window other verifiers are drawn, and others are paid; nobody's stake moves.
    for (const char* name : {"v1", "v2", "v3"}) CHECK(with.env.stake(name) == without.stake(name));
    CHECK(read_supply(with.env.state()).burned == read_supply(without.state()).burned);
}

TEST_CASE("a slot that says something and is not paid keeps its bond in its window, and no other does") {
    WindowWorld w;
    const Claim given = *read_claim(w.env.state(), w.name);
    const std::string miner = w.env.by_node(given.node).name;
    SECTION("not stored") {
        w.finish({.lost_updates = {w.name.number}});
        const auto held = read_claim(w.env.state(), w.name);
        REQUIRE(held.has_value());
        CHECK(held->held.is_zero());
        CHECK(held->bond == given.bond);
    }
    SECTION("absent: it has its bond back at once") {
        const Amount free = read_stake(w.env.state(), given.node).free;
        w.finish({.miners = {{miner, MinerManner::kAbsent}}});
        CHECK_FALSE(read_claim(w.env.state(), w.name).has_value());
        CHECK(read_stake(w.env.state(), given.node).free == sum(free, given.bond));
    }
    SECTION("silent after the draw") {
        w.finish({.miners = {{miner, MinerManner::kSilent}}});
        CHECK_FALSE(read_claim(w.env.state(), w.name).has_value());
    }
}

TEST_CASE("a settled claim that waits for no window, or whose window nobody watches, is a violation") {
    WindowWorld w;
    w.finish();
    const std::uint64_t end = w.env.height() + kWindow;
    const auto finding = [&](const std::function<void(Overlay&)>& damage) {
        Overlay overlay(w.env.state());
        damage(overlay);
        CHECK_FALSE(check_invariants(w.env.state(), overlay).ok());
        return check_invariants(overlay).ok();
    };
    CHECK_FALSE(finding([&](Overlay& o) { o.erase(deadline_key({end, DueKind::kWindows, w.id})); }));
    CHECK_FALSE(finding([&](Overlay& o) {
        Claim claim = *read_claim(o, w.name);
        claim.window = 0;
        store(o, claim_key(w.name), claim);
    }));
    CHECK_FALSE(finding([&](Overlay& o) { o.put(deadline_key({end + 1, DueKind::kWindows, w.id}), {}); }));
    CHECK_FALSE(finding([&](Overlay& o) { o.erase(window_end_key(w.name, end)); }));
    CHECK_FALSE(finding([&](Overlay& o) { forget_window_end(o, w.name, end); }));
    CHECK_FALSE(finding([&](Overlay& o) { note_window_end(o, w.name, end + 1); }));
    CHECK_FALSE(finding([&](Overlay& o) { note_window_end(o, {w.id, 7, ClaimKind::kSlot, 0}, end); }));
    CHECK_FALSE(finding([&](Overlay& o) { o.put(Bytes{static_cast<std::uint8_t>(Table::kWindowEnd)}, {}); }));
    // Its round was settled at another height, in another message's record.
    CHECK_FALSE(finding([&](Overlay& o) {
        RoundProgress round = *read_round_progress(o, w.id, 0);
        ++round.settled_at;
        store(o, round_key(w.id, 0), round);
    }));
}

TEST_CASE("an open claim that its claimant's index does not name, or another's does, is a violation") {
    for (const bool settled : {false, true}) {
        CAPTURE(settled);
        WindowWorld w;
        if (settled) w.finish();
        const Claim claim = *read_claim(w.env.state(), w.name);
        const PublicKey other = w.env.person("stranger").node_key();
        const auto finding = [&](const std::function<void(Overlay&)>& damage) {
            Overlay overlay(w.env.state());
            damage(overlay);
            CHECK_FALSE(check_invariants(w.env.state(), overlay).ok());
            return check_invariants(overlay).ok();
        };
        CHECK_FALSE(finding([&](Overlay& o) { o.erase(claim_of_key(claim.node, w.name)); }));
        CHECK_FALSE(finding([&](Overlay& o) { o.put(claim_of_key(other, w.name), {}); }));
        CHECK_FALSE(finding([&](Overlay& o) { o.put(game_about_key(w.name, 0), {}); }));
        CHECK_FALSE(finding([&](Overlay& o) { o.erase(claim_key(w.name)); }));
        CHECK_FALSE(finding([&](Overlay& o) {
            o.put(claim_of_key(other, {bytes_of("no such job"), 0, ClaimKind::kSlot, 0}), {});
        }));
        CHECK(list_open_rounds(w.env.state(), w.id) == std::vector<std::uint32_t>{0});
    }
}

}  // namespace assay::contracts::test
