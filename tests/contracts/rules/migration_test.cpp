// SPDX-License-Identifier: Apache-2.0
// From older schemas to this program's.
#include "contracts/rules/migration.hpp"

#include "contracts/rules/conservation.hpp"
#include "contracts/rules/state/store.hpp"
#include "tests/contracts/rules/busy_market.hpp"
#include "tests/contracts/rules/old_state.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

/// Decodes every record of the table; a record that does not decode ends the test.
template <class T>
std::size_t decodable(const StateView& state, Table table) {
    std::size_t count = 0;
    for (const auto& [key, value] : state.scan(table_prefix(table))) {
        REQUIRE(base::decode<T>(value).ok());
        ++count;
    }
    return count;
}

}  // namespace

TEST_CASE(
    "a state of schema 1 is migrated by the first block: every record decodes and every invariant holds") {
    OldState old;
    REQUIRE(schema_of(old.state) == 1);
    REQUIRE(check_schema(old.state).ok());
    CHECK(next_deadline(old.state) == 0);  // an engine makes that block at once
    const Supply supply = read_supply(old.state);
    begin_block(old.state, {"test-chain", old.height + 1});
    const MemoryState& state = old.state;
    CHECK(schema_of(state) == kSchemaVersion);
    const auto invariants = check_invariants(state);
    INFO((invariants ? std::string() : invariants.error().what));
    CHECK(invariants.ok());
    CHECK(read_supply(state) == supply);

    CHECK(decodable<Meta>(state, Table::kMeta) == 1);
    CHECK(decodable<Hash256>(state, Table::kParams) == 1);
    CHECK(decodable<Supply>(state, Table::kSupply) == 1);
    CHECK(decodable<ValidatorSet>(state, Table::kValidators) == 1);
    CHECK(decodable<Params>(state, Table::kParamSet) == 2);
    CHECK(decodable<Account>(state, Table::kAccount) > 0);
    CHECK(decodable<NodeKey>(state, Table::kNodeKey) > 0);
    CHECK(decodable<Stake>(state, Table::kStake) > 0);
    CHECK(decodable<Unbonding>(state, Table::kUnbonding) == 1);
    CHECK(decodable<Miner>(state, Table::kMiner) == 3);
    CHECK(decodable<Verifier>(state, Table::kVerifier) == 3);
    CHECK(decodable<JobTerms>(state, Table::kJobTerms) == 2);
    CHECK(decodable<JobProgress>(state, Table::kJobProgress) == 2);
    CHECK(decodable<Bidding>(state, Table::kBidding) == 2);
    CHECK(decodable<std::string>(state, Table::kBuyerEndpoint) == 2);
    CHECK(decodable<EndedJob>(state, Table::kEndedJob) == 1);
    CHECK(decodable<RosterEntry>(state, Table::kRoster) > 0);
    CHECK(decodable<EnlistedVerifier>(state, Table::kPanel) > 0);
    CHECK(decodable<BeaconMember>(state, Table::kBeaconMember) > 0);
    CHECK(decodable<Ask>(state, Table::kAsk) == 4);
    CHECK(decodable<RoundProgress>(state, Table::kRound) == 2);
    CHECK(decodable<BeaconLink>(state, Table::kBeaconLink) > 0);
    CHECK(decodable<MergePosting>(state, Table::kMergePosting) > 0);
    CHECK(decodable<SlotRound>(state, Table::kSlotRound) == 4);
    CHECK(decodable<Reveal>(state, Table::kReveal) == 4);
    CHECK(decodable<AuditPosting>(state, Table::kAudit) > 0);
    CHECK(decodable<SettlementLine>(state, Table::kSettlement) > 0);

    CHECK(read_current_params(state) == short_windows());
    // What was agreed stays: fixed penalties, and gains without a bound.
    Params terms = short_windows();
    terms.verifier_penalty_ppm = 0;
    terms.gain_bound_max_ppm = 1'000'000'000;
    for (const Job& job : list_jobs(state)) {
        CHECK(params_of(state, job) == terms);
        for (const EnlistedVerifier& verifier : job.verifiers) CHECK(verifier.locked == terms.verifier_bond);
    }
    for (const auto& [node, miner] : list_miners(state)) CHECK(list_standing(state, node).empty());
}

TEST_CASE("a migrated job runs on to its end, and is settled as the one that was never migrated was begun") {
    OldState old;
    Env env(std::move(old.state), old.height);
    env.next_block();
    const Job before = env.job(old.running);
    REQUIRE(env.round(old.running).phase == RoundPhase::kMergeSeal);
    CHECK(before.round == 1);
    CHECK(before.rounds_done == 1);
    CHECK(before.auction.clearing_price == amount(700));
    // One of the two had not opened its seal, which covered a claim of schema 1: it seals again.
    for (const MergePosting& posting : env.round(old.running).merges) {
        if (posting.opened) continue;
        CHECK_FALSE(posting.sealed);
        Person& who = env.by_node(posting.verifier);
        const MergeClaim claim = true_merge(before, 1);
        const Hash256 salt = bytes_of("another salt");
        const Hash256 seal =
            merge_seal(env.chain(), old.running, 1, Stage::kPair, who.node_key(), claim, salt);
        env.send(who, MergeSeal{old.running, 1, Stage::kPair, seal});
        REQUIRE(env.round(old.running).phase == RoundPhase::kMergeOpen);
        env.send(who, MergeOpen{old.running, 1, Stage::kPair, claim, salt});
    }
    const Round first = *read_round(env.whole(), old.running, 0);
    CHECK(first.train_steps > 0);
    CHECK(first.train_steps % 2 == 0);  // two steps a segment
    play_job(env, old.running);
    const Job job = env.job(old.running);
    CHECK(job.end_reason == Reason::kJobComplete);
    CHECK(job.rounds_done == 3);
    CHECK(read_round(env.whole(), old.running, 1)->merged_slots == std::vector<std::uint32_t>{0, 1});
    CHECK(env.job(old.ended).end_reason == Reason::kJobCancelled);
    CHECK(env.job(old.bidding).auction.asks_sealed == 1);
}

TEST_CASE("a state of schema 2, migrated, is byte for byte what the same messages give now") {
    OldState old(2);
    REQUIRE(schema_of(old.state) == 2);
    CHECK(next_deadline(old.state) == 0);
    const Supply supply = read_supply(old.state);
    const BlockContext next{"test-chain", old.height + 1};
    begin_block(old.state, next);
    BusyMarket market;
    CHECK(old.height == market.env.height());
    CHECK(old.running == market.running);
    CHECK(read_supply(old.state) == supply);
    CHECK(read_validators(old.state) == read_validators(market.env.state()));
    // The ended job has left on its own; of the old state it leaves in the block that migrates.
    market.env.next_block();
    EndedJob ended = read_ended_job(old.state, old.ended).value();
    EndedJob expected = read_ended_job(market.env.state(), market.ended).value();
    REQUIRE(put_back(old.state, history_of(old.state)).ok());
    // Where older messages stand in the log is not known: what they gave stays in the state.
    const auto kept = [](const Bytes& key) {
        const auto table = static_cast<Table>(key.front());
        return table == Table::kReveal || table == Table::kAudit || table == Table::kRevealPlace ||
               table == Table::kAuditPlace;
    };
    // So what is left of the ended job names other groups there, and is else the same.
    ended.groups = expected.groups = {};
    CHECK(base::to_hex(base::encode(ended)) == base::to_hex(base::encode(expected)));
    old.state.erase(ended_job_key(old.ended));
    std::size_t compared = 0;
    const MemoryState native = market.env.with_evidence();
    for (const auto& [key, value] : native.all()) {
        if (kept(key) || key == ended_job_key(market.ended)) continue;
        ++compared;
        INFO(base::to_hex(key));
        const auto migrated = old.state.get(key);
        REQUIRE(migrated.has_value());
        CHECK(base::to_hex(*migrated) == base::to_hex(value));
    }
    for (const auto& [key, value] : old.state.all()) compared -= kept(key) ? 0U : 1U;
    CHECK(compared == 0);
    // The reveals and audits themselves are those that the log gives.
    for (const Table table : {Table::kReveal, Table::kAudit})
        CHECK(old.state.scan(table_prefix(table)) == market.env.with_evidence().scan(table_prefix(table)));
}

TEST_CASE("a running job of schema 2 holds claims, and runs on to its end") {
    OldState old(2);
    Env env(std::move(old.state), old.height);
    env.next_block();
    // Two slots and two merges, in its second round.
    CHECK(list_claims(env.state(), old.running).size() == 4);
    CHECK(env.job(old.running).due > env.height());
    const Round round = env.round(old.running);
    REQUIRE(round.phase == RoundPhase::kMergeOpen);
    const MergeClaim claim = true_merge(env.job(old.running), 1);
    env.send(env.by_node(round.merges.back().verifier),
             MergeOpen{old.running, 1, Stage::kPair, claim, bytes_of("merge salt")});
    play_job(env, old.running);
    CHECK(list_claims(env.state(), old.running).empty());
    CHECK(env.job(old.running).end_reason == Reason::kJobComplete);
}

TEST_CASE("a state of schema 3, migrated, is what the same messages give now: the ended job leaves") {
    OldState old(3);
    REQUIRE(schema_of(old.state) == 3);
    CHECK(next_deadline(old.state) == 0);
    REQUIRE(read_job(old.state, old.ended).has_value());
    begin_block(old.state, {"test-chain", old.height + 1});
    BusyMarket market;
    REQUIRE(old.height == market.env.height());
    market.env.next_block();
    CHECK(check_invariants(old.state).ok());
    CHECK_FALSE(read_job(old.state, old.ended).has_value());
    std::size_t same = 0;
    for (const auto& [key, value] : old.state.all()) {
        INFO(base::to_hex(key));
        const auto native = market.env.state().get(key);
        REQUIRE(native.has_value());
        CHECK(base::to_hex(value) == base::to_hex(*native));
        ++same;
    }
    CHECK(market.env.state().scan({}).size() == same);
    CHECK(old.state.history() == market.env.history());
}

TEST_CASE("whoever migrates the same state writes the same bytes, and a migrated state is left alone") {
    for (const int schema : {1, 2, 3}) {
        OldState one(schema);
        OldState other(schema);
        migrate(one.state);
        migrate(other.state);
        CHECK(one.state.all() == other.state.all());
        const auto once = one.state.all();
        migrate(one.state);
        CHECK(one.state.all() == once);
    }
}

TEST_CASE("a state of an unknown schema, or of none, is refused with a sentence") {
    MemoryState nothing;
    CHECK(check_schema(nothing).error() == "the state names no schema");
    Env env;
    Overlay overlay(env.state());
    Meta meta = read_meta(overlay);
    for (const std::uint32_t schema : {0U, kSchemaVersion + 1, 0xffffffffU}) {
        meta.schema = schema;
        store(overlay, meta_key(), meta);
        const auto known = check_schema(overlay);
        REQUIRE_FALSE(known.ok());
        CHECK(known.error() == "the state has schema " + std::to_string(schema) +
                                   "; this program reads 1 to " + std::to_string(kSchemaVersion));
    }
    // A newer program may have written more behind it.
    Bytes longer = base::encode(meta);
    longer.push_back(7);
    overlay.put(meta_key(), longer);
    CHECK(schema_of(overlay) == 0xffffffffU);
}

}  // namespace assay::contracts::test
