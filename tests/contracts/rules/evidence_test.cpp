// SPDX-License-Identifier: Apache-2.0
// What a settled round leaves to the log comes back from it, and only from it.
#include "contracts/rules/evidence.hpp"

#include "contracts/rules/state/store.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

struct EvidenceWorld {
    Env env;
    Hash256 id;
    MemoryState before;  ///< the last round was not settled yet, and the ones before were

    static Params patient() {
        Params params = short_windows();
        params.commit_window = 100;
        return params;
    }
    explicit EvidenceWorld(const JobSpec& spec = small_job()) : env(patient()) {
        for (const char* name : {"m1", "m2"}) env.miner(name);
        for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
        id = env.post(spec);
        env.hold_auction(id, {{"m1", 500}, {"m2", 600}}, {"v1", "v2", "v3"});
        play_commits(env, id, {});
        play_links(env, id, {});
        play_verdicts(env, id, {.verifiers = {{"v2", VerifierManner::kLies}}});
        for (const auto& [key, value] : env.state().scan({})) before.put(key, value);
        play_merges(env, id, {});
        REQUIRE(read_round(env.whole(), id, 0)->phase == RoundPhase::kSettled);
        CHECK(list_evidence(env.state()).empty());  // all of it can be disputed
        let_windows_pass(env, id, 0);
    }
    [[nodiscard]] std::size_t bytes(Table table) const {
        std::size_t sum = 0;
        for (const auto& [key, value] : env.state().scan(table_prefix(table))) sum += value.size();
        return sum;
    }
};

}  // namespace

TEST_CASE(
    "a round whose windows are over keeps hashes of its reveals and audits, and the log gives back every "
    "byte") {
    const EvidenceWorld s;
    CHECK(s.env.state().scan(table_prefix(Table::kReveal)).empty());
    for (const AuditPosting& posting : list_audits(s.env.whole(), s.id, 0)) CHECK(posting.claims.empty());
    const auto evidence = list_evidence(s.env.state());
    CHECK(evidence.size() >= 4);  // two reveals, two verifiers at least
    const MemoryState whole = s.env.with_evidence();
    for (const Table table : {Table::kReveal, Table::kAudit}) {
        CHECK_FALSE(s.before.scan(table_prefix(table)).empty());
        CHECK(whole.scan(table_prefix(table)) == s.before.scan(table_prefix(table)));
    }
    CHECK(list_evidence(whole).empty());
    CHECK(list_evidence(s.before).empty());
}

TEST_CASE(
    "a round whose windows are over keeps the hash of each merge's clips, and the log gives them back") {
    JobSpec spec = small_job();
    spec.train.max_update_norm = 2.0F;
    const EvidenceWorld s(spec);
    const auto left = list_merge_postings(s.env.whole(), s.id, 0);
    const MemoryState whole = s.env.with_evidence();
    const auto back = list_merge_postings(whole, s.id, 0);
    REQUIRE(left.size() == back.size());
    std::size_t opened = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {
        if (!left[i].opened) continue;
        ++opened;
        CHECK(left[i].claim.clips.empty());
        CHECK(back[i].claim == read_round(whole, s.id, 0)->result);
        CHECK_FALSE(back[i].claim.clips.empty());
    }
    CHECK(opened == 3);
    CHECK(list_evidence(whole).empty());
}

TEST_CASE("a record is recovered from its own transaction alone") {
    EvidenceWorld s;
    const auto evidence = list_evidence(s.env.state());
    REQUIRE_FALSE(evidence.empty());
    const auto& first = evidence.front();
    CHECK_FALSE(recover(s.env.state(), first, {}).has_value());
    CHECK_FALSE(recover(s.env.state(), first, bytes_of("no transaction").view()).has_value());
    const Bytes other =
        s.env.sign(s.env.person("other"), Transfer{s.env.person("m3").owner_key(), amount(1)});
    CHECK_FALSE(recover(s.env.state(), first, other).has_value());
    // The right name and another record: the hash decides.
    Evidence forged = first;
    forged.place.transaction = transaction_id(base::decode<SignedTransaction>(other).value().body);
    CHECK_FALSE(recover(s.env.state(), forged, other).has_value());
}

TEST_CASE("a round whose windows are over costs the state less than the messages that made it") {
    const EvidenceWorld s;
    std::size_t large = 0;
    for (const Table table : {Table::kReveal, Table::kAudit})
        for (const auto& [key, value] : s.before.scan(table_prefix(table))) large += value.size();
    const std::size_t small =
        s.bytes(Table::kRevealPlace) + s.bytes(Table::kAuditPlace) + s.bytes(Table::kAudit);
    CHECK(small < large);
}

}  // namespace assay::contracts::test
