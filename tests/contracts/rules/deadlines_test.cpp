// SPDX-License-Identifier: Apache-2.0
// What falls due is found by height.
#include "contracts/rules/state/deadlines.hpp"

#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

TEST_CASE("deadlines are listed by height, up to the one that is asked for") {
    MemoryState state;
    CHECK_FALSE(next_due(state).has_value());
    const std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
    for (const std::uint64_t height : {std::uint64_t{300}, std::uint64_t{7}, last, std::uint64_t{256}})
        state.put(deadline_key({height, DueKind::kJob, bytes_of(std::to_string(height))}), {});
    CHECK(next_due(state) == 7);
    CHECK(list_due(state, 6).empty());
    const auto due = list_due(state, 299);
    REQUIRE(due.size() == 2);
    CHECK(due[0].height == 7);
    CHECK(due[1].height == 256);
    CHECK(due[1].subject == bytes_of("256"));
    CHECK(list_due(state, last).size() == 4);
    Bytes strange = deadline_key({7, DueKind::kJob, bytes_of("x")});
    strange[9] = 0;
    CHECK_FALSE(deadline_of(strange).has_value());
    strange.pop_back();
    CHECK_FALSE(deadline_of(strange).has_value());
}

TEST_CASE("a job is due at one height: its bidding's, then its round's, and nothing when it has ended") {
    Env env;
    for (const char* name : {"m1", "m2"}) env.miner(name);
    for (const char* name : {"v1", "v2"}) env.verifier(name);
    const Hash256 id = env.post(small_job());
    const auto entries = [&] { return list_due(env.state(), std::numeric_limits<std::uint64_t>::max()); };
    const auto check_due = [&](std::uint64_t last) {
        REQUIRE(entries().size() == 1);
        CHECK(entries().front().subject == id);
        CHECK(entries().front().height == last + 1);
        CHECK(env.job(id).due == last + 1);
        CHECK(next_deadline(env.state()) == last + 1);
    };
    check_due(env.job(id).phase_deadline);
    env.hold_auction(id, {{"m1", 1}, {"m2", 1}}, {"v1", "v2"});
    check_due(env.round(id).phase_deadline);
    env.next_block();
    play_commits(env, id, {});
    REQUIRE(env.round(id).phase == RoundPhase::kBeacon);
    check_due(env.round(id).phase_deadline);
    // Nobody does anything any more.
    while (env.job(id).phase != JobPhase::kEnded) {
        const bool refills = env.job(id).phase == JobPhase::kRefill;
        check_due(refills ? env.job(id).phase_deadline : env.round(id).phase_deadline);
        env.let_deadline_pass();
    }
    // Then its records are due to leave, and nothing after that.
    check_due(env.height());
    CHECK(entries().front().kind == DueKind::kLeaving);
    env.next_block();
    CHECK(entries().empty());
    CHECK(next_deadline(env.state()) == std::nullopt);
}

}  // namespace assay::contracts::test
