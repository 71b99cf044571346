// SPDX-License-Identifier: Apache-2.0
#include "node/worker/bench_run.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>

#include "contracts/base/check.hpp"

namespace assay::node {

using base::Outcome;

namespace {

using SteadyClock = std::chrono::steady_clock;

/// Fewer turns give no median worth printing.
constexpr unsigned kLeastTurns = 3;
constexpr unsigned kMostTurns = 1000;
/// A turn of short runs lasts about this long, so that switching between processes costs little of it.
constexpr double kTurnSeconds = 0.04;
constexpr double kMostRuns = 2000;
/// Threads of the side that ran last may still be spinning.
constexpr std::chrono::milliseconds kPollPause{5};

}  // namespace

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t upper = values.size() / 2;
    return values.size() % 2 == 1 ? values[upper] : (values[upper - 1] + values[upper]) / 2;
}

double times_longer(const BenchTiming& other, const BenchTiming& ours) {
    ASSAY_CHECK(!ours.turns.empty() && ours.turns.size() == other.turns.size());
    std::vector<double> ratios(ours.turns.size());
    std::transform(other.turns.begin(), other.turns.end(), ours.turns.begin(), ratios.begin(),
                   std::divides<>());
    return median(std::move(ratios));
}

struct BenchRoom::Player {
    std::size_t side = 0;
    Seat* seat = nullptr;
    unsigned runs = 1;  ///< in one turn
    std::vector<double> times;
    std::vector<double> turns;

    Outcome<void> turn() {
        std::this_thread::sleep_for(kPollPause);
        ASSAY_ASSIGN(const auto now, seat->child.run(runs));
        times.insert(times.end(), now.begin(), now.end());
        turns.push_back(median(now));
        return {};
    }
};

Outcome<BenchRoom::Player> BenchRoom::begin(const BenchSide& side, std::size_t index) {
    auto found = seats_.find(side.key);
    if (found == seats_.end()) {
        ASSAY_ASSIGN(auto child, BenchChild::start(side.program));
        ASSAY_ASSIGN(auto name, child.ask("name", "name"));
        found = seats_.emplace(side.key, Seat{std::move(child), std::move(name)}).first;
    }
    Player player{index, &found->second, 1, {}, {}};
    ASSAY_TRY(player.seat->child.prepare(side.line));
    ASSAY_ASSIGN(const auto first, player.seat->child.run(1));
    player.runs = static_cast<unsigned>(std::clamp(kTurnSeconds / std::max(first[0], 1e-9), 1.0, kMostRuns));
    return player;
}

void BenchRoom::lose(const BenchSide& side, const base::Error& error) {
    complain_(side, error.what);
    seats_.erase(side.key);
}

std::vector<std::optional<BenchTiming>> BenchRoom::take_turns(const std::vector<BenchSide>& sides,
                                                              double budget) {
    std::vector<Player> players;
    for (std::size_t i = 0; i < sides.size(); ++i) {
        if (sides[i].program.program.empty()) continue;
        auto player = begin(sides[i], i);
        if (player.ok()) {
            players.push_back(std::move(player).value());
        } else {
            lose(sides[i], player.error());
        }
    }
    const auto start = SteadyClock::now();
    for (unsigned turns = 0; turns < kMostTurns && !players.empty(); ++turns) {
        const std::chrono::duration<double> passed = SteadyClock::now() - start;
        if (turns >= kLeastTurns && passed.count() >= budget) break;
        std::erase_if(players, [&](Player& player) {
            const auto done = player.turn();
            if (!done.ok()) lose(sides[player.side], done.error());
            return !done.ok();
        });
        // Nobody always follows the same one, or begins.
        if (!players.empty()) std::rotate(players.begin(), players.begin() + 1, players.end());
    }
    std::vector<std::optional<BenchTiming>> timings(sides.size());
    for (Player& player : players) {
        const auto peak = player.seat->child.peak();
        timings[player.side] = BenchTiming{median(std::move(player.times)), std::move(player.turns),
                                           peak.ok() ? *peak : 0.0, player.seat->name};
    }
    return timings;
}

}  // namespace assay::node
