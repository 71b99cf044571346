// SPDX-License-Identifier: Apache-2.0
// What a buyer and its team do on a ledger node: grants and caps, jobs that the sponsor pays, top-ups, later
// deadlines, logs, bills, and what came of predictions.
#include <csignal>
#include <functional>
#include <thread>

#include "node/cli/commands/plan_forecast.hpp"
#include "node/config/prediction_file.hpp"
#include "tests/contracts/rules/rounds.hpp"
#include "tests/node/cli/served_chain.hpp"
#include "tests/node/cli/tiny_job.hpp"
#include "tests/support/run_program.hpp"

namespace assay::test {

namespace {

using namespace std::chrono_literals;
using contracts::test::Env;
using nlohmann::json;

void wait_until(const std::function<bool()>& happened) {
    const auto give_up = std::chrono::steady_clock::now() + 60s;
    while (!happened()) {
        REQUIRE(std::chrono::steady_clock::now() < give_up);
        std::this_thread::sleep_for(50ms);
    }
}

/// A chain on which the sponsor's own job has ended: m1 cheated in its first round, m2 was silent in all.
/// Later jobs wait for asks for longer than these tests take.
struct BuyerChain {
    BuyerChain() : env(params()) {
        for (const char* name : {"m1", "m2", "m3"}) env.miner(name);
        for (const char* name : {"v1", "v2", "v3"}) env.verifier(name);
        contracts::JobSpec spec = contracts::test::small_job();
        spec.name = "own";
        spec.slots = 3;
        own = env.post(spec);
        env.hold_auction(own, {{"m1", 100}, {"m2", 110}, {"m3", 120}}, {"v1", "v2", "v3"});
        using contracts::test::MinerManner;
        const contracts::test::Play play{
            .miners = {{"m1", MinerManner::kCheats}, {"m2", MinerManner::kSilent}}};
        contracts::test::play_round(env, own, play);
        contracts::test::play_accusations(env, own, 0, play);
        contracts::test::play_job(env, own, play);
        job = *contracts::read_job(env.whole(), own);
        spec.name = "leasing";
        spec.market.terms = {.gang = 1, .most = 1};
        leasing = env.post(spec, "v3");
        chain.emplace(env);
        sponsor.emplace(*chain, env.person("buyer"));
        member.emplace(*chain, env.person("other"));
    }
    static contracts::Params params() {
        contracts::Params params = contracts::test::short_windows();
        params.ask_commit_window = 600;  // a minute
        return params;
    }
    [[nodiscard]] std::string sponsor_key() { return env.person("buyer").owner_key().hex(); }
    [[nodiscard]] std::string member_key() { return env.person("other").owner_key().hex(); }
    /// The member as the sponsor sees it.
    [[nodiscard]] json record() const { return sponsor->must_ask({"team", "list"}).at("members").at(0); }
    [[nodiscard]] json grant(const std::string& per_job, const std::string& per_day,
                             const std::string& total) {
        return sponsor->must_sign({"team", "grant", member_key(), "--per-job", per_job, "--per-day", per_day,
                                   "--day", "100000", "--total", total});
    }

    Env env;
    base::Hash256 own;
    base::Hash256 leasing;  ///< of v3: it waits for machines of the market
    contracts::Job job;     ///< the one that ended
    std::optional<ServedChain> chain;
    std::optional<PersonHome> sponsor, member;
};

BuyerChain& stage() {
    static BuyerChain made;
    return made;
}

std::uint64_t units(const json& value) { return std::stoull(value.get<std::string>()); }

/// A process of the built program that serves a job; ended by SIGINT if nothing ends it before.
class ServingProcess {
public:
    explicit ServingProcess(const std::vector<std::string>& words)
        : process_(built_program_path("assay"), in_home(words)) {}
    ~ServingProcess() {
        if (!process_.running()) return;
        process_.signal(SIGINT);
        process_.wait();
    }
    [[nodiscard]] BackgroundProgram& process() { return process_; }

private:
    static std::vector<std::string> in_home(const std::vector<std::string>& words) {
        std::vector<std::string> all = stage().member->signing(words);
        all.insert(all.end(), {"--home", stage().member->cli().home().string(), "-o", "json"});
        return all;
    }
    BackgroundProgram process_;
};

/// The text of a job file in the member's home, beside its data.
std::string job_file(const std::string& name, const std::string& text) {
    return stage().member->cli().write(name, text).string();
}

base::Hash256 hash_of(const std::string& job) { return base::parse_hash(job).value(); }

/// Runs these words of `job submit` until the job is on the ledger and its prediction is kept, and breaks
/// them off. The id of the job, which waits for asks.
std::string submitted(const std::vector<std::string>& words) {
    const auto jobs = [] { return stage().sponsor->must_ask({"job", "list"}).at("jobs"); };
    const std::size_t before = jobs().size();
    ServingProcess buying(words);
    wait_until([&] {
        INFO(buying.process().err());
        REQUIRE(buying.process().running());
        return jobs().size() > before;
    });
    std::string job;
    for (const json& one : jobs())
        if (one.at("phase") == "ask_commit") job = one.at("id");
    REQUIRE_FALSE(job.empty());
    const auto path = node::prediction_path(node::Home{stage().member->cli().home()}, hash_of(job));
    wait_until([&] { return std::filesystem::exists(path); });
    buying.process().signal(SIGINT);
    CHECK(buying.process().wait().code == 130);
    return job;
}

}  // namespace

TEST_CASE("a sponsor's team: a member's caps hold for each job, for a day and in all, until it is revoked") {
    BuyerChain& s = stage();
    const PersonHome& sponsor = *s.sponsor;
    const PersonHome& member = *s.member;
    CHECK(sponsor.must_ask({"team", "list"}).at("members").empty());
    const json granted = s.grant("6.5", "6.5", "100");
    CHECK(keys_of(granted) == std::set<std::string>{"schema", "sponsor", "member", "per_job", "per_day",
                                                    "day", "total", "height"});
    CHECK(granted.at("schema") == "assay.team.grant/v1");
    CHECK(granted.at("sponsor") == s.sponsor_key());
    CHECK(s.record().at("per_job") == "6500000");
    CHECK(s.record().at("taken") == "0");

    pack_data(member.cli());
    const auto buy = [&](const std::string& file) {
        return std::vector<std::string>{"job",         "buy",       file,           "--endpoint",
                                        "127.0.0.1:7", "--sponsor", s.sponsor_key()};
    };
    const auto before = units(sponsor.must_ask({"wallet", "show"}).at("balance"));
    const json bought = member.must_sign(buy(job_file("first.toml", job_text("5"))));
    const std::string job = bought.at("job");
    const json shown = sponsor.must_ask({"job", "show", job});
    const auto taken = units(s.record().at("taken"));
    CHECK(taken == 5'000'000 + units(shown.at("link_bond")) + units(bought.at("fee")));
    CHECK(units(sponsor.must_ask({"wallet", "show"}).at("balance")) == before - taken);
    CHECK(shown.at("buyer") == s.sponsor_key());
    CHECK(shown.at("member") == s.member_key());

    const std::string second = job_file("second.toml", job_text("5", 3));
    CHECK(member.refused({"job", "topup", job, "1"}) == "cap_per_job");
    CHECK(member.refused(buy(job_file("dear.toml", job_text("7")))) == "cap_per_job");
    CHECK(member.refused(buy(second)) == "cap_per_day");
    (void)s.grant("6.5", "100", "6.5");
    CHECK(member.refused(buy(second)) == "cap_total");
    CHECK(units(s.record().at("taken")) == taken);
    (void)s.grant("6.5", "100", "100");
    (void)member.must_sign({"job", "topup", job, "0.4"});
    CHECK(units(s.record().at("taken")) == taken + 400'000);
    CHECK(units(s.record().at("taken_in_day")) == taken + 400'000);

    CHECK(sponsor.must_sign({"team", "revoke", s.member_key()}).at("schema") == "assay.team.revoke/v1");
    CHECK(s.record().at("revoked") == true);
    CHECK(member.refused(buy(second)) == "not_member");
    const CliRun table = sponsor.ask({"team", "list"});
    CHECK(table.out.find(s.member_key()) != std::string::npos);
    CHECK(table.out.find("revoked") != std::string::npos);
    // Who was revoked ends no job; the sponsor does.
    (void)sponsor.must_sign({"job", "cancel", job});
    CHECK(units(s.record().at("taken")) < taken);
}

TEST_CASE("a member's key, a cap or a day that is none is a usage error") {
    const PersonHome& sponsor = *stage().sponsor;
    const std::string key = stage().member_key();
    const auto granting = [&](const std::string& who, const std::string& cap, const std::string& day) {
        return sponsor.sign(
            {"team", "grant", who, "--per-job", cap, "--per-day", "1", "--total", "1", "--day", day});
    };
    for (const CliRun& run : {granting("abc", "1", "9"), granting(key, "much", "9"), granting(key, "1", "0"),
                              sponsor.ask({"team", "list", "--sponsor", "abc"})}) {
        CHECK(run.code == 2);
        CHECK(run.err.find("\n  fix: ") != std::string::npos);
    }
}

TEST_CASE("job submit buys for the sponsor, foretells from pilots and serves; resume serves the job again") {
    BuyerChain& s = stage();
    const PersonHome& sponsor = *s.sponsor;
    const PersonHome& member = *s.member;
    (void)s.grant("6.5", "100", "100");
    pack_data(member.cli());
    const std::string file = job_file("served.toml", job_text("5", 4));
    const CliRun trained = member.cli()(
        {"model", "train", file, "--out", (member.cli().home() / "pilot").string(), "-o", "json"});
    REQUIRE(trained.code == 0);
    const std::string pilot = member.cli().write("pilot.json", trained.out).string();

    const auto submit = [&](const std::string& sponsor_key, const std::string& pilot_file) {
        return std::vector<std::string>{"job",       "submit",  file,      "--sponsor",
                                        sponsor_key, "--pilot", pilot_file};
    };
    for (const auto& wrong : {submit("abc", pilot), submit(s.sponsor_key(), file)}) {
        ServingProcess refused(wrong);
        const ProgramRun run = refused.process().wait();
        INFO(run.err);
        CHECK(run.code == 2);
    }
    const std::string job = submitted(submit(s.sponsor_key(), pilot));
    const auto prediction =
        node::read_prediction(node::prediction_path(node::Home{member.cli().home()}, hash_of(job)));
    REQUIRE(prediction.ok());
    REQUIRE(prediction->has_value());
    CHECK_FALSE((*prediction)->prior_only);
    CHECK((*prediction)->pilot_points == 4);
    CHECK((*prediction)->rounds.back().rounds == 4);
    const auto endpoint = [&] {
        return contracts::read_job(*s.chain->state(), hash_of(job))->buyer_endpoint;
    };
    const std::string first_endpoint = endpoint();
    CHECK(member.ask({"job", "logs", job}).out == "no round has begun\n");

    CHECK(sponsor.sign({"job", "resume", job}).code == 5);  // another node key bought it
    ServingProcess again({"job", "resume", job});
    wait_until([&] {
        INFO(again.process().err());
        REQUIRE(again.process().running());
        return endpoint() != first_endpoint;
    });
    (void)member.must_sign({"job", "cancel", job});
    const ProgramRun ended = again.process().wait();
    INFO(ended.err);
    REQUIRE(ended.code == 0);
    const json report = json::parse(ended.out);
    CHECK(keys_of(report) ==
          std::set<std::string>{"schema", "job", "rounds", "reason", "spent", "refunded", "model_root"});
    CHECK(report.at("schema") == "assay.job.resume/v1");
    CHECK(report.at("job") == job);
    CHECK(report.at("reason") == "job_cancelled");
    CHECK(report.at("refunded") == "5000000");
    // What it has verified of the chain needs no node.
    const CliRun offline = member.cli()({"job", "logs", job, "--offline", "-o", "json"});
    INFO(offline.err);
    REQUIRE(offline.code == 0);
    CHECK(offline.json().at("rounds").empty());
    CHECK(offline.json().at("height") > 0);
}

TEST_CASE("a top-up moves what it says into the escrow, and an extension makes the deadline later") {
    BuyerChain& s = stage();
    const PersonHome& sponsor = *s.sponsor;
    pack_data(sponsor.cli());
    const std::string file = sponsor.cli().write("topped.toml", job_text("5")).string();
    const std::string job = sponsor.must_sign({"job", "buy", file, "--endpoint", "127.0.0.1:7"}).at("job");
    const auto shown = [&] { return sponsor.must_ask({"job", "show", job}); };
    const auto balance = [&] { return units(sponsor.must_ask({"wallet", "show"}).at("balance")); };
    const json before = shown();
    const auto had = balance();

    const json topped = sponsor.must_sign({"job", "topup", job, "1.5"});
    CHECK(keys_of(topped) == std::set<std::string>{"schema", "job", "amount", "budget", "runway", "height"});
    CHECK(topped.at("amount") == "1500000");
    CHECK(topped.at("budget") == "6500000");
    CHECK(topped.at("runway").at("rounds_left") == 2);
    CHECK(balance() == had - 1'500'000);
    CHECK(units(shown().at("escrow")) == units(before.at("escrow")) + 1'500'000);

    const json extended = sponsor.must_sign({"job", "extend", job, "250"});
    CHECK(keys_of(extended) == std::set<std::string>{"schema", "job", "blocks", "deadline", "height"});
    CHECK(extended.at("deadline") == before.at("deadline").get<std::uint64_t>() + 250);
    CHECK(shown().at("deadline") == extended.at("deadline"));
    CHECK(balance() == had - 1'500'000);

    for (const char* amount : {"0", "-1", "much", "1.0000001"})
        CHECK(sponsor.sign({"job", "topup", job, amount}).code == 2);
    CHECK(sponsor.sign({"job", "extend", job, "soon"}).code == 2);
    CHECK(sponsor.refused({"job", "extend", job, "18446744073709551615"}) == "deadline_too_far");
    CHECK(sponsor.refused({"job", "topup", job, "9000000000"}) == "insufficient_balance");
    CHECK(sponsor.sign({"job", "topup", "none", "1"}).code == 3);
    (void)sponsor.must_sign({"job", "cancel", job});
    CHECK(sponsor.sign({"job", "topup", job, "1"}).code == 6);
}

TEST_CASE("a job with a sealed bid is cancelled only by who burns its deposit") {
    const PersonHome& sponsor = *stage().sponsor;
    const std::string job = stage().leasing.hex();
    contracts::test::Person& buyer = stage().env.person("v3");
    const auto ledger = node::connect_ledger({.address = stage().chain->address()}).value();
    const auto seal = [&] {
        const std::uint64_t nonce = contracts::next_nonce(*stage().chain->state(), buyer.node_key());
        const contracts::TxBody body{buyer.node_key(), nonce, UINT64_MAX,
                                     contracts::BidSeal{stage().leasing, contracts::test::bytes_of("seal")}};
        (void)ledger->submit(contracts::sign_transaction(body, buyer.node, stage().env.chain()));
    };
    // It stands for ten blocks, a second: where the command came too late, it is sealed again.
    CliRun refused;
    wait_until([&] {
        seal();
        refused = sponsor.sign({"job", "cancel", job});
        return refused.code == 2;
    });
    CHECK(refused.err.find("sealed bid in the market") != std::string::npos);
    CHECK(refused.err.find("--burn-deposit") != std::string::npos);
    // The ledger knows whose job it is.
    const CliRun others = sponsor.sign({"job", "cancel", job, "--burn-deposit"});
    CHECK(others.code != 0);
    CHECK(others.err.find("sealed bid") == std::string::npos);
}

TEST_CASE("job logs say who worked when and at which losses, as the ledger has it") {
    BuyerChain& s = stage();
    const json log = s.sponsor->must_ask({"job", "logs", "own"});
    CHECK(log.at("job") == s.own.hex());
    REQUIRE(log.at("rounds").size() == s.job.rounds_done);
    const auto whole = s.env.whole();
    for (const json& round : log.at("rounds")) {
        const auto number = round.at("round").get<std::uint32_t>();
        const auto record = contracts::read_round_progress(whole, s.own, number);
        CHECK(round.at("started_at") == record->started_at);
        CHECK(round.at("settled_at") == record->settled_at);
        CHECK(round.at("slots").size() == 3);
        for (const json& slot : round.at("slots")) {
            const auto stored = contracts::read_slot(whole, s.own, number, slot.at("slot"));
            REQUIRE(stored);
            CHECK(slot.at("miner") == stored->miner.hex());
            CHECK(slot.at("verdict") == contracts::to_text(stored->verdict));
            CHECK(slot.at("losses").size() == (stored->revealed ? 4 : 0));
        }
        REQUIRE_FALSE(round.at("audits").empty());
        for (const json& audit : round.at("audits"))
            CHECK((audit.at("stage") == "panel" || audit.at("stage") == "confirm" ||
                   audit.at("stage") == "redraw"));
    }
    const std::string text = s.sponsor->ask({"job", "logs", "own"}).out;
    CHECK(text.find("round 0, blocks ") == 0);
    CHECK(text.find(" in 4 steps") != std::string::npos);
    CHECK(text.find("silent_after_draw") != std::string::npos);
    CHECK(s.sponsor->ask({"job", "logs", "nothing"}).code == 3);
}

TEST_CASE("a wallet's report adds up to what the ledger spent, by jobs, days and members") {
    BuyerChain& s = stage();
    const json report = s.sponsor->must_ask({"wallet", "report"});
    CHECK(report.at("schema") == "assay.wallet.report/v1");
    const json& totals = report.at("totals");
    CHECK(units(totals.at("put_in")) + units(totals.at("penalties")) ==
          units(totals.at("spent")) + units(totals.at("refunded")) + units(totals.at("in_escrow")));
    CHECK(units(totals.at("spent")) == s.job.spent.units());
    std::uint64_t spent = 0;
    bool has_lost_work = false;
    for (const json& line : report.at("lines")) {
        CHECK(line.at("day") == "");
        CHECK(line.at("member") == "");
        if (line.at("item") != "fee") spent += units(line.at("amount"));
        has_lost_work = has_lost_work || (line.at("item") == "slots" && line.at("amount") == "0");
    }
    CHECK(spent == s.job.spent.units());
    CHECK(has_lost_work);

    // What the home's files alone say of the same owner.
    const CliRun files = s.chain->files()(
        {"wallet", "report", "--key", s.sponsor_key(), "--by", "day,team", "--offline", "-o", "json"});
    INFO(files.err);
    REQUIRE(files.code == 0);
    const json by_day = s.sponsor->must_ask({"wallet", "report", "--by", "day,team"});
    CHECK(files.json().at("lines") == by_day.at("lines"));
    for (const json& line : by_day.at("lines")) CHECK(line.at("job") == "");
    CHECK(by_day.at("lines").at(0).at("day") == "2001-09-09");
    CHECK(by_day.at("lines").at(0).at("member") == s.sponsor_key());

    const std::string csv = s.sponsor->ask({"wallet", "report", "-o", "csv"}).out;
    CHECK(csv.find("job,name,day,member,item,reason,count,segments,work_units,amount\r\n") == 0);
    CHECK(static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n')) ==
          report.at("lines").size() + 1);
    CHECK(s.sponsor->ask({"wallet", "report"}).out.find("silent_after_draw") != std::string::npos);
    CHECK(s.sponsor->ask({"wallet", "report", "--by", "week"}).code == 2);
}

TEST_CASE("job show compares what was foretold with what came of it") {
    BuyerChain& s = stage();
    const auto path = node::prediction_path(node::Home{s.sponsor->cli().home()}, s.own);
    const auto shown = [&] { return s.sponsor->must_ask({"job", "show", "own"}); };
    CHECK(shown().at("prediction").is_null());
    const auto merged = shown().at("merged_rounds");
    REQUIRE_FALSE(merged.empty());
    const auto rounds = static_cast<std::uint32_t>(merged.size());
    const double spent = static_cast<double>(s.job.spent.units());
    const double loss = merged.back().at("held_out_loss");
    node::JobPrediction prediction;
    prediction.rounds.push_back({.rounds = rounds,
                                 .tokens = 1,
                                 .spend = {spent / 2, spent / 1.25, spent * 2},
                                 .heights = node::Interval80{1, 2, 3},
                                 .loss = {loss + 1, loss + 2, loss + 3}});
    REQUIRE(node::write_prediction(path, prediction).ok());
    const json outcome = shown().at("prediction");
    CHECK(outcome.at("rounds") == rounds);
    CHECK(outcome.at("ended") == true);
    CHECK(outcome.at("prior_only") == true);
    CHECK(outcome.at("spend").at("actual") == spent);
    CHECK(outcome.at("spend").at("within") == true);
    CHECK(outcome.at("spend").at("off").get<double>() == Approx(0.25));
    const auto last = contracts::read_round_progress(s.env.whole(), s.own, merged.back().at("round"));
    CHECK(outcome.at("heights").at("actual") == last->settled_at - s.job.submitted_at);
    CHECK(outcome.at("heights").at("within") == false);
    CHECK(outcome.at("loss").at("actual").get<double>() == Approx(loss));
    CHECK(outcome.at("loss").at("off").get<double>() < 0);
    const std::string text = s.sponsor->ask({"job", "show", "own"}).out;
    CHECK(text.find("within, 25.0 % above the median") != std::string::npos);
    CHECK(text.find("OUTSIDE") != std::string::npos);
    CHECK(text.find("(prior only)") != std::string::npos);

    // Of more rounds than were merged nothing has come true.
    prediction.rounds.back().rounds = rounds + 1;
    REQUIRE(node::write_prediction(path, prediction).ok());
    CHECK(shown().at("prediction").is_null());
    std::ofstream(path) << "{}";
    const CliRun broken = s.sponsor->ask({"job", "show", "own"});
    CHECK(broken.code == 2);
    CHECK(broken.err.find(path.string()) != std::string::npos);
    std::filesystem::remove(path);
}

}  // namespace assay::test
