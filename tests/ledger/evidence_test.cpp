// SPDX-License-Identifier: Apache-2.0
// Audits put back what settled rounds left to the blocks, and a block that lacks it is named.
#include "ledger/audit/evidence.hpp"

#include "contracts/rules/evidence.hpp"
#include "ledger/audit/payout_audit.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::ledger {
namespace {

using contracts::MemoryState;
using contracts::test::Env;

/// A job that was played to its end.
struct Played {
    Env env;
    Hash256 job;

    Played() {
        for (const char* name : {"m1", "m2"}) env.miner(name);
        for (const char* name : {"v1", "v2"}) env.verifier(name);
        job = env.post(contracts::test::small_job());
        env.hold_auction(job, {{"m1", 1}, {"m2", 1}}, {"v1", "v2"});
        play_job(env, job);
        env.next_block();  // its records leave
    }
    [[nodiscard]] MemoryState state() const {
        MemoryState copy;
        for (const auto& [key, value] : env.state().scan({})) copy.put(key, value);
        for (const auto& [key, row] : env.history()) copy.hand_over(key, row);
        return copy;
    }
    /// A block with every message that was applied at this height.
    [[nodiscard]] Outcome<Block> block(std::uint64_t height) const {
        Block block;
        block.header.height = height;
        block.transactions = env.applied_at(height);
        return block;
    }
};

}  // namespace

TEST_CASE("payouts are judged by a state and the blocks, and not by the state alone") {
    const Played played;
    MemoryState state = played.state();
    // Not judged is not passed.
    const PayoutReport without = audit_payouts(state);
    CHECK(without.jobs.empty());
    REQUIRE(without.failures.size() == 1);
    CHECK(without.failures.front().job == played.job);
    CHECK(without.failures.front().what.find("none of its payments was judged") != std::string::npos);
    REQUIRE(recover_records(state).ok());
    CHECK(audit_payouts(state).jobs.size() == 1);
    CHECK_FALSE(audit_payouts(state).ok());
    std::uint64_t asked = 0;
    const auto recovered = recover_evidence(state, [&](std::uint64_t height) {
        CHECK(height > asked);
        asked = height;
        return played.block(height);
    });
    REQUIRE(recovered.ok());
    CHECK(audit_payouts(state).ok());
    CHECK(state.all() == played.env.with_evidence().all());
}

TEST_CASE("an ended job of which some records were not put back is not judged, whichever they are") {
    const Played played;
    MemoryState whole = played.state();
    REQUIRE(recover_records(whole).ok());
    const auto ended = contracts::read_ended_job(whole, played.job);
    REQUIRE(ended.has_value());
    for (const contracts::RecordGroup& group : ended->groups) {
        CAPTURE(static_cast<int>(group.table));
        MemoryState state = whole;
        Bytes prefix{group.table};
        prefix.insert(prefix.end(), played.job.bytes.begin(), played.job.bytes.end());
        const auto records = whole.scan(prefix);
        REQUIRE(records.size() == group.records);
        state.erase(records.back().first);
        const PayoutReport report = audit_payouts(state);
        CHECK(report.jobs.empty());
        CHECK(report.failures.size() == 1);
    }
}

TEST_CASE("a block without the message that the state names is an error that names both") {
    const Played played;
    MemoryState state = played.state();
    REQUIRE(recover_records(state).ok());
    const contracts::Evidence first = contracts::list_evidence(state).front();
    const auto recovered = recover_evidence(state, [&](std::uint64_t height) {
        auto block = played.block(height);
        if (height == first.place.height) block->transactions.clear();
        return block;
    });
    REQUIRE_FALSE(recovered.ok());
    CHECK(recovered.error().kind == base::ErrorKind::kVerification);
    CHECK(recovered.error().what.find("block " + std::to_string(first.place.height)) != std::string::npos);
}

TEST_CASE(
    "a row of the history that is not what the state names is an error that names it, and nothing is "
    "judged") {
    const Played played;
    const contracts::History rows = played.env.history();
    REQUIRE_FALSE(rows.empty());
    for (const auto& [tampered, row] : rows) {
        MemoryState state = played.state();
        const auto recovered =
            recover_records(state, [&, &changed = tampered](ByteView key) -> std::optional<Bytes> {
                const auto found = rows.find(base::to_bytes(key));
                if (found == rows.end()) return std::nullopt;
                Bytes bytes = found->second;
                if (found->first == changed) bytes[bytes.size() / 2] ^= 4U;
                return bytes;
            });
        REQUIRE_FALSE(recovered.ok());
        CHECK(recovered.error().kind == base::ErrorKind::kVerification);
        CHECK(recovered.error().what.find(played.job.hex()) != std::string::npos);
        CHECK(recovered.error().what.find("of the history") != std::string::npos);
    }
}

}  // namespace assay::ledger
