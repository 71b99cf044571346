// SPDX-License-Identifier: Apache-2.0
// `assay audit`, `model train --record`, `model export` and `--offline` on the files of a run with one cheat,
// with every process stopped.
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "node/devnet/demo_audit.hpp"
#include "node/roles/drill_spec.hpp"
#include "tests/scenarios/small_network.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/flip_byte.hpp"
#include "tests/support/run_program.hpp"

namespace assay::tests {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr std::uint32_t kCheatRound = 1;
constexpr std::size_t kCheater = 2;

ScenarioPlan plan_with_cheat() {
    ScenarioPlan plan = small_plan();
    plan.miners[kCheater].drills.push_back(
        must(node::parse_drill("round=1,segment=1,kind=flip,tensor=wte.weight,index=5,bit=7")).planned);
    return plan;
}

const SmallNetwork& finished_run() {
    static SmallNetwork network(plan_with_cheat());
    static const bool ran = [] {
        network.run();
        must(node::gather_files(network.net(), network.state(), network.job()));
        return true;
    }();
    REQUIRE(ran);
    return network;
}

std::string home() { return finished_run().net().plan.home.string(); }

test::ProgramRun run_at(std::vector<std::string> words, const std::string& in_home = home()) {
    words.insert(words.end(), {"--home", in_home, "-o", "json"});
    return test::run_program(test::built_program_path("assay"), words);
}

json must_run(const std::vector<std::string>& words) {
    const test::ProgramRun run = run_at(words);
    INFO("assay " << words[0] << " " << words[1] << ": " << run.err);
    REQUIRE(run.code == 0);
    return json::parse(run.out);
}

/// What scripts rely on, whichever audit it is.
void check_shape(const json& audit, bool ok) {
    CHECK(audit.at("ok") == ok);
    CHECK(audit.at("height").is_number_unsigned());
    for (const auto& [name, count] : audit.at("checked").items()) {
        INFO(name);
        CHECK(count.is_number_unsigned());
    }
    CHECK(audit.at("failures").empty() == ok);
    for (const json& failure : audit.at("failures")) {
        CHECK_FALSE(failure.at("where").get<std::string>().empty());
        CHECK_FALSE(failure.at("what").get<std::string>().empty());
        CHECK(failure.size() == 2);
    }
}

/// The run's ledger and blobs in a folder of their own, to be damaged.
void copy_home(const fs::path& target) {
    fs::create_directories(target / "ledger");
    for (const char* name : {"blocks.log", "genesis.bin"})
        fs::copy_file(fs::path(home()) / "ledger" / name, target / "ledger" / name);
    fs::copy(fs::path(home()) / "blobs", target / "blobs", fs::copy_options::recursive);
}

}  // namespace

TEST_CASE("every audit command passes on the files of a finished run") {
    const json ledger = must_run({"audit", "ledger"});
    check_shape(ledger, true);
    CHECK(ledger.at("checked").at("blocks") == ledger.at("height"));
    const json payouts = must_run({"audit", "payouts"});
    check_shape(payouts, true);
    CHECK(payouts.at("supply_delta") == 0);
    CHECK(payouts.at("checked").at("lines").get<int>() > 0);
    CHECK(must_run({"audit", "payouts", "--job", "small"}).at("jobs") == payouts.at("jobs"));
    CHECK(run_at({"audit", "payouts", "--job", "nothing"}).code == 3);
}

TEST_CASE("replay confirms honest slots and the verdict on the cheat, and says which is which") {
    const std::string cheater = finished_run().net().miners[kCheater].node.hex();
    const json replay =
        must_run({"audit", "replay", "--job", "small", "--round", std::to_string(kCheatRound)});
    check_shape(replay, true);
    CHECK(replay.at("checked").at("slots") == 3);
    CHECK(replay.at("checked").at("equal") == 2);
    CHECK(replay.at("checked").at("cheats_confirmed") == 1);
    for (const json& slot : replay.at("slots")) {
        const bool cheat = slot.at("miner") == cheater;
        CHECK(slot.at("agrees") == true);
        CHECK(slot.at("equal") == !cheat);
        CHECK(slot.at("verdict") == (cheat ? "paid_accused" : "paid"));
        if (cheat) CHECK(slot.at("first_wrong") == 1);
    }
    const json one = must_run({"audit", "replay", "--job", "small", "--round", "1", "--miner",
                               cheater.substr(0, 12), "--segment", "0"});
    CHECK(one.at("checked").at("slots") == 1);
    CHECK(one.at("checked").at("units") == 1);
    const std::vector<std::string> by_device = {"audit",     "replay", "--job",   "small",
                                                "--round",   "1",      "--miner", cheater.substr(0, 12),
                                                "--segment", "0",      "--device"};
    const auto on = [&](const std::string& device) {
        std::vector<std::string> words = by_device;
        words.push_back(device);
        return words;
    };
    CHECK(must_run(on("reference")).at("slots") == one.at("slots"));
    const test::ProgramRun refused = run_at(on("cuda:9999"));
    CHECK(refused.code == 8);
    CHECK(refused.err.find("cuda:9999 is not there") != std::string::npos);
    CHECK(run_at({"audit", "replay", "--job", "small", "--round", "99"}).code == 3);
    CHECK(run_at({"audit", "replay", "--job", "small", "--round", "0", "--segment", "99"}).code == 3);
    CHECK(run_at({"audit", "replay", "--job", "small", "--round", "0", "--miner", "ffff00"}).code == 3);
}

TEST_CASE("a flipped byte in the ledger fails every audit with exit code 7 and names the block") {
    const test::TemporaryFolder copy;
    copy_home(copy.path());
    const fs::path log = copy / "ledger/blocks.log";
    test::flip_byte(log, fs::file_size(log) / 2, 1);
    for (const auto& words :
         std::vector<std::vector<std::string>>{{"audit", "ledger"},
                                               {"audit", "payouts"},
                                               {"audit", "replay", "--job", "small", "--round", "0"}}) {
        const test::ProgramRun run = run_at(words, copy.path().string());
        INFO(words[1] << ": " << run.err);
        CHECK(run.code == 7);
        const json audit = json::parse(run.out);
        check_shape(audit, false);
        CHECK(audit.at("failures").at(0).at("where").get<std::string>().find("block ") == 0);
    }
}

TEST_CASE("a flipped byte in a base state fails the replay that stands on it") {
    const test::TemporaryFolder copy;
    copy_home(copy.path());
    const auto round = contracts::read_round(finished_run().state(), finished_run().job().id, 1);
    REQUIRE(round.has_value());
    const std::string id = round->base_blob.hex();
    const fs::path blob = copy.path() / "blobs" / id.substr(0, 2) / id.substr(2);
    fs::permissions(blob, fs::perms::owner_read | fs::perms::owner_write);
    test::flip_byte(blob, 4096, 1);
    const test::ProgramRun run =
        run_at({"audit", "replay", "--job", "small", "--round", "1"}, copy.path().string());
    INFO(run.err);
    CHECK(run.code == 7);
    check_shape(json::parse(run.out), false);
    fs::remove(blob);
    CHECK(run_at({"audit", "replay", "--job", "small", "--round", "1"}, copy.path().string()).code == 3);
}

TEST_CASE(
    "model train with the run's record gives the ledger's root, and a record of another run is refused") {
    const test::TemporaryFolder out;
    const std::string job = home() + "/job.toml";
    const json trained =
        must_run({"model", "train", job, "--record", home() + "/record.json", "--out", out / "model"});
    CHECK(trained.at("model_root") == finished_run().job().base_root.hex());
    std::string record = test::file_text(fs::path(home()) / "record.json");
    const auto root = record.rfind("\"result_root\": \"");
    REQUIRE(root != std::string::npos);
    char& digit = record[root + 20];
    digit = digit == '0' ? '1' : '0';
    std::ofstream(out / "record.json") << record;
    const test::ProgramRun refused =
        run_at({"model", "train", job, "--record", out / "record.json", "--out", out / "other"});
    INFO(refused.err);
    CHECK(refused.code == 7);
    CHECK_FALSE(fs::exists(out / "other"));

    const json newest = must_run({"model", "export", "--job", "small", "--out", out / "newest"});
    CHECK(newest.at("rounds") == 2);
    const json shown = must_run({"model", "show", out / "model"});
    CHECK(newest.at("parameters_root") == shown.at("parameters_root"));
    const json first =
        must_run({"model", "export", "--job", "small", "--round", "0", "--out", out / "first"});
    CHECK(first.at("rounds") == 1);
    CHECK(first.at("parameters_root") != newest.at("parameters_root"));
    CHECK(run_at({"model", "export", "--job", "small", "--round", "5", "--out", out / "none"}).code == 3);
}

TEST_CASE("the files alone tell why the cheat was not paid") {
    const std::string cheater = finished_run().net().miners[kCheater].node.hex();
    const json why = must_run({"miner", "why", "--key", cheater, "--offline"});
    const std::set<std::string> keys = [&] {
        std::set<std::string> found;
        for (const auto& [key, value] : why.at("lines").at(0).items()) found.insert(key);
        return found;
    }();
    CHECK(keys == std::set<std::string>{"job", "round", "kind", "slot", "reason", "explanation", "work_units",
                                        "price", "paid", "from_escrow", "from_prepaid", "from_slot",
                                        "replays", "lost", "returned", "lost_in_games", "evidence"});
    CHECK(why.at("lines").at(0).at("reason") == "paid_accused");
    CHECK(why.at("lines").at(0).at("returned") == why.at("lines").at(0).at("paid"));
    const json& roots = why.at("lines").at(0).at("evidence").at("roots");
    CHECK(roots.at("what") == "segment 1");
    CHECK(roots.at("claimed") != roots.at("found"));
    const json paid =
        must_run({"payout", "explain", "--miner", cheater.substr(0, 12), "--round", "0", "--offline"});
    CHECK(paid.at("lines").at(0).at("reason") == "paid");
    const json job = must_run({"job", "show", "small", "--offline"});
    CHECK(job.at("slot_rounds").size() == 6);
    // What the merge was measured on, and what it came to, by whoever has model and data.
    const json& last = job.at("merged_rounds").back();
    const fs::path model = finished_run().net().plan.home / "measured-model";
    must_run({"model", "export", "--job", "small", "--out", model});
    const json measured = must_run({"model", "eval", "--model", model, "--data",
                                    finished_run().job_file().held_out, "--beacon", last.at("beacon")});
    CHECK(measured.at("loss_bits") == last.at("held_out_bits"));
    CHECK(run_at({"model", "eval", "--model", model, "--data", finished_run().job_file().held_out, "--beacon",
                  "abc"})
              .code == 2);
    CHECK(must_run({"job", "list", "--offline"}).at("jobs").size() == 1);
}

}  // namespace assay::tests
