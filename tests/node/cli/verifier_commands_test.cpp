// SPDX-License-Identifier: Apache-2.0
// What the commands about verifiers say, from a ledger node, and the orders that owners leave in homes.
#include "node/roles/work_order.hpp"
#include "node/runtime/ledger_link.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/node/cli/served_chain.hpp"

namespace assay::test {

namespace {

using contracts::test::Env;
using nlohmann::json;
using node::WorkOrder;
using node::WorkRole;

/// A chain on which a job has ended in which m1 cheated and v2 was silent once, and on which two jobs take
/// enlistments: "open", for which v1 is enlisted, and "leasing" of v3. v4 has nearly no stake, and the key of
/// m5, a verifier, is revoked.
struct VerifierChain {
    VerifierChain() : env(params()) {
        for (const char* name : {"m1", "m2", "m3"}) env.miner(name);
        for (const char* name : {"v1", "v2", "v3", "m5"}) env.verifier(name);
        env.verifier("v4", 5);
        contracts::JobSpec spec = contracts::test::small_job();
        spec.name = "own";
        spec.market.deadline_blocks = 100'000;
        spec.slots = 3;
        own = env.post(spec);
        env.hold_auction(own, {{"m1", 100}, {"m2", 110}, {"m3", 120}}, {"v1", "v2", "v3"});
        using contracts::test::MinerManner;
        using contracts::test::VerifierManner;
        const contracts::test::Play play{.miners = {{"m1", MinerManner::kCheats}}};
        contracts::test::play_round(env, own, play);
        contracts::test::play_accusations(env, own, 0, play);
        contracts::test::play_round(env, own, {.verifiers = {{"v2", VerifierManner::kAbsent}}});
        contracts::test::play_job(env, own, {});
        spec.name = "leasing";
        spec.market.terms = {.gang = 1, .most = 1};
        leasing = env.post(spec, "v3");
        spec.name = "open";
        spec.market.terms = {};
        open = env.post(spec);
        env.enlist("v1", open);
        contracts::test::Person& gone = env.person("m5");
        env.send(gone, contracts::NodeRevoke{.node = gone.node_key()});
        chain.emplace(env);
    }
    static contracts::Params params() {
        contracts::Params params = contracts::test::short_windows();
        params.ask_commit_window = 6'000;  // ten minutes
        return params;
    }
    [[nodiscard]] PersonHome home_of(const std::string& name) { return {*chain, env.person(name)}; }
    [[nodiscard]] std::string key_of(const std::string& name) { return env.person(name).node_key().hex(); }

    Env env;
    base::Hash256 own, leasing, open;
    std::optional<ServedChain> chain;
};

VerifierChain& place() {
    static VerifierChain made;
    return made;
}

WorkOrder order_at(const PersonHome& home, WorkRole role) {
    const auto notes = node::make_disk_port(node::Home{home.cli().home()}.jobs());
    REQUIRE(notes.ok());
    const auto order = node::read_order(**notes, role);
    REQUIRE(order.ok());
    return *order;
}

/// The one of them that is about this verifier.
json about(const json& list, const std::string& key) {
    for (const json& one : list)
        if (one.at("verifier") == key) return one;
    FAIL("no verifier " + key);
    return {};
}

std::uint64_t money(const json& value) { return std::stoull(value.get<std::string>()); }

}  // namespace

TEST_CASE("verifier list names every verifier with its stake, record, and the jobs that it is enlisted for") {
    VerifierChain& p = place();
    const PersonHome home = p.home_of("v1");
    const json list = home.must_ask({"verifier", "list"});
    CHECK(list.at("schema") == "assay.verifier.list/v1");
    REQUIRE(list.at("verifiers").size() == 5);
    const json v1 = about(list.at("verifiers"), p.key_of("v1"));
    CHECK(keys_of(v1) == std::set<std::string>{"verifier", "owner", "endpoint", "audited_units", "stake",
                                               "bonded", "earned", "penalised", "enlisted"});
    CHECK(v1.at("enlisted") == 1);
    CHECK(v1.at("audited_units") > 0);
    CHECK(money(v1.at("stake")) + money(v1.at("bonded")) == p.env.stake("v1"));
    CHECK(money(v1.at("bonded")) > 0);
    const json v2 = about(list.at("verifiers"), p.key_of("v2"));
    CHECK(v2.at("enlisted") == 0);
    CHECK(money(v2.at("bonded")) == 0);
    CHECK(money(v2.at("penalised")) > 0);
    const CliRun table = home.ask({"verifier", "list"});
    CHECK(table.code == 0);
    for (const char* title : {"verifier", "jobs", "free stake", "bonded", "penalised"})
        CHECK(table.out.find(title) != std::string::npos);
}

TEST_CASE("verifier status says what each job locks, by a beginning of the key or for the home's own") {
    VerifierChain& p = place();
    const PersonHome home = p.home_of("v1");
    const json own = home.must_ask({"verifier", "status"});
    CHECK(own.at("schema") == "assay.verifier.status/v1");
    CHECK(own.at("order") == "work");
    REQUIRE(own.at("jobs").size() == 1);
    const json& job = own.at("jobs").at(0);
    CHECK(job.at("job") == p.open.hex());
    CHECK(job.at("phase") == "ask_commit");
    CHECK(job.at("missed") == 0);
    CHECK(job.at("lost") == "0");
    CHECK(money(job.at("locked")) + money(job.at("link_bond")) == money(own.at("bonded")));
    json other = home.must_ask({"verifier", "status", "--key", p.key_of("v2").substr(0, 10)});
    CHECK(other.at("verifier") == p.key_of("v2"));
    CHECK(other.at("order").is_null());  // not of this home
    CHECK(other.at("jobs").empty());
    const CliRun text = home.ask({"verifier", "status"});
    CHECK(text.code == 0);
    for (const char* said : {"free stake", "bonded", "told to", "link bond", "misses", "0 of "}) {
        INFO(said);
        CHECK(text.out.find(said) != std::string::npos);
    }
    const CliRun nobody = home.ask({"verifier", "status", "--key", "zz"});
    CHECK(nobody.code == 3);
    CHECK(nobody.err.find("assay verifier list") != std::string::npos);
    const CliRun miner = p.home_of("m1").ask({"verifier", "status"});
    CHECK(miner.code == 3);
    CHECK(miner.err.find("is not a registered verifier") != std::string::npos);
    CHECK(miner.err.find("assay verifier run") != std::string::npos);
}

TEST_CASE("verifier why names for each job that takes enlistments what the ledger would refuse") {
    VerifierChain& p = place();
    const PersonHome home = p.home_of("v2");
    const auto looks = [&](const std::string& name) {
        return home.must_ask({"verifier", "why", p.key_of(name)}).at("enlisting");
    };
    const auto tokens = [&](const json& look, const base::Hash256& job) {
        std::set<std::string> found;
        for (const json& one : look.at("open"))
            if (one.at("job") == job.hex())
                for (const json& obstacle : one.at("obstacles")) found.insert(obstacle.at("token"));
        return found;
    };
    const json v1 = looks("v1");
    CHECK(v1.at("enlisted") == json::array({p.open.hex()}));
    CHECK(v1.at("open").size() == 1);
    const json poor = looks("v4");
    CHECK(poor.at("enlisted").empty());
    CHECK(poor.at("open").size() == 2);
    CHECK(tokens(poor, p.open) == std::set<std::string>{"stake_too_small"});
    CHECK(tokens(looks("v3"), p.leasing) == std::set<std::string>{"own_job"});
    CHECK(tokens(looks("v3"), p.open).empty());
    const json gone = looks("m5");
    REQUIRE(gone.at("obstacles").size() == 1);
    CHECK(gone.at("obstacles").at(0).at("token") == "key_revoked");
    // What the ledger says no is what an enlistment is refused for, and nothing else.
    CHECK(money(poor.at("open").at(0).at("lock_least")) > 0);
    const CliRun text = home.ask({"verifier", "why"});
    CHECK(text.code == 0);
    CHECK(text.out.find("audit_silent") == std::string::npos);  // reasons are sentences there
    CHECK(text.out.find("no obstacle") != std::string::npos);
    const json lines = home.must_ask({"verifier", "why"}).at("lines");
    REQUIRE_FALSE(lines.empty());
    std::set<std::string> reasons;
    for (const json& line : lines) reasons.insert(line.at("reason"));
    CHECK(reasons.contains("audit_silent"));
    // An order of the home's owner is told with it.
    CHECK(home.ask({"verifier", "pause"}).code == 0);
    CHECK(home.ask({"verifier", "why"}).out.find("assay verifier resume") != std::string::npos);
    CHECK(home.ask({"verifier", "resume"}).code == 0);
}

TEST_CASE("verifier earnings add up to what the ledger counts, by rounds, jobs and days") {
    VerifierChain& p = place();
    for (const char* name : {"v1", "v2", "v3"}) {
        INFO(name);
        const PersonHome home = p.home_of(name);
        const auto record = contracts::read_verifier(p.env.state(), p.env.person(name).node_key());
        for (const char* by : {"round", "job", "day"}) {
            const json earnings = home.must_ask({"verifier", "earnings", "--by", by});
            CHECK(earnings.at("schema") == "assay.verifier.earnings/v1");
            CHECK(earnings.at("complete") == true);
            CHECK(money(earnings.at("total").at("earned")) == record->earned.units());
            CHECK(money(earnings.at("total").at("lost")) == record->penalised.units());
            std::uint64_t sum = 0;
            for (const json& row : earnings.at("rows")) sum += money(row.at("earned"));
            CHECK(sum == record->earned.units());
        }
    }
    const PersonHome home = p.home_of("v1");
    CHECK(home.must_ask({"verifier", "earnings"}).at("rows").size() == 3);
    const CliRun rows = home.ask({"verifier", "earnings", "-o", "csv"});
    INFO(rows.err);
    CHECK(rows.out.starts_with(
        "day,job,round,audits,merges,work_units,earned,held,returned,won,lost,lost_bonds\r\n"));
    CHECK(home.ask({"verifier", "earnings"}).out.find("in all") != std::string::npos);
    CHECK(home.ask({"verifier", "earnings", "--by", "year"}).code == 2);
}

TEST_CASE("an order is taken only where a node of its role is registered, and the other command is named") {
    VerifierChain& p = place();
    const PersonHome verifier = p.home_of("v1");
    const PersonHome miner = p.home_of("m1");
    const std::vector<std::pair<std::string, WorkOrder>> orders = {
        {"pause", WorkOrder::kPause}, {"drain", WorkOrder::kDrain}, {"resume", WorkOrder::kWork}};
    for (const auto& [word, order] : orders) {
        const json told = verifier.must_ask({"verifier", word});
        CHECK(told.at("schema") == "assay.verifier.order/v1");
        CHECK(told.at("order") == to_text(order));
        CHECK(told.at("registered") == true);
        CHECK(order_at(verifier, WorkRole::kVerifier) == order);
        CHECK(verifier.must_ask({"verifier", "status"}).at("order") == to_text(order));
        CHECK(miner.must_ask({"miner", word}).at("registered") == true);
        CHECK(order_at(miner, WorkRole::kMiner) == order);
        // The wrong one changes nothing.
        const CliRun no_miner = verifier.ask({"miner", word});
        CHECK(no_miner.code == 3);
        CHECK(no_miner.err.find("is no registered miner of test-chain, but a verifier") != std::string::npos);
        CHECK(no_miner.err.find("assay verifier " + word + " --home " + verifier.cli().home().string()) !=
              std::string::npos);
        CHECK(order_at(verifier, WorkRole::kMiner) == WorkOrder::kWork);
        const CliRun no_verifier = miner.ask({"verifier", word});
        CHECK(no_verifier.code == 3);
        CHECK(no_verifier.err.find("assay miner " + word) != std::string::npos);
        CHECK(order_at(miner, WorkRole::kVerifier) == WorkOrder::kWork);
    }
    const CliRun neither = p.home_of("somebody").ask({"verifier", "drain"});
    CHECK(neither.code == 3);
    CHECK(neither.err.find("assay verifier run") != std::string::npos);
}

TEST_CASE(
    "an order goes through where no node of the home's ledger answers, and says that it is not checked") {
    VerifierChain& p = place();
    const PersonHome somebody = p.home_of("somebody");
    const CliRun alone = somebody.cli()({"verifier", "drain", "--node", "127.0.0.1:1"});
    CHECK(alone.code == 0);
    CHECK(alone.out.find("is not known") != std::string::npos);
    CHECK(order_at(somebody, WorkRole::kVerifier) == WorkOrder::kDrain);
    // A node of another ledger knows nothing of this home.
    const PersonHome elsewhere = p.home_of("elsewhere");
    const ledger::Layout layout(elsewhere.cli().home().string());
    ledger::PosixDisk disk;
    REQUIRE(disk.make_directories(layout.directory).ok());
    const ledger::Genesis other{.chain_id = "another-chain",
                                .validators = contracts::validators_of(p.env.configuration()),
                                .rules = base::encode(p.env.configuration())};
    REQUIRE(ledger::write_genesis(disk, layout.genesis, other).ok());
    const json told = elsewhere.must_ask({"miner", "pause"});
    CHECK(told.at("registered").is_null());
    CHECK(order_at(elsewhere, WorkRole::kMiner) == WorkOrder::kPause);
}

TEST_CASE("job show names the job's verifiers with owner, lock and misses") {
    VerifierChain& p = place();
    const PersonHome home = p.home_of("v1");
    const json shown = home.must_ask({"job", "show", "own"});
    REQUIRE(shown.at("enlisted").size() == 3);
    const json v2 = about(shown.at("enlisted"), p.key_of("v2"));
    CHECK(v2.at("owner") == p.env.person("v2").owner_key().hex());
    CHECK(money(v2.at("locked")) > 0);
    CHECK(shown.at("verifiers").size() == 3);
    const CliRun table = home.ask({"job", "show", "own"});
    CHECK(table.code == 0);
    for (const char* name : {"v1", "v2", "v3"}) {
        CHECK(table.out.find(p.env.person(name).node_key().brief()) != std::string::npos);
        CHECK(table.out.find(p.env.person(name).owner_key().brief()) != std::string::npos);
    }
    CHECK(table.out.find("misses") != std::string::npos);
    CHECK(home.ask({"job", "show", "leasing"}).out.find("verifiers: none has enlisted") != std::string::npos);
}

TEST_CASE("whoever needs a key is sent to the lists that have it") {
    VerifierChain& p = place();
    const PersonHome home = p.home_of("v1");
    const CliRun nobody = home.ask({"payout", "explain", "--miner", "zz", "--round", "0"});
    CHECK(nobody.err.find("assay miner list, assay verifier list") != std::string::npos);
    const CliRun drops = home.cli()({"node", "run", "--drill-drop-moves", "zz"});
    CHECK(drops.code == 2);
    CHECK(drops.err.find("assay miner list, assay verifier list") != std::string::npos);
}

}  // namespace assay::test
