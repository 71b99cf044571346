// SPDX-License-Identifier: Apache-2.0
// A market in which stores are as full as they get: what a claim needs stays until its window is over, and a
// right claim that is challenged at the last height of it is defended.
#include "contracts/program/kept_bytes.hpp"
#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/dispute/tables.hpp"
#include "node/roles/room_to_keep.hpp"
#include "tests/node/roles/small_market.hpp"

namespace assay::node {
namespace {

using namespace test_market;
using contracts::ClaimId;
using contracts::ClaimKind;
using contracts::Game;
using contracts::RoundPhase;

constexpr std::uint64_t kWindow = 150;
/// The round that is challenged: its base is no state that follows from the seed.
constexpr std::uint32_t kEarly = 1;

/// Of a buyer that can challenge, and does so only when the test has it do so.
MarketOptions quietly_watched() {
    MarketOptions options;
    options.rounds = 8;
    options.claim_window = kWindow;
    options.challenges["bea"] = 1e-12;
    return options;
}

/// Nothing that may go is left in any store, as if others' blobs had needed the room.
void drop_evictable(Market& market) {
    for (const auto& [name, party] : market.parties()) {
        for (const BlobInfo& blob : party->store->list()) {
            if (blob.pin == Pin::kEvictable) REQUIRE(party->store->remove(blob.id).ok());
        }
    }
}

/// The last height at which a settled claim of the round can be challenged: the next one begins with its end.
std::uint64_t last_height(const Market& market, std::uint32_t round) {
    return market.round(round).settled_at + kWindow - 1;
}

bool has_open_claim(const Market& market, std::uint32_t round) {
    for (const auto& [id, claim] : contracts::list_claims(market.state(), market.job()->id)) {
        if (id.round == round) return true;
    }
    return false;
}

/// Rounds go on over full stores until the next block is the last in which the early one can be challenged.
void run_to_last_height(Market& market) {
    REQUIRE(market.turn_until([&] { return market.settled(kEarly); }));
    REQUIRE(market.turn_until([&] {
        drop_evictable(market);
        return market.height() + 1 == last_height(market, kEarly);
    }));
    REQUIRE(market.job()->round >= kEarly + 3);  // or it would be no early one
    REQUIRE(has_open_claim(market, kEarly));
}

Game play(Market& market, const contracts::DisputeOpen& challenge) {
    market.have_sign("bea", challenge);
    REQUIRE(market.turn_until(
        [&] {
            drop_evictable(market);
            const auto games = contracts::list_games(market.state(), challenge.job);
            return !games.empty() && !games.front().is_open();
        },
        2000));
    return contracts::list_games(market.state(), challenge.job).front();
}

}  // namespace

TEST_CASE("a right slot that is challenged at the last height of its window is defended from a full store") {
    Market market(quietly_watched());
    market.start();
    run_to_last_height(market);
    market.party("bea").serves = false;  // whoever challenges has the base, and gives it to nobody
    market.restart_miner("mia");  // pins follow from the ledger's state, not from what a process remembers
    drop_evictable(market);
    const std::uint32_t slot = slots_of(market, "mia", kEarly).front().slot;
    const Game game = play(market, {.job = market.job()->id,
                                    .round = kEarly,
                                    .kind = ClaimKind::kSlot,
                                    .number = slot,
                                    .unit = dispute::UnitKind::kSegment,
                                    .part = 1});
    INFO(market.party("mia").log.text());
    CHECK(game.claimant == market.party("mia").node.public_key());
    CHECK_FALSE(game.claimant_lost);
    CHECK(game.moves > 0);
    check_nobody_ended(market);
}

TEST_CASE("a right merge that is challenged at the last height of its window is defended from a full store") {
    Market market(quietly_watched());
    market.start();
    run_to_last_height(market);
    std::optional<ClaimId> merge;
    for (const auto& [id, claim] : contracts::list_claims(market.state(), market.job()->id)) {
        if (id.kind == ClaimKind::kMerge && id.round == kEarly) merge = id;
    }
    REQUIRE(merge);
    const auto claim = contracts::read_claim(market.state(), *merge);
    for (const char* name : {"vera", "viki", "vito"}) market.restart_verifier(name);
    drop_evictable(market);
    const Game game = play(market, {.job = merge->job,
                                    .round = kEarly,
                                    .kind = ClaimKind::kMerge,
                                    .number = merge->number,
                                    .unit = dispute::UnitKind::kMerge});
    CHECK(game.claimant == claim->node);
    CHECK_FALSE(game.claimant_lost);
    CHECK(game.moves > 0);
    check_nobody_ended(market);
}

TEST_CASE("whoever is enlisted, and whoever mined, keeps the bytes of a round until its last claim closes") {
    MarketOptions options = quietly_watched();
    options.inner_state = program::InnerState::kCarried;
    Market market(options);
    market.start();
    REQUIRE(market.turn_until([&] { return market.settled(kEarly); }));
    // Its slots go on with what those of round 0 handed on.
    const contracts::Round round = market.round(kEarly);
    REQUIRE(round.merged);
    std::map<std::string, std::set<BlobId>> needed;
    for (const auto& [name, party] : market.parties()) needed[name] = {round.base_blob};
    std::set<BlobId> updates;
    for (std::uint32_t slot = 0; slot < market.spec().slots; ++slot) {
        const auto reveal = contracts::read_reveal(market.state(), market.job()->id, kEarly, slot);
        const auto carried = contracts::carried_in(market.state(), market.job()->id, kEarly, slot);
        REQUIRE(reveal);
        REQUIRE_FALSE(carried.nothing());
        for (const auto& [name, party] : market.parties()) {
            if (name == "bea") continue;
            const bool mines = name.front() == 'm';
            if (mines && market.slot(kEarly, slot).miner != party->node.public_key()) continue;
            needed[name].insert({reveal->update_blob, reveal->carried_blob, carried.blob});
            updates.insert(reveal->update_blob);
        }
    }
    const auto pinned = [&](const std::string& name) {
        const Party& party = market.party(name);
        std::size_t count = 0;
        for (const BlobId& blob : needed.at(name))
            count += party.store->has(blob) && !party.store->is_evictable(blob) ? 1U : 0U;
        return count;
    };
    std::uint32_t looked = 0;
    REQUIRE(market.turn_until([&] {
        if (!has_open_claim(market, kEarly)) return true;
        ++looked;
        for (const auto& [name, party] : market.parties()) {
            INFO(name << " at height " << market.height());
            CHECK(pinned(name) == needed.at(name).size());
        }
        return false;
    }));
    CHECK(looked > kWindow / 2);
    market.turn();
    for (const auto& [name, party] : market.parties()) {
        INFO(name);
        CHECK(party->store->is_evictable(round.base_blob));
        // What it handed on is what the round behind it went on with, which is open still.
        for (const BlobId& blob : updates)
            CHECK((!party->store->has(blob) || party->store->is_evictable(blob)));
    }
}

TEST_CASE("whose store cannot hold what a job's windows keep neither asks nor enlists, and says so by name") {
    MarketOptions options = quietly_watched();
    options.rounds = 40;
    const tests::TinyJob tiny = tests::tiny_job();
    program::JobSpec spec = tiny.spec;
    spec.rounds = options.rounds;
    const program::KeptBytes kept = program::most_kept(spec, kWindow);
    REQUIRE(kept.rounds > 4);
    // One slot in the whole job would be too much.
    options.quotas["moe"] = program::most_kept_by_miner(spec, kWindow, 1) - 1;
    options.quotas["vito"] = kept.verifier - 1;
    options.quotas["viki"] = kept.verifier;
    Market market(options);
    market.start();
    REQUIRE(market.turn_until([&] { return market.at_phase(0, RoundPhase::kCommit); }));
    const contracts::Job job = *market.job();
    const auto enlisted = [&](const std::string& name) {
        return takes_part(job, market.party(name).node.public_key());
    };
    CHECK(enlisted("mia"));
    CHECK(enlisted("vera"));
    CHECK(enlisted("viki"));
    for (const std::string name : {"moe", "vito"}) {
        INFO(name << "\n" << market.party(name).log.text());
        CHECK_FALSE(enlisted(name));
        CHECK(market.party(name).log.lines_with(std::string(kNoRoomToKeep)) == 1);
        CHECK(market.party(name).asked_for.empty());  // nor does it fetch what it will not use
    }
}

}  // namespace assay::node
