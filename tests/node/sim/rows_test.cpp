// SPDX-License-Identifier: Apache-2.0
// Rows of the simulator whose cheat is more than one lie: that each does what its name says.
#include <algorithm>
#include <map>
#include <set>

#include "contracts/rules/job/auction.hpp"
#include "tests/node/sim/played_row.hpp"

namespace assay::node::sim {

using contracts::LineKind;
using contracts::Reason;
using contracts::SettlementLine;
using contracts::TxType;
using namespace test_rows;

TEST_CASE("a merge that names fewer slots loses to an honest one: the same model, every slot paid") {
    const auto censored = open_world(*find_strategy("censored-merge"));
    const auto honest = open_world(instead_of("censored-merge"));
    const auto cheats = cheats_of(*censored);
    REQUIRE(cheats.size() == 1);
    for (int job = 0; job < 2; ++job) {
        const JobOutcome with = job_of(*censored);
        const JobOutcome without = job_of(*honest);
        CHECK(with.model == without.model);
        std::map<Reason, int> of_cheat;
        std::map<Reason, int> of_others;
        for (const SettlementLine& line : with.lines) {
            CHECK(line.lost.is_zero());
            if (line.kind == LineKind::kSlot) CHECK(is_paid_whole(line));
            if (line.kind != LineKind::kMerge) continue;
            ++(cheats.contains(line.node) ? of_cheat : of_others)[line.reason];
            if (cheats.contains(line.node)) CHECK(line.paid.is_zero());
        }
        CHECK(of_cheat == std::map<Reason, int>{{Reason::kMergeFewerSlots, 1}});
        CHECK(of_others == std::map<Reason, int>{{Reason::kPaidMerge, 1}, {Reason::kMergeAttested, 1}});
        // Had it named every slot, the fee would have been its own.
        for (const SettlementLine& line : without.lines) {
            if (line.kind == LineKind::kMerge && cheats.contains(line.node))
                CHECK(line.reason == Reason::kPaidMerge);
        }
    }
}

// A lone liar has one more drawn. Where that is the other liar nobody says otherwise, and the slot pays.
TEST_CASE(
    "who says of served starts that they were not takes nothing from a slot, unless all drawn are liars") {
    const auto world = open_world(*find_strategy("false-replay"));
    const auto cheats = cheats_of(*world);
    REQUIRE(cheats.size() == 2);
    int defeated = 0;
    int paid = 0;
    for (int job = 0; job < 3; ++job) {
        const JobOutcome outcome = job_of(*world);
        std::map<std::uint32_t, std::set<base::PublicKey>> auditors;
        for (const SettlementLine& line : outcome.lines) {
            CHECK(line.lost.is_zero());
            if (line.kind == LineKind::kAudit) auditors[line.slot].insert(line.node);
        }
        std::set<std::uint32_t> lied_about;
        for (const auto& [key, said] : outcome.said) {
            CHECK(said.replayed == said.served_start);
            if (said.replayed) lied_about.insert(std::get<2>(key));
        }
        for (const SettlementLine& line : outcome.lines) {
            const bool liars_alone = lied_about.contains(line.slot) && auditors[line.slot] == cheats;
            if (line.kind == LineKind::kSlot) CHECK(is_paid_whole(line) == !liars_alone);
            if (line.kind == LineKind::kAudit) CHECK(line.from_slot.is_zero() == !liars_alone);
            if (line.kind == LineKind::kSlot && lied_about.contains(line.slot))
                ++(liars_alone ? paid : defeated);
        }
    }
    CHECK(defeated > paid);
}

TEST_CASE("stake that is deposited while links are opened is there, and draws nobody") {
    // A thousandth of the weight is drawn in one job of some thirty: not in that of this seed.
    const auto world = open_world(*find_strategy("flash-stake"), kSeed + 1);
    const JobOutcome outcome = job_of(*world);
    CHECK(outcome.flash_deposits == 2);
    const auto cheats = cheats_of(*world);
    std::set<base::PublicKey> drawn;
    std::set<base::PublicKey> judges;  // of the round: all of them may merge
    int slots = 0;
    for (const SettlementLine& line : outcome.lines) {
        if (line.kind == LineKind::kAudit) drawn.insert(line.node);
        if (line.kind == LineKind::kMerge) judges.insert(line.node);
        if (line.kind != LineKind::kSlot || !cheats.contains(line.node)) continue;
        ++slots;
        CHECK(line.reason == Reason::kPaidAccused);
        CHECK(loses_a_game(outcome, line.slot));
    }
    CHECK(slots > 0);
    for (const auto& party : world->parties()) {
        if (!party->behaviour.flash_stake) continue;
        CHECK(judges.contains(party->node.public_key()));
        CHECK_FALSE(drawn.contains(party->node.public_key()));
    }
}

TEST_CASE("a swarm is several names, and each loses the bonds of its slots") {
    const auto world = open_world(*find_strategy("sybil-swarm"));
    const auto cheats = cheats_of(*world);
    REQUIRE(cheats.size() == 4);
    std::set<base::PublicKey> caught;
    const JobOutcome outcome = job_of(*world);
    for (const SettlementLine& line : outcome.lines) {
        if (line.kind != LineKind::kSlot || !cheats.contains(line.node)) continue;
        CHECK(line.reason == Reason::kPaidAccused);
        CHECK(loses_a_game(outcome, line.slot));
        caught.insert(line.node);
    }
    CHECK(caught == cheats);
}

TEST_CASE("a sniper works only where it is paid what it asks, and pays for every ask that it does not open") {
    const CheatRow row = *find_strategy("sniping-bidder");
    const auto world = open_world(row);
    const auto honest = open_world(instead_of("sniping-bidder"));
    const auto cheats = cheats_of(*world);
    const auto wealth = [&](const World& of) { return of.wealth(of.party("cheat")); };
    const std::uint64_t deposit = contracts::Params().ask_deposit.units();
    int opened = 0;
    int unopened = 0;
    for (int job = 0; job < 8; ++job) {
        const std::uint64_t before = wealth(*world);
        const std::uint64_t before_honest = wealth(*honest);
        const JobOutcome outcome = job_of(*world);
        (void)job_of(*honest);
        bool works = false;
        for (const SettlementLine& line : outcome.lines) {
            if (line.kind != LineKind::kSlot || !cheats.contains(line.node)) continue;
            works = true;
            CHECK(line.price >= row.behaviour.ask);
        }
        ++(works ? opened : unopened);
        // What it gains an ask of its own price would have gained; what it loses, not.
        const std::uint64_t gain_honest = wealth(*honest) - before_honest;
        CHECK(wealth(*world) + (works ? 0 : deposit) == before + gain_honest);
    }
    CHECK(opened > 0);
    CHECK(unopened > 0);
}

// One lot cannot gain by what it asks (contracts/rules/job/auction.hpp); two lots of one owner can.
TEST_CASE("who has two names raises the price of one by keeping the other's ask closed: said, not hidden") {
    const auto key = [](std::uint8_t first) {
        base::PublicKey made;
        made.bytes[0] = first;
        return made;
    };
    const base::Amount cap = base::units(40'000);
    const contracts::Offer first{key(1), base::units(10'000), true};
    const contracts::Offer second{key(2), base::units(10'000), true};
    const contracts::Offer other{key(3), base::units(20'000), true};
    const auto price = [&](const std::vector<contracts::Offer>& offers) {
        return contracts::clear_auction({}, cap, 2, offers).outcome.clearing_price;
    };
    CHECK(price({first, second, other}) == other.price);
    CHECK(price({first, other}) == cap);
}

// Who is drawn is public before anybody computes. Beside an honest verifier a false word would cost a friend
// what it locked, and find the cheat all the same.
TEST_CASE("friends vouch only where nobody honest was drawn; elsewhere they accuse their accomplice") {
    const auto world = open_world(*find_strategy("colluding-panel"));
    const auto cheats = cheats_of(*world);
    std::set<base::PublicKey> friends;
    for (const char* name : {"friend-vera", "friend-viki"})
        friends.insert(world->party(name).node.public_key());
    int vouched = 0;
    int accused = 0;
    for (int job = 0; job < 2; ++job) {
        const JobOutcome outcome = job_of(*world);
        std::map<std::uint32_t, std::set<base::PublicKey>> auditors;
        for (const SettlementLine& line : outcome.lines)
            if (line.kind == LineKind::kAudit) auditors[line.slot].insert(line.node);
        for (const SettlementLine& line : outcome.lines) {
            if (line.kind != LineKind::kSlot || !cheats.contains(line.node)) continue;
            const std::set<base::PublicKey>& drawn = auditors[line.slot];
            const bool alone = std::includes(friends.begin(), friends.end(), drawn.begin(), drawn.end());
            CHECK(outcome.among_friends.contains({line.round, line.slot}) == alone);
            CHECK((line.reason != Reason::kPaidAccused) == alone);
            ++(alone ? vouched : accused);
        }
        for (const contracts::Game& game : outcome.games) {
            if (game.called) CHECK(outcome.among_friends.contains({game.round, game.claim}));
            // Whoever was right when it accused is paid, a friend too: by the game that the claim lost.
            const bool dies = game.killed_claim() && game.kind == contracts::ClaimKind::kSlot;
            if (dies) CHECK(game.fees.is_zero() == outcome.among_friends.contains({game.round, game.claim}));
        }
    }
    CHECK(vouched > 0);
    CHECK(accused > 0);
}

TEST_CASE(
    "where a verifier has friends among the cheats, all who are drawn lock the least that a job takes") {
    const auto lost_by = [](const char* name) {
        const auto world = open_world(*find_strategy(name));
        base::Amount most;
        for (const contracts::Game& game : job_of(*world).games)
            if (game.called && game.claimant_lost) most = std::max(most, game.lost);
        return most;
    };
    // What is lost at once is all that was locked.
    CHECK(lost_by("colluding-panel") == contracts::Params().verifier_bond);
    const WorldSetup third = setup_of(*find_strategy("lazy"), kSeed, true);
    const WorldSetup alone = setup_of(*find_strategy("lazy"), kSeed, false);
    const WorldSetup stamp = setup_of(*find_strategy("rubber-stamp"), kSeed, true);
    for (const PartySetup& party : third.parties)
        CHECK(party.behaviour.locks_least == (party.role == WorkRole::kVerifier));
    for (const WorldSetup* setup : {&alone, &stamp})
        for (const PartySetup& party : setup->parties) CHECK_FALSE(party.behaviour.locks_least);
}

TEST_CASE("a fault that is sold outside is told to the ledger as the highest gain bound it takes") {
    CheatRow row = *find_strategy("bought-fault");
    const JobOutcome outcome = job_of(*open_world(row));
    CHECK_FALSE(outcome.refused);
    const double times = static_cast<double>(contracts::Params().gain_bound_max_ppm) / 1e6;
    CHECK(static_cast<double>(outcome.gain_bound.units()) == times * outcome.slot_pay);
    row.gain_percent += 1;
    const JobOutcome higher = job_of(*open_world(row));
    CHECK(higher.refused);
    CHECK(higher.why == Reason::kGainBoundTooHigh);
}

TEST_CASE(
    "who keeps a link back for an accomplice loses its bond, and has an honest verifier drawn with it") {
    const auto world = open_world(*find_strategy("link-for-accomplice"));
    const auto cheats = cheats_of(*world);
    const JobOutcome outcome = job_of(*world);
    CHECK(outcome.among_friends.empty());
    int links = 0;
    int slots = 0;
    for (const SettlementLine& line : outcome.lines) {
        if (line.kind == LineKind::kLink) {
            CHECK(line.node == world->party("friend-spare").node.public_key());
            CHECK_FALSE(line.lost.is_zero());
            ++links;
        }
        if (line.kind != LineKind::kSlot || !cheats.contains(line.node)) continue;
        CHECK(line.reason == Reason::kPaidAccused);
        ++slots;
    }
    CHECK(links == 1);
    CHECK(slots > 0);
}

// Games as the rows of disputes play them.
namespace {

using contracts::Game;
using contracts::GameEnd;

/// How many of the games are open at the height at which the last of them was opened.
std::size_t open_at_once(const std::vector<Game>& games) {
    std::size_t most = 0;
    for (const Game& late : games) {
        std::size_t open = 0;
        for (const Game& game : games)
            if (game.opened_at <= late.opened_at && game.ended_at > late.opened_at) ++open;
        most = std::max(most, open);
    }
    return most;
}

}  // namespace

TEST_CASE("a false merge that does not stand costs its author a game, and the settlement takes nothing") {
    const auto world = open_world(*find_strategy("bad-merge"));
    const auto cheats = cheats_of(*world);
    REQUIRE(cheats.size() == 1);
    const JobOutcome outcome = job_of(*world);
    std::size_t accusing = 0;
    for (const SettlementLine& line : outcome.lines) {
        CHECK(line.lost.is_zero());
        if (line.kind != LineKind::kMerge || !cheats.contains(line.node)) continue;
        CHECK(line.reason == Reason::kMergeAccuses);
        ++accusing;
    }
    REQUIRE(accusing > 0);
    CHECK(outcome.games.size() == accusing);
    for (const Game& game : outcome.games) {
        CHECK(cheats.contains(game.challenger));
        CHECK((game.kind == contracts::ClaimKind::kMerge && game.accuses));
        CHECK_FALSE(game.claimant_lost);
        CHECK_FALSE(game.lost.is_zero());
    }
}

TEST_CASE("a panel that accuses by one false root loses, and the miners are paid") {
    const auto world = open_world(*find_strategy("false-accusation"));
    const auto cheats = cheats_of(*world);
    REQUIRE(cheats.size() == 3);
    const JobOutcome outcome = job_of(*world);
    REQUIRE_FALSE(outcome.games.empty());
    for (const Game& game : outcome.games) {
        CHECK(cheats.contains(game.challenger));
        CHECK(game.accuses);
        CHECK(game.bond.is_zero());
        CHECK_FALSE(game.claimant_lost);
        CHECK_FALSE(game.lost.is_zero());
    }
    for (const SettlementLine& line : outcome.lines) {
        if (line.kind != LineKind::kSlot) continue;
        CHECK(line.reason == Reason::kPaidAccused);
        CHECK(is_paid_whole(line));
        CHECK(line.lost.is_zero());
    }
}

TEST_CASE("many challenges at once cost doubling bonds, and delay no round") {
    CheatRow row = *find_strategy("dispute-delay");
    const auto world = open_world(row);
    const JobOutcome outcome = job_of(*world);
    row.others.front().behaviour.challenges_each = 0;
    const auto quiet = open_world(row);
    const JobOutcome without = job_of(*quiet);
    CHECK(without.games.empty());
    CHECK(outcome.rounds == row.rounds);
    CHECK(outcome.model == without.model);
    // A claimant sends one message a block, and some of them are moves. No round waits for a game to end.
    REQUIRE(outcome.settled_at.size() == without.settled_at.size());
    const std::uint64_t later = outcome.settled_at.back() - without.settled_at.back();
    for (const Game& game : outcome.games) CHECK(later < game.ended_at - game.opened_at);
    CHECK(open_at_once(outcome.games) > contracts::kGamesAtOnce);
    base::Amount least = outcome.games.front().bond;
    base::Amount most = least;
    for (const Game& game : outcome.games) {
        CHECK_FALSE(game.claimant_lost);
        CHECK(game.lost == game.bond);
        least = std::min(least, game.bond);
        most = std::max(most, game.bond);
    }
    CHECK(most.units() == 8 * least.units());
}

TEST_CASE("vouchers that are called for a claim that was right win every game") {
    const auto world = open_world(*find_strategy("thrown-claim"));
    int called = 0;
    int conceded = 0;
    for (const Game& game : job_of(*world).games) {
        if (game.called) {
            ++called;
            CHECK_FALSE(game.claimant_lost);
        } else {
            ++conceded;
            CHECK(game.end == GameEnd::kConceded);
            CHECK(game.claimant == key_in(*world, "cheat"));
        }
    }
    CHECK(conceded > 0);
    CHECK(called > 0);
}

TEST_CASE("a claim that a friend challenges and throws still dies by an honest challenger") {
    const auto world = open_world(*find_strategy("thrown-dispute"));
    std::set<std::uint32_t> thrown;
    std::set<std::uint32_t> dead;
    const JobOutcome outcome = job_of(*world);
    for (const Game& game : outcome.games) {
        if (!outcome.among_friends.contains({game.round, game.claim})) continue;
        if (game.challenger == key_in(*world, "friend-thrower") && !game.claimant_lost)
            thrown.insert(game.claim);
        if (game.challenger == key_in(*world, "vito") && game.claimant_lost && !game.called)
            dead.insert(game.claim);
    }
    CHECK_FALSE(thrown.empty());
    CHECK(std::includes(dead.begin(), dead.end(), thrown.begin(), thrown.end()));
}

TEST_CASE(
    "a claim that its miner concedes to a friend as soon as it can be challenged costs everybody who vouched "
    "for it what they locked: the honest verifier calls them, though it had no game") {
    CheatRow row = *find_strategy("thrown-dispute");
    row.behaviour.quarrel = Quarrel::kConcedes;
    row.behaviour.never_sends = {TxType::kDisputePost, TxType::kDisputeProve, TxType::kDisputeConcede};
    const auto world = open_world(row);
    std::set<base::PublicKey> called;
    int without_a_game = 0;
    for (int job = 0; job < 6; ++job) {
        std::set<std::uint32_t> conceded;
        std::set<std::uint32_t> challenged;
        std::set<std::uint32_t> answered_for;
        const JobOutcome outcome = job_of(*world);
        for (const Game& game : outcome.games) {
            if (!outcome.among_friends.contains({game.round, game.claim})) continue;
            if (game.killed_claim() && game.challenger == key_in(*world, "friend-thrower"))
                conceded.insert(game.claim);
            if (!game.called && game.challenger == key_in(*world, "vito")) challenged.insert(game.claim);
            if (!game.called) continue;
            CHECK(game.challenger == key_in(*world, "vito"));
            CHECK(game.claimant_lost);
            called.insert(game.claimant);
            answered_for.insert(game.claim);
            // Far more than the pay of a slot, the first time that it is called.
            CHECK((game.lost.is_zero() || game.lost == contracts::Params().verifier_bond));
        }
        for (const std::uint32_t claim : conceded)
            if (!challenged.contains(claim) && answered_for.contains(claim)) ++without_a_game;
    }
    CHECK(without_a_game > 0);
    CHECK(called == std::set{key_in(*world, "friend-vera"), key_in(*world, "friend-viki")});
}

TEST_CASE("where a bond was doubled above one stake, another challenger goes on") {
    const auto world = open_world(*find_strategy("stake-exhaustion"));
    int rich_won = 0;
    for (int job = 0; job < 6; ++job) {
        for (const Game& game : job_of(*world).games) {
            // Without a bond, by its accusation, the poor one may play.
            if (game.challenger == key_in(*world, "vito") && !game.called) CHECK(game.accuses);
            if (game.challenger == key_in(*world, "wanda") && game.claimant_lost) ++rich_won;
        }
    }
    CHECK(rich_won > 0);
}

TEST_CASE("who is left out of every other block of its moves is not silent") {
    const auto world = open_world(*find_strategy("dropped-move"));
    const JobOutcome outcome = job_of(*world);
    REQUIRE_FALSE(outcome.games.empty());
    for (const Game& game : outcome.games) {
        if (game.challenger != key_in(*world, "vito") || game.end == GameEnd::kClosed) continue;
        CHECK(game.claimant_lost);
        CHECK(game.end != GameEnd::kSilent);
    }
}

}  // namespace assay::node::sim
