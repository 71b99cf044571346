// SPDX-License-Identifier: Apache-2.0
// Gives tests of the simulator's rows the worlds that they play in, and what they ask of an outcome.
#pragma once

#include <algorithm>
#include <memory>
#include <set>

#include "node/sim/strategies.hpp"
#include "tests/node/executed_once.hpp"
#include "tests/support/catch.hpp"

namespace assay::node::sim::test_rows {

inline constexpr std::uint64_t kSeed = 3;

inline std::unique_ptr<World> open_world(const CheatRow& row, std::uint64_t seed = kSeed) {
    test::execute_once();
    auto world = World::open(setup_of(row, seed, false));
    REQUIRE(world.ok());
    return std::move(world).value();
}

inline JobOutcome job_of(World& world) {
    auto outcome = world.run_job();
    INFO((outcome.ok() ? std::string() : outcome.error().what));
    REQUIRE(outcome.ok());
    return std::move(outcome).value();
}

/// The row in which the cheat does what else it could.
inline CheatRow instead_of(const char* name) {
    CheatRow row = *find_strategy(name);
    REQUIRE(row.instead.has_value());
    row.behaviour = *row.instead;
    return row;
}

inline std::set<base::PublicKey> cheats_of(const World& world) {
    std::set<base::PublicKey> keys;
    for (const auto& party : world.parties())
        if (is_cheat(*party)) keys.insert(party->node.public_key());
    return keys;
}

/// Whether the claim of a slot of the first round died, and something was lost with it.
inline bool loses_a_game(const JobOutcome& outcome, std::uint32_t slot) {
    return std::any_of(outcome.games.begin(), outcome.games.end(), [&](const contracts::Game& game) {
        return game.round == 0 && game.claim == slot && game.kind == contracts::ClaimKind::kSlot &&
               !game.called && game.claimant_lost && !game.lost.is_zero();
    });
}

inline bool is_paid_whole(const contracts::SettlementLine& line) {
    return line.paid.units() == line.price.units() * line.work_units && line.replays.is_zero();
}

inline base::PublicKey key_in(const World& world, const char* name) {
    return world.party(name).node.public_key();
}

}  // namespace assay::node::sim::test_rows
