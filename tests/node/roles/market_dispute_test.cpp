// SPDX-License-Identifier: Apache-2.0
// Games that the roles of a market play by themselves, over real workers: who cheats or accuses falsely loses
// on the ledger, and training goes on.
#include "ledger/audit/payout_audit.hpp"
#include "tests/node/roles/market_games.hpp"

namespace assay::node {
namespace {

using namespace test_market;
using contracts::Reason;

}  // namespace

TEST_CASE("a game that ends gives the worker back at once") {
    const auto market = cheated_market();
    LocalWorker& worker = market->party("mia").worker;
    worker.held = {frames::FrameKind::kDescend};
    play_first_game(*market);
    CHECK(games_of(*market).front().end == GameEnd::kSilent);
    CHECK(worker.cancelled[frames::FrameKind::kDescend] >= 1);
    // The worker is free for the rounds that follow.
    REQUIRE(market->turn_until([&] { return market->ended(); }));
    check_nobody_ended(*market);
}

TEST_CASE("a player keeps no state that its worker computed in memory while its game is open") {
    const auto market = cheated_market();
    struct Given {
        std::weak_ptr<const worker::Descriptor> file;
        std::size_t turn;
    };
    std::vector<Given> given;
    std::size_t turn = 0;
    bool plays = false;
    for (const char* name : {"mia", "vito"}) {
        market->party(name).worker.falsify = [&](const frames::Message& request, WorkerAnswered& answer) {
            const auto* train = std::get_if<frames::Train>(&request);
            const bool is_of_game =
                (train != nullptr && train->round == 0) || std::holds_alternative<frames::Descend>(request);
            if (!plays || !is_of_game) return;
            for (const auto& file : answer.bulk) given.push_back({file, turn});
        };
    }
    std::size_t most = 0;
    play_first_game(*market, [&] {
        const auto games = games_of(*market);
        plays = plays || (!games.empty() && games.front().is_open());
        if (games.empty() || !games.front().is_open()) return;
        ++turn;
        // What came last may be on its way to the role.
        std::size_t alive = 0;
        for (const Given& one : given) alive += one.turn + 2 > turn || one.file.expired() ? 0U : 1U;
        most = std::max(most, alive);
    });
    CHECK(given.size() > 0);
    CHECK(most == 0);
    check_one_ulp(games_of(*market).front());
}

TEST_CASE("a player whose state changes on its disk computes it again") {
    const auto market = cheated_market();
    Party& vito = market->party("vito");
    int runs = 0;
    bool damaged = false;
    vito.worker.falsify = [&](const frames::Message& request, WorkerAnswered& answer) {
        const auto* train = std::get_if<frames::Train>(&request);
        const auto* boundary = std::get_if<frames::Boundary>(&answer.message);
        const auto games = games_of(*market);
        if (train == nullptr || games.empty() || !games.front().is_open()) return;
        if (boundary != nullptr && boundary->index == kSegment) ++runs;
    };
    std::set<BlobId> before;
    const auto damage = [&] {
        if (damaged) return;
        std::set<BlobId> now;
        for (const BlobInfo& blob : vito.store->list()) now.insert(blob.id);
        if (runs == 0) before = now;
        for (const BlobId& blob : now) {
            if (before.contains(blob)) continue;
            change_on_disk(vito, blob);
            damaged = true;
        }
    };
    // Before anything is asked about the state, or some turns later.
    const bool at_once = GENERATE(true, false);
    CAPTURE(at_once);
    vito.worker.instead = [&](const frames::Message& message) -> std::optional<frames::Message> {
        if (at_once && std::holds_alternative<frames::Descend>(message)) damage();
        return std::nullopt;
    };
    play_first_game(*market, [&] {
        if (!at_once || runs == 0) damage();
    });
    CHECK(damaged);
    CHECK(runs == 2);
    check_one_ulp(games_of(*market).front());
}

TEST_CASE("a panel passes a number that is off by one ulp, and who was not drawn has it forfeited") {
    const auto market = cheated_market();
    REQUIRE(market->turn_until([&] { return market->settled(0); }));
    for (const auto& slot : slots_of(*market, "mia", 0)) CHECK(slot.verdict == Reason::kPaid);
    play_first_game(*market);
    check_one_ulp(games_of(*market).front());
    REQUIRE(market->turn_until([&] { return market->ended(); }));
    check_nobody_ended(*market);
    CHECK(market->job()->end_reason == Reason::kJobComplete);
    CHECK(market->round(1).merged);
    // Those who had vouched for the unit lose what they had locked.
    std::set<std::string> lost;
    for (const Game& one : games_of(*market)) {
        INFO("game " << one.number << " " << to_text(one.end));
        CHECK_FALSE(one.is_open());
        if (!one.called) continue;
        CHECK(one.claimant_lost);
        for (const std::string name : {"vera", "viki"})
            if (market->party(name).node.public_key() == one.claimant) lost.insert(name);
    }
    std::set<std::string> vouched;
    const contracts::SlotRound drawn = market->slot(0, games_of(*market).front().claim);
    for (const base::PublicKey& node : drawn.verifiers) {
        for (const std::string name : {"vera", "viki"})
            if (market->party(name).node.public_key() == node) vouched.insert(name);
    }
    CHECK_FALSE(vouched.empty());
    CHECK(lost == vouched);
    const std::string words = words_of(*market, "vito");
    for (const char* said : {"is false: its segment 1", "I reject step 3 of segment 1",
                             "I reject `h.1.attn.c_attn.forward` y, step 3", "I have won"}) {
        INFO(said);
        CHECK(words.find(said) != std::string::npos);
    }
    const ledger::PayoutReport report = ledger::audit_payouts(market->with_evidence());
    std::string failures;
    for (const auto& failure : report.failures) failures += failure.where + ": " + failure.what + "\n";
    INFO(failures);
    CHECK(report.ok());
}

TEST_CASE("the one honest verifier of a panel opens the game of what it found, without being told to") {
    MarketOptions options = with_windows();
    options.drills["mia"] = {one_ulp()};
    options.colluding = {"vera", "viki"};
    std::unique_ptr<Market> market;
    for (std::uint64_t luck = 0; luck < 40 && !market; ++luck) {
        options.luck = luck;
        auto next = std::make_unique<Market>(options);
        next->start();
        REQUIRE(next->turn_until([&] { return next->settled(0); }));
        const auto vito = next->party("vito").node.public_key();
        for (const auto& slot : slots_of(*next, "mia", 0)) {
            const auto drawn = std::find(slot.verifiers.begin(), slot.verifiers.end(), vito);
            if (slot.verdict == Reason::kPaidAccused && drawn != slot.verifiers.end())
                market = std::move(next);
            if (market) break;
        }
    }
    REQUIRE(market);
    play_first_game(*market);
    const Game game = games_of(*market).front();
    CHECK(game.challenger == market->party("vito").node.public_key());
    CHECK(game.accuses);
    check_one_ulp(game);
}

TEST_CASE(
    "a buyer that computes its slots again has a false one forfeited, with part of the bond for itself") {
    MarketOptions options = with_windows();
    options.drills["mia"] = {one_ulp()};
    options.colluding = {"vera", "viki", "vito"};
    options.challenges["bea"] = 1;
    Market market(options);
    market.start();
    play_first_game(market);
    const Game game = games_of(market).front();
    CHECK(game.challenger == market.party("bea").node.public_key());
    check_one_ulp(game);
    CHECK_FALSE(game.to_winner.is_zero());
    REQUIRE(market.turn_until([&] { return market.ended(); }));
    check_nobody_ended(market);
}

TEST_CASE("both players of a game end after every move, and others go on with what they left on disk") {
    const auto market = cheated_market();
    std::uint32_t restarts = 0;
    std::optional<std::uint32_t> restarted_at;
    play_first_game(*market, [&] {
        const auto games = games_of(*market);
        if (games.empty() || !games.front().is_open() || restarted_at == games.front().moves) return;
        restarted_at = games.front().moves;
        ++restarts;
        market->restart_miner("mia");
        market->restart_verifier("vito");
    });
    CHECK(restarts > 3);
    check_one_ulp(games_of(*market).front());
    REQUIRE(market->turn_until([&] { return market->ended(); }));
    check_nobody_ended(*market);
}

TEST_CASE("a challenger that lies loses to a miner that is right, and one that errs concedes") {
    for (const bool consistent : {true, false}) {
        INFO("consistent: " << consistent);
        MarketOptions options = with_windows();
        options.challenges["vito"] = 1;
        const auto market = judged_without_vito(options);
        REQUIRE(market);
        lie(*market, consistent);
        play_first_game(*market);
        const Game game = games_of(*market).front();
        CHECK_FALSE(game.claimant_lost);
        CHECK(game.end == (consistent ? GameEnd::kJudged : GameEnd::kConceded));
        CHECK(game.lost == game.bond);
        REQUIRE(market->turn_until([&] { return market->ended(); }));
        check_nobody_ended(*market);
        for (std::uint32_t slot = 0; slot < 2; ++slot) CHECK(market->slot(0, slot).verdict == Reason::kPaid);
    }
}

TEST_CASE("whoever of two players is gone in the middle of a game loses it by its clock") {
    for (const std::string gone : {"mia", "vito"}) {
        INFO(gone);
        const auto market = cheated_market();
        play_first_game(*market, [&] {
            const auto games = games_of(*market);
            if (!games.empty() && games.front().moves == 2) market->party(gone).ended = true;
        });
        const Game game = games_of(*market).front();
        CHECK(game.end == GameEnd::kSilent);
        CHECK(game.claimant_lost == (gone == "mia"));
    }
}

TEST_CASE("a move does not wait for other work of the machine until its clock has run out") {
    SECTION("a miner's training") {
        MarketOptions options = with_windows();
        options.challenges["vito"] = 1;
        const auto market = judged_without_vito(options);
        REQUIRE(market);
        lie(*market, true);
        LocalWorker& worker = market->party("mia").worker;
        worker.holds = [](const frames::Message& message) {
            const auto* train = std::get_if<frames::Train>(&message);
            return train != nullptr && train->round > 0;
        };
        play_first_game(*market);
        const Game game = games_of(*market).front();
        CHECK(game.end == GameEnd::kJudged);
        CHECK_FALSE(game.claimant_lost);
        CHECK(worker.cancelled[frames::FrameKind::kTrain] > 0);
    }
    SECTION("a verifier's replays") {
        const auto market = cheated_market();
        LocalWorker& worker = market->party("vito").worker;
        play_first_game(*market, [&] {
            if (!games_of(*market).empty()) worker.held = {frames::FrameKind::kReplay};
        });
        check_one_ulp(games_of(*market).front());
        CHECK(worker.cancelled[frames::FrameKind::kReplay] > 0);
    }
}

TEST_CASE("a miner whose machine was wrong once concedes, and keeps its place") {
    MarketOptions options = with_windows();
    options.drills["mia"] = {
        {.round = 0,
         .drill = {
             .kind = worker::DrillKind::kUlp, .segment = kSegment, .tensor = "wte.weight", .index = 5}}};
    options.colluding = {"vera", "viki"};
    options.challenges["vito"] = 1;
    const auto market = judged_without_vito(options);
    REQUIRE(market);
    play_first_game(*market);
    const Game game = games_of(*market).front();
    CHECK(game.end == GameEnd::kConceded);
    CHECK(game.claimant_lost);
    REQUIRE(market->turn_until([&] { return market->ended(); }));
    check_nobody_ended(*market);
}

}  // namespace assay::node
