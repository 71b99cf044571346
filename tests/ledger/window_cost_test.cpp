// SPDX-License-Identifier: Apache-2.0
// What a block does for one round costs the same however many other rounds of the job have open windows.
// Counted, not timed: the same block of a job with ten such rounds more, and with a thousand.
#include "contracts/rules/claim/claims.hpp"
#include "contracts/rules/claim/window_ends.hpp"
#include "contracts/rules/escrow.hpp"
#include "contracts/rules/job/roster.hpp"
#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/state/store.hpp"
#include "ledger/application/rules_machine.hpp"
#include "ledger/engine/chain.hpp"
#include "ledger/store/counting_view.hpp"
#include "tests/contracts/rules/dispute_world.hpp"
#include "tests/support/catch.hpp"

namespace assay::ledger {
namespace {

using contracts::ClaimId;
using contracts::ClaimKind;
using contracts::MemoryState;
using contracts::Table;
using contracts::test::DisputeWorld;

constexpr std::uint32_t kFirstCopy = 1'000;

bool is_of_first_round(ByteView key, const Hash256& job) {
    const auto table = static_cast<Table>(key.front());
    const bool of_round = table >= Table::kRound && table <= Table::kMergePlace;
    return of_round && key.size() >= 37 && base::hash_from(key.subspan(1, 32)) == job &&
           contracts::number_in(key.subspan(33, 4)) == 0;
}

/// The world with `count` more settled rounds, each with all records of the first one and with its claims as
/// they were before any game; half of their windows end when those of the first do, half each at a height of
/// its own.
MemoryState with_open_rounds(const DisputeWorld& w, std::uint32_t count) {
    MemoryState state;
    std::vector<std::pair<Bytes, Bytes>> records;
    for (auto& [key, value] : w.env.state().scan({})) {
        if (is_of_first_round(key, w.job)) records.emplace_back(key, value);
        state.put(key, std::move(value));
    }
    const auto listed = contracts::list_claims(state, w.job, 0);
    contracts::Supply supply = contracts::read_supply(state);
    const auto add = [](contracts::Amount& to, contracts::Amount more) { to = to.plus(more).value(); };
    for (std::uint32_t n = 0; n < count; ++n) {
        const std::uint32_t round = kFirstCopy + n;
        for (auto [key, value] : records) {
            for (int byte = 0; byte < 4; ++byte)
                key[static_cast<std::size_t>(36 - byte)] = static_cast<std::uint8_t>(round >> (8 * byte));
            state.put(key, std::move(value));
        }
        auto progress = contracts::read_round_progress(state, w.job, round).value();
        if (n % 2 == 1) progress.settled_at += 10'000 + n;
        contracts::store(state, contracts::round_key(w.job, round), progress);
        for (const auto& [id, claim] : listed) {
            if (claim.challenges > 0 || claim.dead) continue;
            const ClaimId copy{id.job, round, id.kind, id.number};
            contracts::open_claim(state, copy, claim);
            contracts::note_window_end(state, copy, contracts::end_of_window(state, copy, claim).value());
            contracts::Stake stake = contracts::read_stake(state, claim.node);
            add(stake.bonded, claim.bond);
            contracts::store(state, contracts::stake_key(claim.node), stake);
            add(supply.bonds, claim.bond);
            add(supply.escrow, claim.held);
            for (const auto amount : {claim.bond, claim.held}) add(supply.minted, amount);
        }
    }
    contracts::store(state, contracts::supply_key(), supply);
    return state;
}

std::uint64_t reads_of_block(const MemoryState& state, std::uint64_t height,
                             const std::vector<Bytes>& transactions) {
    REQUIRE(contracts::check_invariants(state).ok());
    const CountingView counted(state);
    contracts::Overlay overlay(counted);
    const auto executed = execute_block(rules_machine(), overlay, {"test-chain", height}, transactions);
    REQUIRE(executed.ok());
    REQUIRE(executed->ok());
    (void)rules_machine().next_deadline(overlay);
    return counted.reads();
}

/// A world, and a block that comes next in it.
struct Scene {
    std::string name;
    std::unique_ptr<DisputeWorld> world;
    std::uint64_t height = 0;  ///< of the block; 0: the next
    std::vector<Bytes> transactions;
};

Scene scene(const std::string& name) { return {name, std::make_unique<DisputeWorld>(), 0, {}}; }

std::vector<Scene> scenes() {
    std::vector<Scene> all;
    const auto sign = [](Scene& s, const std::string& who, const contracts::Payload& payload) {
        s.transactions.push_back(s.world->env.sign(s.world->env.person(who), payload));
    };
    all.push_back(scene("nothing"));
    Scene challenge = scene("a challenge");
    sign(challenge, "v4", challenge.world->challenge(0));
    all.push_back(std::move(challenge));
    Scene concession = scene("a claim that dies");
    const std::string miner = concession.world->miner_of(0);
    const std::uint32_t game = concession.world->open("v4", 0);
    sign(concession, miner, contracts::DisputeConcede{concession.world->job, game});
    all.push_back(std::move(concession));
    Scene silence = scene("a game that times out");
    silence.world->open("v4", 0);
    silence.height = silence.world->game(0).due;
    all.push_back(std::move(silence));
    Scene called = scene("a call");
    DisputeWorld& w = *called.world;
    w.open("v4", 0);
    w.env.send(w.env.person(w.miner_of(0)), contracts::DisputeConcede{w.job, 0});
    const auto vouchers =
        contracts::vouchers_of(w.env.state(), w.claim(0), contracts::test::UnitKind::kSegment, 0);
    sign(called, "v4",
         contracts::DisputeCall{w.job, 0, contracts::test::UnitKind::kSegment, 0, vouchers.at(0)});
    all.push_back(std::move(called));
    Scene cancel = scene("the end of the job");
    sign(cancel, "buyer", contracts::JobCancel{cancel.world->job});
    all.push_back(std::move(cancel));
    // Nobody has committed anything: the round is settled, and another one begins.
    Scene deadline = scene("the deadline of the running round");
    deadline.height = deadline.world->env.job(deadline.world->job).due;
    all.push_back(std::move(deadline));
    return all;
}

}  // namespace

TEST_CASE("a thousand other rounds of a job with open windows cost a block of one round nothing") {
    for (const Scene& one : scenes()) {
        CAPTURE(one.name);
        const MemoryState few = with_open_rounds(*one.world, 10);
        const MemoryState many = with_open_rounds(*one.world, 1'000);
        const std::uint64_t height = one.height != 0 ? one.height : one.world->env.height() + 1;
        const std::uint64_t reads = reads_of_block(few, height, one.transactions);
        CHECK(reads == reads_of_block(many, height, one.transactions));
        CHECK(reads < 2'000);
    }
}

TEST_CASE("when windows end, a block reads the claims whose windows these are") {
    const DisputeWorld w;
    const MemoryState few = with_open_rounds(w, 10);
    const MemoryState many = with_open_rounds(w, 1'000);
    const auto end_of = [&](const MemoryState& state, std::uint32_t round) {
        const ClaimId id{w.job, round, ClaimKind::kSlot, 0};
        const auto claim = contracts::read_claim(state, id);
        return contracts::end_of_window(state, id, claim.value()).value();
    };
    const auto closed = [&](const MemoryState& state, std::uint32_t round) {
        const CountingView counted(state);
        contracts::Overlay overlay(counted);
        contracts::Work work(overlay, {"test-chain", end_of(state, round)});
        contracts::close_windows(work, {work.block.height, contracts::DueKind::kWindows, w.job});
        CHECK_FALSE(contracts::has_open_claim(overlay, w.job, round));
        CHECK(contracts::has_open_claim(overlay, w.job, kFirstCopy + 3));
        return counted.reads();
    };
    // One that ends alone, and one with which half of all rounds do.
    CHECK(closed(few, kFirstCopy + 1) == closed(many, kFirstCopy + 1));
    CHECK(closed(few, 0) < closed(many, 0));
}

TEST_CASE("who asks for the claims of one round, of one node, or for any, reads no others") {
    const DisputeWorld w;
    const MemoryState few = with_open_rounds(w, 10);
    const MemoryState many = with_open_rounds(w, 1'000);
    const contracts::Claim claim = contracts::read_claim(few, {w.job, 0, ClaimKind::kSlot, 0}).value();
    const auto reads = [](const MemoryState& state, const auto& ask) {
        const CountingView counted(state);
        ask(counted);
        return counted.reads();
    };
    const auto asks = std::vector<std::function<void(const contracts::StateView&)>>{
        [&](const auto& s) { CHECK(contracts::list_claims(s, w.job, 0).size() > 1); },
        [&](const auto& s) { CHECK(contracts::has_open_claim(s, w.job)); },
        [&](const auto& s) { CHECK(contracts::first_open_round(s, w.job) == 0U); },
        [&](const auto& s) {
            CHECK(contracts::waits_for_window(s, *contracts::read_job(s, w.job), claim.node));
        },
        [&](const auto& s) {
            CHECK(contracts::list_game_numbers(s, ClaimId{w.job, 0, ClaimKind::kSlot, 0}).empty());
        },
        [&](const auto& s) { (void)contracts::escrow_of(s, *contracts::read_job(s, w.job)); },
    };
    for (const auto& ask : asks) CHECK(reads(few, ask) == reads(many, ask));
    CHECK(contracts::list_open_rounds(many, w.job).size() == 1'002);
}

}  // namespace assay::ledger
