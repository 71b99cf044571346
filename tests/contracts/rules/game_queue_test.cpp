// SPDX-License-Identifier: Apache-2.0
// Which games of a claimant go on, in what order, and what the end of one costs when very many are open.
#include "contracts/rules/dispute/queue.hpp"

#include <map>

#include "contracts/rules/dispute/games.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/state/store.hpp"
#include "tests/contracts/rules/counted_state.hpp"
#include "tests/contracts/rules/dispute_world.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/properties.hpp"

namespace assay::contracts::test {

namespace {

PublicKey owner_numbered(std::uint64_t number) {
    return PublicKey{bytes_of("challenger " + std::to_string(number)).bytes};
}

/// The games of one claimant, as they were chosen from a list of all of them.
class ListedGames {
    struct One {
        std::uint64_t opened_at;
        GameName name;
        PublicKey owner;
        bool runs = false;
    };
    std::vector<One> open_;

    [[nodiscard]] std::ptrdiff_t running() const {
        return std::count_if(open_.begin(), open_.end(), [](const One& one) { return one.runs; });
    }

public:
    void open(std::uint64_t height, const GameName& name, const PublicKey& owner) {
        open_.push_back({height, name, owner, running() < static_cast<std::ptrdiff_t>(kGamesAtOnce)});
        std::sort(open_.begin(), open_.end(), [](const One& one, const One& other) {
            return std::tie(one.opened_at, one.name.job, one.name.number) <
                   std::tie(other.opened_at, other.name.job, other.name.number);
        });
    }
    void end(const GameName& name) {
        std::erase_if(open_, [&](const One& one) { return one.name == name; });
        while (running() < static_cast<std::ptrdiff_t>(kGamesAtOnce)) {
            std::map<PublicKey, std::size_t> playing;
            for (const One& one : open_)
                if (one.runs) ++playing[one.owner];
            One* next = nullptr;
            for (One& one : open_)
                if (!one.runs && (next == nullptr || playing[one.owner] < playing[next->owner])) next = &one;
            if (next == nullptr) return;
            next->runs = true;
        }
    }
    [[nodiscard]] std::vector<GameName> names(bool runs) const {
        std::vector<GameName> names;
        for (const One& one : open_)
            if (one.runs == runs) names.push_back(one.name);
        return names;
    }
    [[nodiscard]] std::size_t size() const { return open_.size(); }
    [[nodiscard]] GameName at(std::size_t place) const { return open_.at(place).name; }
};

/// Games of m1's slot without bonds, which the rules open and end themselves.
struct ManyGames {
    DisputeWorld w;
    Job job = w.env.job(w.job);
    ClaimId id = w.claim(0);
    PublicKey claimant = read_claim(w.env.state(), id)->node;

    /// `about` the other claim a game has this claimant all the same.
    std::uint32_t open(Work& work, const PublicKey& owner, std::uint32_t about = 0) {
        const ClaimId claim = w.claim(about);
        Game game = game_about(work.state, job, claim, *read_claim(work.state, claim));
        game.claimant = claimant;
        game.unit = UnitKind::kSegment;
        game.challenger = owner == w.env.person("v4").owner_key() ? w.env.person("v4").node_key() : owner;
        game.challenger_owner = owner;
        return open_game(work, job, game, *unit_claim(work.state, claim, game.unit, 0));
    }
    void concede(Work& work, std::uint32_t number, bool claimant_loses = false) {
        end_game(work, job.id, *read_game(work.state, job.id, number),
                 {GameEnd::kConceded, claimant_loses, {}});
    }
};

struct Cost {
    std::uint64_t reads = 0;
    std::uint64_t visited = 0;
    std::size_t writes = 0;
    friend bool operator==(const Cost&, const Cost&) = default;
};

/// What it costs that one of so many open games ends.
Cost cost_of_an_end(std::uint32_t games, bool claimant_loses) {
    ManyGames many;
    Overlay opened(many.w.env.state());
    Work before(opened, many.w.env.block());
    const PublicKey v4 = many.w.env.person("v4").owner_key();
    (void)many.open(before, v4);
    // One more about the same claim, all others about another one.
    for (std::uint32_t i = 1; i < games; ++i)
        (void)many.open(before, i % 3 == 0 ? v4 : owner_numbered(i % 5), i == 1 ? 0 : 1);
    const CountedState counted(opened);
    Overlay ended(counted);
    Work work(ended, many.w.env.block());
    many.concede(work, 0, claimant_loses);
    REQUIRE(list_played_games(ended, many.claimant).size() ==
            std::min<std::size_t>(kGamesAtOnce, games - (claimant_loses ? 2U : 1U)));
    return {counted.reads, counted.visited, ended.changes().size()};
}

}  // namespace

TEST_CASE("the end of a game costs the same whether its claimant has sixteen or two thousand open ones") {
    for (const bool claimant_loses : {false, true}) {
        CAPTURE(claimant_loses);
        const Cost few = cost_of_an_end(16, claimant_loses);
        const Cost many = cost_of_an_end(2'000, claimant_loses);
        CHECK(few.reads == many.reads);
        CHECK(few.visited == many.visited);
        CHECK(few.writes == many.writes);
    }
}

TEST_CASE("a game is opened at the same cost behind two thousand others, but for the search of its number") {
    ManyGames many;
    Overlay overlay(many.w.env.state());
    Work work(overlay, many.w.env.block());
    std::map<std::uint32_t, std::uint64_t> reads;
    for (std::uint32_t i = 0; i < 2'001; ++i) {
        if (i != 3 && i != 2'000) {
            (void)many.open(work, owner_numbered(i % 7));
            continue;
        }
        const CountedState counted(overlay);
        Overlay one(counted);
        Work next(one, many.w.env.block());
        (void)many.open(next, owner_numbered(i % 7));
        reads[i] = counted.reads + counted.visited;
        (void)many.open(work, owner_numbered(i % 7));
    }
    CHECK(reads[2'000] <= reads[3] + 2 * 11);
}

TEST_CASE("games go on in the order in which they did when all of them were listed") {
    tests::check_property(30, [] {
        static ManyGames many;
        Overlay overlay(many.w.env.state());
        Work work(overlay, many.w.env.block());
        BlockContext block = many.w.env.block();
        ListedGames listed;
        for (int step = 0; step < 60; ++step) {
            block.height += *tests::between<std::uint64_t>(0, 1);
            Work now(overlay, block);
            const bool opens = listed.size() == 0 || *tests::between(0, 9) < 6;
            if (opens) {
                const PublicKey owner = owner_numbered(*tests::between<std::uint64_t>(0, 3));
                listed.open(block.height, {many.job.id, many.open(now, owner)}, owner);
            } else {
                const GameName name = listed.at(*tests::between<std::size_t>(0, listed.size() - 1));
                many.concede(now, name.number);
                listed.end(name);
            }
            for (const bool runs : {true, false})
                for (const GameName& name : listed.names(runs))
                    RC_ASSERT(read_game(overlay, name.job, name.number)->phase ==
                              (runs ? GamePhase::kRunning : GamePhase::kQueued));
        }
    });
}

TEST_CASE("games of several jobs wait in the order of their heights and names, each owner's in a queue") {
    tests::check_property(100, [] {
        MemoryState state;
        ListedGames listed;
        std::map<std::pair<Hash256, std::uint32_t>, Game> games;
        const PublicKey claimant = owner_numbered(1'000);
        std::uint64_t height = 1;
        const auto start_next = [&] {
            while (list_played_games(state, claimant).size() < kGamesAtOnce) {
                const auto next = next_queued(state, claimant);
                if (!next) return;
                const Game& game = games.at({next->job, next->number});
                dequeue_game(state, next->job, game);
                note_played(state, next->job, game);
            }
        };
        for (std::uint32_t step = 0; step < 80; ++step) {
            height += *tests::between<std::uint64_t>(0, 1);
            if (listed.size() == 0 || *tests::between(0, 9) < 6) {
                const Hash256 job = bytes_of("job " + std::to_string(*tests::between(0, 3)));
                Game game;
                game.number = step;
                game.claimant = claimant;
                game.challenger_owner = owner_numbered(*tests::between<std::uint64_t>(0, 3));
                game.opened_at = height;
                games[{job, step}] = game;
                listed.open(height, {job, step}, game.challenger_owner);
                if (list_played_games(state, claimant).size() < kGamesAtOnce) {
                    note_played(state, job, game);
                } else {
                    enqueue_game(state, job, game);
                }
            } else {
                const GameName name = listed.at(*tests::between<std::size_t>(0, listed.size() - 1));
                const Game& game = games.at({name.job, name.number});
                const auto running = listed.names(true);
                if (std::find(running.begin(), running.end(), name) != running.end()) {
                    forget_played(state, name.job, game);
                } else {
                    dequeue_game(state, name.job, game);
                }
                listed.end(name);
                start_next();
            }
            std::vector<GameName> played;
            for (const PlayedGame& one : list_played_games(state, claimant)) played.push_back(one.game);
            const auto expected = listed.names(true);
            RC_ASSERT(std::is_permutation(played.begin(), played.end(), expected.begin(), expected.end()));
            for (const GameName& name : listed.names(false))
                RC_ASSERT(
                    state.get(queued_game_key(name.job, games.at({name.job, name.number}))).has_value());
        }
    });
}

TEST_CASE("a waiting game that its claimant's queue does not name, or names wrongly, breaks the state") {
    DisputeWorld w;
    for (int i = 0; i < 4; ++i) w.open("v4", 0, UnitKind::kCarried);
    const Game waits = w.game(2);
    REQUIRE(waits.phase == GamePhase::kQueued);
    const Bytes head = queue_head_key(waits.claimant, waits.opened_at, {w.job, 2});
    const auto breaks = [&](auto change) {
        Overlay overlay(w.env.state());
        change(overlay);
        return !check_invariants(overlay) && !check_invariants(w.env.state(), overlay);
    };
    REQUIRE(w.env.state().get(head).has_value());
    CHECK(breaks([&](State& state) { state.erase(head); }));
    CHECK(breaks([&](State& state) { store(state, head, waits.claimant); }));
    CHECK(breaks([&](State& state) { state.erase(queued_game_key(w.job, waits)); }));
    CHECK(breaks([&](State& state) { state.erase(played_games_key(waits.claimant)); }));
    CHECK(breaks([&](State& state) { forget_played(state, w.job, w.game(0)); }));
    CHECK(breaks([&](State& state) { note_played(state, w.job, waits); }));
    CHECK(breaks([&](State& state) {
        const Game later = w.game(3);
        store(state, queue_head_key(later.claimant, later.opened_at, {w.job, 3}), later.challenger_owner);
    }));
}

}  // namespace assay::contracts::test
