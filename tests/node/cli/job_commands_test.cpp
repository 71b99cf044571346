// SPDX-License-Identifier: Apache-2.0
// Commands that need a job file, token files or a model, and no ledger node.
#include <cmath>
#include <csignal>
#include <thread>

#include "tests/node/cli/tiny_job.hpp"
#include "tests/support/run_program.hpp"

namespace assay::test {

using nlohmann::json;
using namespace std::chrono_literals;

namespace {

const Cli& packed() {
    static const Cli cli;
    static const bool done = (pack_data(cli), true);
    REQUIRE(done);
    return cli;
}

std::set<std::string> plan_members() {
    return {"schema",
            "job",
            "parameters",
            "tokens",
            "rounds",
            "slots",
            "segments",
            "work_units",
            "max_price",
            "slot_pay",
            "round_pay",
            "round_cost",
            "spend_max",
            "budget",
            "rounds_covered",
            "deadline_blocks",
            "bond",
            "link_bond",
            "job_fee",
            "audit_rate",
            "finalise_rate",
            "bad_segment_found",
            "collusion",
            "bond_lost_for_good",
            "deterring_rate",
            "cheat_gain",
            "cheating_pays",
            "bytes",
            "audit_window",
            "longest_dispute",
            "kept_bytes",
            "measured",
            "total_work",
            "operations",
            "memory",
            "unit_price",
            "prediction",
            "speeds_from",
            "speed_classes",
            "height_seconds",
            "law",
            "leases",
            "local_step_penalty",
            "options",
            "penalty_is_extrapolated"};
}

}  // namespace

TEST_CASE("plan says what a job costs, what is checked and that cheating does not pay") {
    const auto job = packed().write("job.toml", job_text("5")).string();
    const CliRun run = packed()({"plan", job, "-o", "json"});
    INFO(run.err);
    REQUIRE(run.code == 0);
    const json plan = run.json();
    CHECK(plan.at("schema") == "assay.plan/v1");
    CHECK(keys_of(plan) == plan_members());
    CHECK(plan.at("tokens") == 2 * 2 * 4 * 2 * 32);
    CHECK(plan.at("segments") == 2);
    CHECK(plan.at("rounds_covered") == 2);
    CHECK(plan.at("audit_rate").at("proven") == 0.25);
    CHECK(plan.at("cheating_pays") == false);
    const auto amount = [&](const char* key) { return std::stoull(plan.at(key).get<std::string>()); };
    CHECK(amount("slot_pay") == plan.at("work_units").get<std::uint64_t>() * 1000);
    CHECK(amount("round_pay") == 2 * amount("slot_pay"));
    CHECK(amount("round_cost") > amount("round_pay"));
    CHECK(amount("spend_max") == 2 * amount("round_cost"));
    // One bad unit of three, found with probability 1/4 by a pair of which a third may collude: what is
    // burned of the bond is more than the unit's pay and what could be gained outside.
    const auto bond = std::stod(plan.at("bond").at("proven").get<std::string>());
    CHECK(plan.at("deterring_rate").at("proven").get<double>() < 0.25);
    CHECK(bond * plan.at("bond_lost_for_good").get<double>() *
              plan.at("deterring_rate").at("proven").get<double>() >=
          static_cast<double>(amount("slot_pay")) / 3 + 10'000);
    CHECK(std::stoll(plan.at("cheat_gain").at("proven").get<std::string>()) < 0);
    CHECK(plan.at("measured").is_null());
    const CliRun measured = packed()({"plan", job, "--measure", "-o", "json"});
    INFO(measured.err);
    REQUIRE(measured.code == 0);
    CHECK(measured.json().at("measured").at("tokens_per_second").get<double>() > 0);
    CHECK(measured.json().at("measured").at("step_bytes").get<std::uint64_t>() > 100'000);
}

TEST_CASE("plan without a ledger and a pilot says that it foretells from the cap and the prior alone") {
    const auto job = packed().write("job.toml", job_text("5")).string();
    const json plan = packed()({"plan", job, "-o", "json"}).json();
    CHECK(plan.at("total_work") == 2 * 2 * plan.at("work_units").get<std::uint64_t>());
    const json prediction = plan.at("prediction");
    CHECK(prediction.at("prior_only") == true);
    CHECK(prediction.at("ledger_prices") == 0);
    REQUIRE(prediction.at("rounds").size() == 2);
    const json whole = prediction.at("rounds")[1];
    CHECK(whole.at("tokens") == plan.at("tokens"));
    CHECK(whole.at("heights").is_null());
    CHECK(whole.at("loss").at("high").get<double>() <= std::log(320.0));
    CHECK(whole.at("spend").at("high").get<double>() <= std::stod(plan.at("spend_max").get<std::string>()));
    CHECK(plan.at("options").is_null());
    CHECK(plan.at("memory")[0].at("device") == "cpu");
    CHECK(plan.at("memory")[0].at("least").get<std::uint64_t>() >
          12 * plan.at("parameters").get<std::uint64_t>());
    const std::string text = packed()({"plan", job}).out;
    CHECK(text.find("PRIOR ONLY") != std::string::npos);
    CHECK(text.find("no speed is known") != std::string::npos);
    CHECK(text.find("no clearing price is known") != std::string::npos);
}

TEST_CASE("plan fits the loss to pilots that are trained here or were recorded, and measures time") {
    const auto job = packed().write("job.toml", job_text("5")).string();
    const json prior = packed()({"plan", job, "-o", "json"}).json().at("prediction").at("rounds")[1];
    const CliRun run = packed()({"plan", job, "--pilot", "64", "--measure", "-o", "json"});
    INFO(run.err);
    REQUIRE(run.code == 0);
    const json prediction = run.json().at("prediction");
    CHECK(prediction.at("prior_only") == false);
    CHECK(prediction.at("pilot_points") == 8);
    const auto width = [](const json& round) {
        return round.at("loss").at("high").get<double>() - round.at("loss").at("low").get<double>();
    };
    CHECK(width(prediction.at("rounds")[1]) < width(prior) / 2);
    CHECK(run.json().at("speeds_from") == "this machine");
    CHECK(prediction.at("rounds")[1].at("heights").at("low").get<double>() > 40);

    const auto out = (packed().home() / "pilot-model").string();
    const CliRun trained = packed()({"model", "train", job, "--out", out, "-o", "json"});
    REQUIRE(trained.code == 0);
    const auto file = packed().write("pilot.json", trained.out).string();
    const json recorded = packed()({"plan", job, "--pilot", file, "-o", "json"}).json();
    CHECK(recorded.at("prediction").at("pilot_points") == 2);
    // The pilot was this job: what it came to is what is foretold.
    const double came_to = trained.json().at("loss").back().at("held_out");
    const json foretold = recorded.at("prediction").at("rounds")[1].at("loss");
    CHECK(foretold.at("low").get<double>() <= came_to);
    CHECK(foretold.at("high").get<double>() >= came_to);
    CHECK(recorded.at("local_step_penalty") == 0);

    CHECK(packed()({"plan", job, "--pilot", "0"}).code == 2);
    CHECK(packed()({"plan", job, "--pilot", job}).code == 2);
    CHECK(packed()({"plan", job, "--pilot", "no-such-file"}).code == 3);
}

TEST_CASE("plan compares several plans for a loss, a budget and a deadline") {
    const auto job = packed().write("job.toml", job_text("5")).string();
    const CliRun run =
        packed()({"plan", job, "--measure", "--budget", "5", "--deadline", "100000", "-o", "json"});
    REQUIRE(run.code == 0);
    int chosen = 0;
    const json options = run.json().at("options");
    for (const json& option : options) {
        CHECK_FALSE(option.at("reason").get<std::string>().empty());
        if (option.at("chosen") != true) continue;
        ++chosen;
        CHECK(option.at("price").at("high").get<double>() <= 5e6);
        CHECK(option.at("heights").at("high").get<double>() <= 100'000);
    }
    CHECK(chosen == 1);
    const CliRun text = packed()({"plan", job, "--budget", "5"});
    CHECK(text.out.find("loss higher by") != std::string::npos);
    // Out of reach for a model that starts at ln 320 and whose text ends.
    const json none = packed()({"plan", job, "--target-loss", "0.5", "-o", "json"}).json();
    REQUIRE(none.at("options").size() > 5);
    for (const json& option : none.at("options")) CHECK(option.at("chosen") == false);
    CHECK(packed()({"plan", job, "--target-loss", "low"}).code == 2);
    CHECK(packed()({"plan", job, "--budget", "much"}).code == 2);
    CHECK(packed()({"plan", job, "--deadline", "1.5"}).code == 2);
    const CliRun timeless = packed()({"plan", job, "--deadline", "1000"});
    CHECK(timeless.code == 2);
    CHECK(timeless.err.find("--measure") != std::string::npos);
}

TEST_CASE("plan quotes the bytes of a slot, of its audits, of joining and of the job") {
    const auto job = packed().write("job.toml", job_text("5")).string();
    const json plan = packed()({"plan", job, "-o", "json"}).json();
    const json bytes = plan.at("bytes");
    const auto count = [&](const char* key) { return bytes.at(key).get<std::uint64_t>(); };
    const auto parameters = plan.at("parameters").get<std::uint64_t>();
    CHECK(count("update") == 8 + 8 * parameters);
    CHECK(count("base_state") == 16 + 8 * parameters);
    const std::uint64_t head = 29 + 3 * 65;
    CHECK(count("slot_state") == head + 12 * parameters);
    const auto files = packed().home() / "data";
    CHECK(count("data") == std::filesystem::file_size(files / "train.bin") +
                               std::filesystem::file_size(files / "held_out.bin"));
    CHECK(count("join") == count("data") + count("base_state"));
    // Two slots: the other one's miner, and two verifiers, fetch an update.
    CHECK(count("slot_received") == count("update"));
    CHECK(count("slot_updates") == 3 * count("update"));
    CHECK(count("slot_storage") == 2 * count("update"));
    // Whoever recomputes a newcomer's whole round starts from the base. Of a proven miner's round a verifier
    // fetches the middle when the second segment is drawn and the first is not, and the end's parameters when
    // the second is not.
    const json audit = bytes.at("slot_audit");
    CHECK(audit.at("newcomer") == 0);
    const double mean = 0.25 * 0.75 * static_cast<double>(count("slot_state")) +
                        0.75 * static_cast<double>(head + 4 * parameters);
    CHECK(audit.at("proven").get<double>() == Approx(2 * mean).margin(2));
    // Of three verifiers the two who recompute `finalise` have the update, and the third asks for a third
    // each.
    const auto update = static_cast<double>(count("update"));
    const double starts = static_cast<double>(audit.at("proven").get<std::uint64_t>());
    CHECK(count("verifiers") == 3);
    CHECK(bytes.at("slot_miner_up").at("newcomer").get<double>() == Approx(update / 3).margin(1));
    CHECK(bytes.at("slot_miner_up").at("proven").get<double>() == Approx(starts + update / 3).margin(1));
    CHECK(count("slot_miner_down") == count("update"));
    const double up = (update * 2 / 3 + update) / 3;
    CHECK(bytes.at("slot_verifier_up").at("newcomer").get<double>() == Approx(up).margin(1));
    CHECK(bytes.at("slot_verifier_down").at("proven").get<double>() ==
          Approx((starts + update) / 3).margin(1));
    const std::uint64_t whole =
        2 * (2 * count("slot_updates") - count("update")) + 4 * count("data") + 2 * count("base_state");
    CHECK(bytes.at("job").at("newcomer") == whole);
    CHECK(bytes.at("job").at("proven") == whole + 2 * 2 * audit.at("proven").get<std::uint64_t>());
}

TEST_CASE("a budget below one round is refused by plan, with the sum that is needed") {
    const auto job = packed().write("poor.toml", job_text("1u")).string();
    const CliRun run = packed()({"plan", job});
    CHECK(run.code == 2);
    CHECK(run.err.find("market.budget") != std::string::npos);
    CHECK(run.out.empty());
}

TEST_CASE("model program lists every operator of a step") {
    const auto job = packed().write("job.toml", job_text("5")).string();
    const CliRun run = packed()({"model", "program", job, "-o", "json"});
    INFO(run.err);
    REQUIRE(run.code == 0);
    const json program = run.json();
    CHECK(keys_of(program) ==
          std::set<std::string>{"schema", "job", "batch", "operations", "work_units", "operators"});
    std::uint64_t sum = 0;
    for (const json& op : program.at("operators")) {
        CHECK(keys_of(op) ==
              std::set<std::string>{"index", "name", "kind", "operands", "outputs", "operations"});
        sum += op.at("operations").get<std::uint64_t>();
    }
    CHECK(sum == program.at("operations").get<std::uint64_t>());
}

TEST_CASE("a model is trained, shown and evaluated") {
    const auto job = packed().write("job.toml", job_text("5")).string();
    const auto out = (packed().home() / "model").string();
    const CliRun trained = packed()({"model", "train", job, "--out", out, "--rounds", "1", "-o", "json"});
    INFO(trained.err);
    REQUIRE(trained.code == 0);
    CHECK(trained.json().at("steps") == 8);
    const CliRun shown = packed()({"model", "show", out, "-o", "json"});
    INFO(shown.err);
    REQUIRE(shown.code == 0);
    CHECK(keys_of(shown.json()) ==
          std::set<std::string>{
              "schema", "folder",       "family",  "layers",     "width",       "heads",           "kv_heads",
              "hidden", "head",         "context", "vocabulary", "parameters",  "parameters_root", "job_name",
              "job",    "initial_blob", "rounds",  "tokens",     "data_source", "data_licence"});
    const auto data = (packed().home() / "data" /
                       packed()({"data", "show", (packed().home() / "data").string(), "-o", "json"})
                           .json()
                           .at("held_out")
                           .at("name")
                           .get<std::string>())
                          .string();
    const CliRun loss = packed()({"model", "eval", "--model", out, "--data", data, "-o", "json"});
    INFO(loss.err);
    REQUIRE(loss.code == 0);
    CHECK(keys_of(loss.json()) == std::set<std::string>{"schema", "loss", "loss_bits", "tokens"});
    const CliRun some =
        packed()({"model", "eval", "--model", out, "--data", data, "--sequences", "3", "-o", "json"});
    REQUIRE(some.code == 0);
    CHECK(some.json().at("tokens") == 3 * 32);
    CHECK(packed()({"model", "show", (packed().home() / "nowhere").string()}).code == 3);
    CHECK(packed()({"model", "export", "--out", out}).code == 2);
}

TEST_CASE("a manifest that nests without an end is refused where it nests too deeply, and read no further") {
    std::filesystem::create_directories(packed().home() / "nested");
    (void)packed().write("nested/manifest.json", std::string(100'000, '['));
    const CliRun run = packed()({"data", "show", (packed().home() / "nested").string()});
    CHECK(run.code == 2);
    CHECK(run.err.find("nested too deeply") != std::string::npos);
}

TEST_CASE("a bench names the machine, and every row says which peer it was compared with") {
    const CliRun run =
        packed()({"bench", "gemm", "--seconds", "1", "--only", "forward 512x128x512", "-o", "json"});
    INFO(run.err);
    REQUIRE(run.code == 0);
    const json bench = run.json();
    CHECK(bench.at("schema") == "assay.bench/v1");
    CHECK(keys_of(bench) == std::set<std::string>{"schema", "machine", "rows"});
    CHECK(keys_of(bench.at("machine")) == std::set<std::string>{"cpu", "targets", "threads", "load"});
    REQUIRE_FALSE(bench.at("rows").empty());
    for (const json& row : bench.at("rows")) {
        CHECK(keys_of(row) == std::set<std::string>{"name", "shape", "profile", "target", "threads", "value",
                                                    "unit", "peer", "peer_value", "ratio"});
        CHECK(row.at("value").get<double>() > 0);
        CHECK(row.at("shape") == "512x128x512");
        CHECK(row.at("peer").get<std::string>().find("Torch") != std::string::npos);
        CHECK(row.at("peer_value").is_null() == row.at("ratio").is_null());
        if (!row.at("ratio").is_null()) {
            // Of pairs, not of medians: near their quotient, and not near its inverse.
            const double medians = row.at("value").get<double>() / row.at("peer_value").get<double>();
            CHECK(row.at("ratio").get<double>() / medians == Approx(1).margin(0.6));
        }
    }
}

TEST_CASE("whatever a bench is told to measure is measured, also beside the bytes of a job") {
    const CliRun run =
        packed()({"bench", "gemm", "--seconds", "1", "--only", "no such case", "comm", "--text", "/nowhere"});
    INFO(run.err);
    CHECK(run.out.find("machine: ") != std::string::npos);  // gemm has printed its table
    CHECK(run.code == 3);                                   // and comm has looked for its text
    CHECK(run.err.find("/nowhere") != std::string::npos);
}

TEST_CASE("a job is bought as it was checked: by both hashes of its first state, and by its spec's") {
    const std::string job = packed().write("bought.toml", job_text("5000000u")).string();
    const std::string zeros(64, '0');
    const std::string ones(64, '1');
    const auto buy = [&](std::vector<std::string> more) {
        more.insert(more.begin(), {"job", "buy", job, "--endpoint", "127.0.0.1:7"});
        return packed()(more);
    };
    for (const std::string given : {"--initial-root", "--initial-blob"}) {
        const CliRun run = buy({given, ones});
        CHECK(run.code == 2);
        CHECK(run.err.find(given + " is given without --initial-") != std::string::npos);
    }
    const CliRun other = buy({"--initial-root", ones, "--initial-blob", zeros, "--spec", zeros});
    CHECK(other.code == 7);
    CHECK(other.err.find(job + " is not the job that was checked") != std::string::npos);
    // Named rightly, it goes on to what is missing here: keys.
    const std::size_t at = other.err.find("has the hash ") + 13;
    const CliRun same =
        buy({"--initial-root", ones, "--initial-blob", zeros, "--spec", other.err.substr(at, 64)});
    CHECK(same.code == 5);
    std::ofstream(job, std::ios::app) << "# still the same job\n";
    CHECK(buy({"--initial-root", ones, "--initial-blob", zeros, "--spec", other.err.substr(at, 64)}).code ==
          5);
    (void)packed().write("bought.toml", job_text("5000001u"));
    CHECK(buy({"--initial-root", ones, "--initial-blob", zeros, "--spec", other.err.substr(at, 64)}).code ==
          7);
}

TEST_CASE("without its venv a bench says which peer is missing and how to get it") {
    const ProgramRun run =
        run_program(built_program_path("assay"),
                    {"bench", "gemm", "--seconds", "1", "--only", "512x128x512", "-o", "json"},
                    {{"ASSAY_PEER_PYTHON", "/nowhere/python"}});
    INFO(run.err);
    REQUIRE(run.code == 0);
    CHECK(run.out.find("(missing: run make bench-peers)") != std::string::npos);
    CHECK(run_program(built_program_path("assay"), {"bench", "nothing"}).code == 2);
    // A card's budget is read as miner run reads it, and holds for what is measured.
    const auto budget = [](const char* memory) {
        return run_program(built_program_path("assay"), {"bench", "train", "--seconds", "1", "--no-peers",
                                                         "--device", "cuda-host", "--device-memory", memory});
    };
    const ProgramRun none = budget("much");
    CHECK(none.code == 2);
    CHECK(none.err.find("--device-memory: 'much' is not an amount of memory") != std::string::npos);
    CHECK(budget("4KiB").err.find("on cuda-host, which has 4.0 KiB for it") != std::string::npos);
}

TEST_CASE("an audit without a ledger is not found, and a target that the machine lacks is preflight") {
    const Cli cli;
    CHECK(cli({"audit", "ledger"}).code == 3);
    CHECK(cli({"audit", "payouts"}).code == 3);
    CHECK(cli({"audit", "replay", "--job", "x", "--round", "0"}).code == 3);
    const ProgramRun doctor =
        run_program(built_program_path("assay"), {"doctor", "--home", cli.home().string(), "-o", "json"},
                    {{"ASSAY_TARGETS", "neon"}});
    INFO(doctor.out << doctor.err);
    CHECK(doctor.code == 8);
    CHECK(json::parse(doctor.out).at("ok") == false);
}

TEST_CASE("doctor reports the targets of this machine and the hash of the worker's self-test") {
    const Cli cli;
    const ProgramRun alone = run_program(built_program_path("assay-worker"), {"--self-test"});
    REQUIRE(alone.code == 0);
    const std::string hash = alone.out.substr(0, alone.out.find(' '));
    REQUIRE(hash.size() == 64);
    const auto examined = [&](const std::string& targets) {
        return run_program(built_program_path("assay"),
                           {"doctor", "--home", cli.home().string(), "-o", "json"},
                           {{"ASSAY_TARGETS", targets}});
    };
    const json report = json::parse(examined("").out);
    CHECK(keys_of(report) ==
          std::set<std::string>{"schema", "ok", "targets", "self_test", "checks", "cards"});
    CHECK(report.at("self_test") == hash);
    CHECK(report.at("targets").back() == "scalar");
    const ProgramRun text =
        run_program(built_program_path("assay"), {"doctor", "--home", cli.home().string()});
    CHECK(text.out.find("ok       worker: self-test gives the known bits, " + hash) != std::string::npos);
    CHECK(json::parse(examined("abacus").out).at("self_test").is_null());  // no worker serves
}

TEST_CASE("an error stands on lines of its own, after all of the table, wherever both go") {
    const Cli cli;
    std::filesystem::permissions(cli.home(), std::filesystem::perms(0755));  // a problem for the doctor
    std::ostringstream both;
    CHECK(node::run_cli({"--home", cli.home().string(), "doctor"}, both, both) == 8);
    const std::string text = both.str();
    INFO(text);
    const auto error = text.find("\nerror: ");
    REQUIRE(error != std::string::npos);
    CHECK(text.find("\n  fix: follow the fix lines above", error + 1) != std::string::npos);
    CHECK(text.find("ok       node: ") < error);
    CHECK(text.back() == '\n');
}

TEST_CASE("output that does not reach a full disk is a failure") {
    const ProgramRun run = run_program(
        "/bin/sh", {"-c", "exec \"$0\" version > /dev/full", built_program_path("assay").string()});
    CHECK(run.code == 1);
    CHECK(run.err.find("the disk full") != std::string::npos);
    CHECK(run.err.find("fix: ") != std::string::npos);
}

TEST_CASE("a home that cannot be made is a failure that names it") {
    const Cli cli;
    const auto passphrase = cli.write("pass", "a passphrase\n").string();
    const CliRun run = Cli::at({"key", "new", "--home", "/dev/full/home", "--passphrase-file", passphrase});
    CHECK(run.code == 1);
    CHECK(run.err.find("/dev/full") != std::string::npos);
}

TEST_CASE("Ctrl-C ends training with exit code 130 and leaves no model behind") {
    // The job is long enough to be interrupted on any machine.
    const auto job = packed().write("long.toml", job_text("900000", 10000)).string();
    const auto out = packed().home() / "interrupted";
    BackgroundProgram training(
        built_program_path("assay"),
        {"model", "train", job, "--out", out.string(), "--home", packed().home().string(), "-o", "json"});
    std::this_thread::sleep_for(1500ms);
    REQUIRE(training.running());
    training.signal(SIGINT);
    const ProgramRun run = training.wait();
    CHECK(run.code == 130);
    CHECK(json::parse(run.err.substr(run.err.find('{'))).at("error").at("code") == 130);
    CHECK_FALSE(std::filesystem::exists(out));
}

}  // namespace assay::test
