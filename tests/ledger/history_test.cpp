// SPDX-License-Identifier: Apache-2.0
// Records that left the state are found through the index: after a restart, after the index was made anew,
// and not when a row of it was changed.
#include "contracts/rules/job/history.hpp"

#include "ledger/application/rules_machine.hpp"
#include "ledger/audit/evidence.hpp"
#include "ledger/audit/payout_audit.hpp"
#include "ledger/engine/chain.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/ledger/toy_machine.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/faulty_disk.hpp"

using namespace assay;
using namespace assay::ledger;
using namespace assay::ledger::testing;

namespace {

using contracts::MemoryState;

/// A chain on which a job was played to its end, and on for a block.
struct Ledger {
    Ledger() : disk(faults), provider(faults) {
        for (const char* name : {"m1", "m2"}) env.miner(name);
        for (const char* name : {"v1", "v2"}) env.verifier(name);
        job = env.post(contracts::test::small_job());
        env.hold_auction(job, {{"m1", 1}, {"m2", 1}}, {"v1", "v2"});
        play_job(env, job);
        env.next_block();
        genesis = {.chain_id = env.chain(),
                   .validators = contracts::validators_of(env.configuration()),
                   .rules = base::encode(env.configuration())};
        REQUIRE(write_genesis(disk, Layout("home").genesis, genesis));
        open();
        for (const auto& transactions : env.blocks())
            REQUIRE(chain->append(transactions, EmptyBlock::kMake, 1, sequencer()));
    }
    void open() {
        chain.reset();
        auto opened = Chain::open(disk, provider, rules_machine(), "home");
        REQUIRE(opened);
        chain = std::move(opened).value();
    }
    const base::SecretKey& sequencer() { return env.person("sequencer").node; }
    [[nodiscard]] contracts::HistoryReader rows() const {
        return [this](ByteView key) -> std::optional<Bytes> {
            auto row = chain->application().history(key);
            REQUIRE(row);
            return *std::move(row);
        };
    }
    /// What an auditor has who reads the records through the index, and the messages from the blocks.
    [[nodiscard]] Outcome<MemoryState> audited() const {
        MemoryState state;
        for (const auto& [key, value] : chain->state().scan({})) state.put(key, value);
        ASSAY_TRY(recover_records(state, rows()));
        ASSAY_TRY(recover_evidence(state, [&](std::uint64_t height) { return chain->block(height); }));
        return state;
    }
    /// Keys of the store that hold rows of the history.
    [[nodiscard]] std::vector<Bytes> stored_rows() const {
        std::vector<Bytes> keys;
        for (const auto& [key, value] : provider.values)
            if (key.front() == 'h') keys.push_back(key);
        return keys;
    }

    Faults faults;
    FaultyDisk disk;
    MemoryProvider provider;
    contracts::test::Env env;
    Hash256 job;
    Genesis genesis;
    std::unique_ptr<Chain> chain;
};

}  // namespace

TEST_CASE(
    "an ended job is read through the index, and again after a restart, and out of an index made anew") {
    Ledger ledger;
    const auto expected = ledger.env.with_evidence();
    const auto check = [&] {
        CHECK_FALSE(contracts::read_job(ledger.chain->state(), ledger.job).has_value());
        const contracts::WithHistory whole(ledger.chain->state(), ledger.rows());
        const auto job = contracts::read_job(whole, ledger.job);
        REQUIRE(job.has_value());
        CHECK(job->end_reason == contracts::Reason::kJobComplete);
        CHECK(contracts::list_settlement(whole, ledger.job, 1).size() ==
              contracts::list_settlement(ledger.env.whole(), ledger.job, 1).size());
        const auto state = ledger.audited();
        REQUIRE(state);
        CHECK(state->all() == expected.all());
        const PayoutReport report = audit_payouts(*state);
        CHECK(report.ok());
        CHECK(report.jobs.size() == 1);
    };
    check();
    const std::vector<Bytes> rows = ledger.stored_rows();
    CHECK(rows.size() == ledger.env.history().size());
    ledger.open();
    CHECK(ledger.chain->notes().empty());
    check();
    ledger.chain.reset();
    ledger.provider.values.clear();
    ledger.open();
    CHECK(ledger.stored_rows() == rows);
    check();
}

TEST_CASE("a row of the index that was changed or is gone is named by the audit that reads it") {
    Ledger ledger;
    const auto sound = ledger.provider.values;
    for (const Bytes& key : ledger.stored_rows()) {
        for (const bool gone : {false, true}) {
            ledger.chain.reset();
            ledger.provider.values = sound;
            if (gone) {
                ledger.provider.values.erase(key);
            } else {
                ledger.provider.values[key].back() ^= 1U;
            }
            ledger.open();  // no block needs it: the ledger goes on
            const auto state = ledger.audited();
            REQUIRE_FALSE(state);
            CHECK(state.error().kind == base::ErrorKind::kVerification);
            CHECK(state.error().what.find("job " + ledger.job.hex() + ": row ") != std::string::npos);
            CHECK(state.error().what.find(gone ? "is missing" : "of the history") != std::string::npos);
            CHECK_FALSE(state.error().fix.empty());
        }
    }
}

TEST_CASE("what the state says of an ended job is audited against the records that left") {
    const Ledger ledger;
    using contracts::EndedJob;
    const std::vector<std::pair<std::string, std::function<void(EndedJob&)>>> changes = {
        {"buyer", [](EndedJob& job) { job.buyer.bytes[0] ^= 1U; }},
        {"specification", [](EndedJob& job) { job.spec.bytes[0] ^= 1U; }},
        {"heights", [](EndedJob& job) { ++job.ended_at; }},
        {"end", [](EndedJob& job) { job.reason = contracts::Reason::kJobCancelled; }},
        {"model", [](EndedJob& job) { job.base_root.bytes[0] ^= 1U; }},
        {"money", [](EndedJob& job) { job.refunded = {}; }}};
    for (const auto& [name, change] : changes) {
        INFO(name);
        auto state = ledger.audited().value();
        EndedJob ended = contracts::read_ended_job(state, ledger.job).value();
        change(ended);
        state.put(contracts::ended_job_key(ledger.job), base::encode(ended));
        const PayoutReport report = audit_payouts(state);
        REQUIRE(report.failures.size() == 1);
        CHECK(report.failures.front().what.find("ended job: what the state says of its " + name) == 0);
        CHECK(report.failures.front().job == ledger.job);
    }
}

TEST_CASE("a query for an ended job answers from the last state alone, and a row comes without a proof") {
    Ledger ledger;
    Application& application = ledger.chain->application();
    const Bytes key = contracts::ended_job_key(ledger.job);
    const auto ended = application.query({"state", key, 0});
    REQUIRE(ended);
    REQUIRE(ended->value);
    CHECK(verify_present(ended->app_hash, key, *ended->value, *ended->proof));
    // The records themselves are proved to be absent, and the state in which they were is not kept.
    const Bytes terms = contracts::job_terms_key(ledger.job);
    const auto left = application.query({"state", terms, 0});
    REQUIRE(left);
    CHECK_FALSE(left->value);
    CHECK(verify_absent(left->app_hash, terms, *left->proof));
    for (const char* path : {"state", "history"}) {
        const auto old = application.query({path, terms, ledger.chain->height() - 1});
        REQUIRE_FALSE(old);
        CHECK(old.error().kind == base::ErrorKind::kNotFound);
    }
    const Bytes row = contracts::history_key(ledger.job, contracts::Table::kJobTerms, 0);
    const auto found = application.query({"history", row, 0});
    REQUIRE(found);
    CHECK(found->value == ledger.env.history().at(row));
    CHECK_FALSE(found->proof);
    CHECK_FALSE(application.query({"history", terms, 0})->value);
    CHECK_FALSE(application.query({"state", row, 0})->value);
}
