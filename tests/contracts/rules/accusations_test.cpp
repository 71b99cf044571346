// SPDX-License-Identifier: Apache-2.0
// Where games decide, a drawn verifier's word is no vote: a root that differs keeps the slot out of the merge
// and has to be proved in a game, which costs whoever is wrong.
#include <algorithm>

#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/dispute/games.hpp"
#include "contracts/rules/identity/money.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/job/tables.hpp"
#include "contracts/rules/round/clocks.hpp"
#include "contracts/rules/round/draws.hpp"
#include "contracts/rules/round/panel_rule.hpp"
#include "contracts/rules/state/store.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

using dispute::UnitKind;

constexpr std::uint64_t kOpenFor = 40;

Params disputed() {
    Params params = short_windows();
    params.claim_window = kOpenFor;
    params.dispute_move_window = 6;
    return params;
}

/// Two miners and three verifiers in a job of which every unit is drawn, after one round.
struct AccusedWorld {
    Env env;
    Hash256 job;

    /// Each miner needs `training` heights for all of its slots. Losses elsewhere leave each verifier
    /// `bonds_left` of its bond before its audits.
    explicit AccusedWorld(const Play& play, std::uint64_t seed = 1, const Params& params = disputed(),
                          std::uint32_t slots = 2, std::uint64_t training = 0,
                          std::optional<Amount> bonds_left = std::nullopt)
        : env(params) {
        for (const char* miner : {"m1", "m2"}) env.miner(miner);
        for (const char* verifier : {"v1", "v2", "v3"}) env.verifier(verifier);
        for (const char* other : {"v4", "m5"}) env.verifier(other);
        JobSpec spec = small_job();
        spec.seed = seed;
        spec.slots = slots;
        spec.market.budget = amount(spec.market.budget.units() * slots / 2);
        spec.security.audit_threshold = spec.security.finalise_threshold = UINT64_MAX;
        job = env.post(spec);
        env.hold_auction(job, {{"m1", 500}, {"m2", 600}}, {"v1", "v2", "v3"});
        env.advance_to(env.height() + training);
        if (bonds_left)
            for (const char* verifier : {"v1", "v2", "v3"}) leave_bond(verifier, *bonds_left);
        play_round(env, job, play);
        REQUIRE(read_round(env.state(), job, 0)->phase == RoundPhase::kSettled);
    }
    /// The slots that a verifier accuses and has opened no game about.
    std::vector<std::uint32_t> accused_by(const std::string& verifier) {
        std::vector<std::uint32_t> slots;
        for (const auto& [id, claim] : list_claims(env.state(), job, 0))
            if (id.kind == ClaimKind::kSlot && unused_accusation(claim, env.person(verifier).node_key()))
                slots.push_back(id.number);
        return slots;
    }
    /// The verifier that accuses the most slots.
    std::string busiest() {
        std::string who = "v1";
        for (const char* other : {"v2", "v3"})
            if (accused_by(other).size() > accused_by(who).size()) who = other;
        return who;
    }
    SlotRound slot(std::uint32_t number) { return *read_slot(env.whole(), job, 0, number); }
    /// The slot of round 0 that this miner held.
    std::uint32_t slot_held_by(const std::string& miner) {
        for (const SlotRound& one : list_slots(env.whole(), job, 0))
            if (env.by_node(one.miner).name == miner) return one.slot;
        FAIL("the miner held no slot");
        std::abort();
    }
    ClaimId claim_name(std::uint32_t number) { return {job, 0, ClaimKind::kSlot, number}; }
    Claim claim(std::uint32_t number) { return *read_claim(env.state(), claim_name(number)); }
    SettlementLine line(LineKind kind, const std::string& name) { return line_of(env, job, 0, kind, name); }
    Game game(std::uint32_t number) { return *read_game(env.whole(), job, number); }
    Amount stake_of_accusation() {
        const Job record = env.job(job);
        return accusation_stake(env.params(), record.auction.clearing_price, record.slot_work).value();
    }
    void leave_bond(const std::string& name, Amount left) {
        env.step([&](Work& work) {
            const Bytes key = panel_key(job, env.person(name).node_key());
            auto verifier = required(load<EnlistedVerifier>(work.state, key));
            const Amount before = std::exchange(verifier.bond, left);
            take_bonded(work.state, verifier.node, difference(before, left), &Supply::burned);
            store(work.state, key, verifier);
        });
    }
    Amount bond_of(const std::string& verifier) {
        const Job record = env.job(job);
        for (const EnlistedVerifier& one : record.verifiers)
            if (one.node == env.person(verifier).node_key()) return one.bond;
        return {};
    }
    bool is_dropped(const std::string& verifier) {
        const Job record = env.job(job);
        return std::any_of(record.verifiers.begin(), record.verifiers.end(), [&](const auto& one) {
            return one.node == env.person(verifier).node_key() && one.dropped;
        });
    }
    DisputeOpen challenge(std::uint32_t number, UnitKind unit, std::uint32_t part = 0) {
        return {job, 0, ClaimKind::kSlot, number, unit, part};
    }
    /// Opens the game of the first of those who accuse the slot.
    std::string accuse(std::uint32_t number, UnitKind unit = UnitKind::kSegment) {
        const std::string who = env.by_node(claim(number).accusations.front().verifier).name;
        env.send(env.person(who), challenge(number, unit));
        return who;
    }
    std::vector<std::string> accusers(std::uint32_t number) {
        std::vector<std::string> names;
        for (const Accusation& one : claim(number).accusations)
            names.push_back(env.by_node(one.verifier).name);
        return names;
    }
};

const Play kOneCheat{.miners = {{"m1", MinerManner::kCheats}}};
const Play kAllLie{.verifiers = {{"v1", VerifierManner::kAccuses},
                                 {"v2", VerifierManner::kAccuses},
                                 {"v3", VerifierManner::kAccuses}}};

}  // namespace

TEST_CASE("the beacon draws one to three verifiers, each as often as the others") {
    std::vector<int> sizes(4, 0);
    Round drawn;
    drawn.beacon = bytes_of("b");
    for (std::uint32_t slot = 0; slot < 3'000; ++slot) ++sizes.at(panel_drawn(drawn, slot));
    CHECK(sizes[0] == 0);
    for (const std::size_t size : {1U, 2U, 3U}) {
        CHECK(sizes[size] > 900);
        CHECK(sizes[size] < 1'100);
    }
    AccusedWorld w({});
    for (const SlotRound& slot : list_slots(w.env.whole(), w.job, 0)) {
        const Round round = *read_round(w.env.whole(), w.job, 0);
        CHECK(slot.verifiers.size() == panel_drawn(round, slot.slot));
        CHECK(slot.panel == slot.verifiers.size());
    }
}

TEST_CASE("a slot that nobody accuses is merged and paid, whatever the size of its panel") {
    AccusedWorld w({});
    for (const SlotRound& slot : list_slots(w.env.whole(), w.job, 0)) {
        CHECK(slot.verdict == Reason::kPaid);
        CHECK(w.claim(slot.slot).accusations.empty());
        CHECK(w.claim(slot.slot).accuse_by == 0);
        for (const PublicKey& verifier : slot.verifiers) {
            const auto line = w.line(LineKind::kAudit, w.env.by_node(verifier).name);
            CHECK(line.reason == Reason::kPaidAudit);
        }
    }
    CHECK(read_round(w.env.state(), w.job, 0)->merged_slots.size() == 2);
}

TEST_CASE("one root that differs keeps a slot out of the merge, and takes nothing from anybody yet") {
    AccusedWorld w(kOneCheat);
    const std::uint32_t cheated = w.slot_held_by("m1");
    const SlotRound slot = w.slot(cheated);
    CHECK(slot.verdict == Reason::kPaidAccused);
    CHECK(slot.fault_unit == 0);
    CHECK(slot.fault_claimed != slot.fault_found);
    CHECK(read_round(w.env.state(), w.job, 0)->merged_slots == std::vector<std::uint32_t>{1 - cheated});
    const Claim claim = w.claim(cheated);
    CHECK(claim.accusations.size() == slot.verifiers.size());
    CHECK_FALSE(claim.held.is_zero());
    CHECK(claim.kept_out == claim.held);
    for (const std::string& name : w.accusers(cheated)) {
        for (const SettlementLine& line : list_settlement(w.env.whole(), w.job, 0)) {
            const bool own = line.node == w.env.person(name).node_key();
            if (own && line.kind == LineKind::kAudit && line.slot == cheated)
                CHECK(line.reason == Reason::kAuditAccuses);
        }
    }
    CHECK(w.line(LineKind::kSlot, "m1").lost.is_zero());
}

TEST_CASE(
    "an accuser opens its game without a bond, once, and a cheat that loses it pays all who were right") {
    AccusedWorld w(kOneCheat, 3);
    const std::uint32_t cheated = w.slot_held_by("m1");
    const auto accusers = w.accusers(cheated);
    const Claim claim = w.claim(cheated);
    const std::uint64_t free = read_stake(w.env.state(), w.env.person(accusers[0]).node_key()).free.units();
    const Amount balance = amount(w.env.balance(accusers[0]));
    CHECK(w.accuse(cheated) == accusers[0]);
    CHECK(w.game(0).accuses);
    CHECK(w.game(0).bond.is_zero());
    CHECK(read_stake(w.env.state(), w.env.person(accusers[0]).node_key()).free.units() == free);
    // A second game of the same verifier costs what it costs anybody.
    w.env.send(w.env.person(accusers[0]), w.challenge(cheated, UnitKind::kUpdate));
    CHECK_FALSE(w.game(1).accuses);
    CHECK_FALSE(w.game(1).bond.is_zero());
    w.env.send(w.env.person("m1"), DisputeConcede{w.job, 0});
    CHECK(w.game(0).claimant_lost);
    Amount fees;
    for (const Accusation& one : claim.accusations) fees = sum(fees, one.fee);
    CHECK_FALSE(fees.is_zero());
    CHECK(w.game(0).fees == fees);
    CHECK(w.game(0).returned == claim.held);
    CHECK(w.env.balance(accusers[0]) ==
          sum(balance, sum(w.game(0).to_winner, claim.accusations[0].fee)).units());
    const Claim dead = w.claim(cheated);
    CHECK(dead.dead);
    CHECK(dead.accusations.empty());
    CHECK(dead.accuse_by == 0);
}

TEST_CASE(
    "who accuses an honest miner loses the slot's pay and a game, the buyer pays nothing for the slot") {
    AccusedWorld w(kAllLie);
    const std::uint32_t slot = w.slot_held_by("m1");
    const auto accusers = w.accusers(slot);
    REQUIRE_FALSE(accusers.empty());
    const Claim claim = w.claim(slot);
    const Amount locked = w.bond_of(accusers[0]);
    const std::uint64_t miner = w.env.balance("m1");
    const std::uint64_t buyer = w.env.balance("buyer");
    w.accuse(slot);
    w.env.send(w.env.person(accusers[0]), DisputeConcede{w.job, 0});
    const Game game = w.game(0);
    CHECK_FALSE(game.claimant_lost);
    CHECK(game.lost == w.stake_of_accusation());
    CHECK(game.to_buyer == claim.held);
    CHECK(game.to_winner == std::min(game.cost, difference(game.lost, game.to_buyer)));
    CHECK(w.bond_of(accusers[0]) == difference(locked, game.lost));
    CHECK(w.env.balance("buyer") == buyer + claim.held.units());
    CHECK(w.env.balance("m1") == miner + game.to_winner.units());
    CHECK(w.claim(slot).kept_out.is_zero());
    CHECK(w.claim(slot).held == claim.held);
    // The others of the panel lose as well; the buyer is not paid twice.
    for (std::size_t i = 1; i < accusers.size(); ++i) {
        w.env.send(w.env.person(accusers[i]), w.challenge(slot, UnitKind::kSegment));
        const auto number = static_cast<std::uint32_t>(list_games(w.env.state(), w.job).size() - 1);
        w.env.send(w.env.person(accusers[i]), DisputeConcede{w.job, number});
        CHECK_FALSE(w.game(number).lost.is_zero());
        CHECK(w.game(number).to_buyer.is_zero());
    }
    // Undefeated behind its window: the miner is paid in full.
    const std::uint64_t before = w.env.balance("m1");
    while (read_claim(w.env.state(), w.claim_name(slot))) w.env.next_block();
    CHECK(w.env.balance("m1") >= before + claim.held.units());
}

TEST_CASE("an accuser that opens no game in time has lost it, and a whole panel that lies loses its bonds") {
    AccusedWorld w(kAllLie);
    std::vector<Amount> locked;
    std::uint64_t due = 0;
    for (const std::uint32_t slot : {0U, 1U}) due = std::max(due, w.claim(slot).accuse_by);
    REQUIRE(due > w.env.height());
    std::vector<std::string> all;
    for (const std::uint32_t slot : {0U, 1U})
        for (const std::string& name : w.accusers(slot)) all.push_back(name);
    w.env.advance_to(due);
    const auto games = list_games(w.env.state(), w.job);
    CHECK(games.size() == all.size());
    for (const Game& game : games) {
        CHECK(game.accuses);
        CHECK(game.end == GameEnd::kSilent);
        CHECK_FALSE(game.claimant_lost);
        CHECK_FALSE(game.lost.is_zero());
        CHECK(game.moves == 0);
    }
    for (const std::uint32_t slot : {0U, 1U}) {
        CHECK(w.claim(slot).accuse_by == 0);
        CHECK_FALSE(w.claim(slot).dead);
    }
    // From here on it is anybody, with a bond like anybody's.
    w.env.send(w.env.person(all.front()), w.challenge(0, UnitKind::kSegment));
    CHECK_FALSE(w.game(static_cast<std::uint32_t>(games.size())).accuses);
    CHECK_FALSE(w.game(static_cast<std::uint32_t>(games.size())).bond.is_zero());
}

TEST_CASE("miners that seal at once leave accusers and players as much time as an audit may take") {
    Params params = disputed();
    params.audit_seal_window = 500;
    params.claim_window = 3 * params.audit_seal_window;
    AccusedWorld w({.miners = {{"m1", MinerManner::kCheats}, {"m2", MinerManner::kCheats}}}, 1, params);
    const Round round = *read_round(w.env.state(), w.job, 0);
    for (const std::uint32_t slot : {0U, 1U}) {
        REQUIRE_FALSE(w.claim(slot).accusations.empty());
        CHECK(w.claim(slot).accuse_by >= round.settled_at + params.audit_seal_window);
    }
    (void)w.accuse(0);
    CHECK(w.game(0).claimant_clock >= params.audit_seal_window);
    CHECK(w.game(0).challenger_clock >= params.audit_seal_window);
}

TEST_CASE("who accuses many slots opens one game in each slot's time, and is late for none") {
    Params params = disputed();
    params.commit_window = 40;
    // m1 and m2 hold three slots each, which took them the time that honest training takes.
    AccusedWorld w({.miners = {{"m1", MinerManner::kCheats}, {"m2", MinerManner::kCheats}}}, 3, params, 6,
                   36);
    const std::string who = w.busiest();
    const std::vector<std::uint32_t> slots = w.accused_by(who);
    const Round round = *read_round(w.env.state(), w.job, 0);
    const std::uint64_t clock =
        player_clock(params, w.env.job(w.job), round, list_slots(w.env.whole(), w.job, 0));
    const std::uint64_t training = clock / 3;
    REQUIRE(clock > params.audit_seal_window);
    // One clock for all of them was over before the last was trained.
    REQUIRE(slots.size() * training > clock + params.dispute_move_window);
    for (std::size_t i = 0; i < slots.size(); ++i) {
        CHECK(w.claim(slots[i]).accuse_by >= round.settled_at + (i + 1) * clock + params.dispute_move_window);
        w.env.advance_to(round.settled_at + (i + 1) * training);
        w.env.send(w.env.person(who), w.challenge(slots[i], UnitKind::kSegment));
        CHECK(w.game(static_cast<std::uint32_t>(list_games(w.env.whole(), w.job).size() - 1)).accuses);
    }
    CHECK(w.accused_by(who).empty());
}

TEST_CASE("an accuser has one clock for each slot up to a game's, which is at most the largest number") {
    AccusedWorld w(kOneCheat);
    const Round round = *read_round(w.env.state(), w.job, 0);
    const Job job = w.env.job(w.job);
    const auto slots = list_slots(w.env.whole(), w.job, 0);
    const std::uint64_t clock = player_clock(w.env.params(), job, round, slots);
    const auto window = [&](std::uint64_t place) {
        return accusing_window(w.env.params(), job, round, slots, place);
    };
    CHECK(window(1) == clock + w.env.params().dispute_move_window);
    CHECK(window(256) == 256 * clock + w.env.params().dispute_move_window);
    CHECK(window(UINT64_MAX) == UINT64_MAX);
}

TEST_CASE("an accuser that is silent about its first slot has lost the others of the round with it") {
    AccusedWorld w({.miners = {{"m1", MinerManner::kCheats}, {"m2", MinerManner::kCheats}}}, 3, disputed(),
                   6);
    const std::string who = w.busiest();
    const std::vector<std::uint32_t> slots = w.accused_by(who);
    REQUIRE(slots.size() > 2);
    REQUIRE(w.claim(slots.back()).accuse_by > w.claim(slots.front()).accuse_by);
    w.env.advance_to(w.claim(slots.front()).accuse_by);
    CHECK(w.accused_by(who).empty());
    std::vector<std::uint32_t> lost;
    for (const Game& game : list_games(w.env.whole(), w.job))
        if (game.challenger == w.env.person(who).node_key() && game.end == GameEnd::kSilent)
            lost.push_back(game.claim);
    CHECK(lost == slots);
}

TEST_CASE("who has nothing left to lose keeps no further slot waiting") {
    AccusedWorld w(kAllLie, 3, disputed(), 6);
    const std::string who = w.busiest();
    const std::vector<std::uint32_t> slots = w.accused_by(who);
    REQUIRE(slots.size() > 2);
    const std::string other = who == "v1" ? "v2" : "v1";
    const std::vector<std::uint32_t> of_other = w.accused_by(other);
    REQUIRE_FALSE(of_other.empty());
    // Other losses have left it so much.
    w.leave_bond(who, sum(w.stake_of_accusation(), w.stake_of_accusation()));
    std::uint32_t played = 0;
    for (; !w.is_dropped(who); ++played) {
        CHECK(w.accused_by(who).size() == slots.size() - played);
        w.env.send(w.env.person(who), w.challenge(slots.at(played), UnitKind::kSegment));
        w.env.send(w.env.person(who), DisputeConcede{w.job, played});
    }
    REQUIRE(played + 1 < slots.size());
    CHECK(w.accused_by(who).empty());
    CHECK(w.accused_by(other) == of_other);
    // The games that it did not open are lost by silence, and what was left of its lock went to the first.
    for (const std::uint32_t slot : slots) CHECK_FALSE(w.claim(slot).held.is_zero());
    std::uint32_t lost = 0;
    Amount taken;
    for (std::uint32_t number = 0; const auto game = read_game(w.env.state(), w.job, number); ++number) {
        if (game->challenger != w.env.person(who).node_key()) continue;
        CHECK_FALSE(game->is_open());
        CHECK_FALSE(game->claimant_lost);
        lost += game->end == GameEnd::kSilent ? 1U : 0U;
        taken = sum(taken, game->lost);
    }
    CHECK(lost == slots.size() - played);
    CHECK(taken == sum(w.stake_of_accusation(), w.stake_of_accusation()));
}

TEST_CASE("all that accusers with nothing to lose accuse in a round shares one clock") {
    AccusedWorld w(kAllLie, 3, disputed(), 6, 0, amount(1));
    const std::vector<std::uint32_t> slots = w.accused_by(w.busiest());
    REQUIRE(slots.size() > 2);
    for (const std::uint32_t slot : slots) CHECK(w.claim(slot).accuse_by == w.claim(slots[0]).accuse_by);
}

TEST_CASE("a panel that is silent leaves its slot to one more verifier, and then it is paid by default") {
    const bool all = GENERATE(false, true);
    CAPTURE(all);
    Play play;
    for (const char* name : {"v1", "v2", "v3"}) play.verifiers[name] = VerifierManner::kAbsent;
    if (!all) play.verifiers["v3"] = VerifierManner::kHonest;
    AccusedWorld w(play, 5);
    for (const std::uint32_t number : {0U, 1U}) {
        const SlotRound slot = w.slot(number);
        const bool heard = std::any_of(slot.verifiers.begin(), slot.verifiers.end(), [&](const auto& node) {
            return !all && w.env.by_node(node).name == "v3";
        });
        CHECK(slot.verdict == (heard ? Reason::kPaid : Reason::kPaidUndecided));
        const bool first =
            std::any_of(slot.verifiers.begin(), slot.verifiers.begin() + slot.panel,
                        [&](const auto& node) { return !all && w.env.by_node(node).name == "v3"; });
        // One more is drawn where the panel said nothing and somebody is left.
        CHECK(slot.verifiers.size() == (first || slot.panel == 3 ? slot.panel : slot.panel + 1));
    }
}

TEST_CASE("one honest verifier of a panel is enough: the others' words for a cheat weigh nothing") {
    // Of the seeds, one with a panel of more than one for the cheat's slot.
    for (std::uint64_t seed = 1; seed < 40; ++seed) {
        Play play = kOneCheat;
        for (const char* name : {"v1", "v2"}) play.verifiers[name] = VerifierManner::kColludes;
        AccusedWorld w(play, seed);
        const std::uint32_t cheated = w.slot_held_by("m1");
        const SlotRound slot = w.slot(cheated);
        const bool honest = std::any_of(slot.verifiers.begin(), slot.verifiers.end(),
                                        [&](const auto& node) { return w.env.by_node(node).name == "v3"; });
        CHECK(slot.verdict == (honest ? Reason::kPaidAccused : Reason::kPaid));
        if (!honest || slot.verifiers.size() < 2) continue;
        CHECK(w.accusers(cheated) == std::vector<std::string>{"v3"});
        return;
    }
    FAIL("no seed draws the honest verifier beside another");
}

TEST_CASE(
    "an accuser cannot choose a moment in which it has nothing to lose: its merge's bond answers as well") {
    AccusedWorld w(kAllLie);
    const std::uint32_t slot = w.slot_held_by("m1");
    const std::string who = w.accuse(slot);
    play_commits(w.env, w.job, {});
    play_links(w.env, w.job, {});
    play_verdicts(w.env, w.job, {});
    REQUIRE(w.env.round(w.job).phase == RoundPhase::kMergeSeal);
    const std::uint64_t stake = w.env.stake(who);
    w.env.send(w.env.person(who), DisputeConcede{w.job, 0});
    CHECK(w.game(0).lost == w.stake_of_accusation());
    CHECK(w.env.stake(who) == stake - w.game(0).lost.units());
}

TEST_CASE("the longer time of accusers is over with their games, and a dead claim waits for calls alone") {
    Params slow = disputed();
    slow.dispute_move_window = kOpenFor + 10;
    for (const bool dies : {false, true}) {
        CAPTURE(dies);
        AccusedWorld w(dies ? kOneCheat : kAllLie, 1, slow);
        const std::uint32_t number = w.slot_held_by("m1");
        const std::uint64_t settled = read_round(w.env.state(), w.job, 0)->settled_at;
        REQUIRE(w.claim(number).window > kOpenFor);
        for (const std::string& accuser : w.accusers(number)) {
            const auto game = static_cast<std::uint32_t>(list_games(w.env.state(), w.job).size());
            w.env.send(w.env.person(accuser), w.challenge(number, UnitKind::kSegment));
            w.env.send(w.env.person(dies ? "m1" : accuser), DisputeConcede{w.job, game});
            if (dies) break;
        }
        const Claim claim = w.claim(number);
        CHECK(claim.dead == dies);
        const std::uint64_t now = w.env.height();
        CHECK(settled + claim.window == (dies ? now + slow.dispute_move_window : settled + kOpenFor));
        w.env.advance_to(settled + claim.window + 1);
        CHECK_FALSE(read_claim(w.env.state(), w.claim_name(number)).has_value());
    }
}

TEST_CASE("a claim that is open for longer than its window takes no further challenge") {
    AccusedWorld w(kAllLie);
    const std::uint64_t settled = read_round(w.env.state(), w.job, 0)->settled_at;
    CHECK(w.claim(0).accuse_by <= settled + w.claim(0).window);
    w.env.advance_to(settled + kOpenFor - 1);
    w.env.send(w.env.person("v4"), w.challenge(0, UnitKind::kSegment));
    w.env.advance_to(settled + kOpenFor + 1);
    REQUIRE(read_claim(w.env.state(), w.claim_name(0)).has_value());
    w.env.refuse(Reason::kWindowClosed, w.env.person("m5"), w.challenge(0, UnitKind::kSegment));
    const auto number = static_cast<std::uint32_t>(list_games(w.env.state(), w.job).size() - 1);
    w.env.send(w.env.person("v4"), DisputeConcede{w.job, number});
    w.env.refuse(Reason::kWindowClosed, w.env.person("m5"), w.challenge(0, UnitKind::kSegment));
}

TEST_CASE(
    "whoever dies by another's game owes an accuser no game, and a claim waits for those that it owes") {
    AccusedWorld w(kOneCheat, 3);
    const std::uint32_t cheated = w.slot_held_by("m1");
    const std::uint64_t due = w.claim(cheated).accuse_by;
    w.env.send(w.env.person("v4"), w.challenge(cheated, UnitKind::kSegment));
    CHECK_FALSE(w.game(0).accuses);
    w.env.send(w.env.person("m1"), DisputeConcede{w.job, 0});
    w.env.advance_to(due + 1);
    CHECK(list_games(w.env.state(), w.job).size() == 1);
}

}  // namespace assay::contracts::test
