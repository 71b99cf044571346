// SPDX-License-Identifier: Apache-2.0
// `assay audit model`: a model that a buyer fetched from a running network, audited from a node, from a home,
// from the job's own file, and where its bytes are gone.
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "node/audit/model_output.hpp"
#include "node/devnet/demo_audit.hpp"
#include "tests/scenarios/small_network.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/flip_byte.hpp"
#include "tests/support/run_program.hpp"

namespace assay::tests {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

test::ProgramRun run(std::vector<std::string> words) {
    words.insert(words.end(), {"-o", "json"});
    return test::run_program(test::built_program_path("assay"), words);
}

json printed(const test::ProgramRun& made) {
    INFO(made.err);
    const json text = json::parse(made.out, nullptr, false);
    REQUIRE_FALSE(text.is_discarded());
    return text;
}

/// A network with one job; what was fetched and audited while its processes ran is in the folder beside it.
struct FetchedModel {
    SmallNetwork network{small_plan()};
    test::TemporaryFolder folder;
    /// Of the model that round 0 gave: fetched while round 1 ran.
    std::optional<test::BackgroundProgram> while_running;
    std::vector<test::ProgramRun> first;  ///< fetch, audit
    std::vector<test::ProgramRun> last;   ///< the same of the model that the job came to

    FetchedModel() {
        network.on_event([this](const node::Follower&, const contracts::Event& event) {
            if (event.kind == contracts::EventKind::kRoundStarted && event.round == 1) {
                while_running.emplace(test::built_program_path("assay"), fetch_words("first"));
            }
            if (event.kind == contracts::EventKind::kJobEnded) take_home();
        });
        network.run();
        must(node::gather_files(network.net(), network.state(), network.job()));
    }

    [[nodiscard]] std::string model(const std::string& name) const { return folder / name; }
    [[nodiscard]] std::string home() const { return network.net().plan.home.string(); }
    [[nodiscard]] std::string job_file() const { return home() + "/job.toml"; }

private:
    [[nodiscard]] std::vector<std::string> fetch_words(const std::string& name) {
        return {"job",
                "fetch",
                "small",
                "--node",
                network.network().node_address(),
                "--home",
                folder / ("home-" + name),
                "--out",
                model(name),
                "-o",
                "json"};
    }
    void take_home() {
        const std::string node = network.network().node_address();
        const auto audit = [&](const std::string& name) {
            return run({"audit", "model", model(name), "--node", node, "--minutes", "5", "--units", "3"});
        };
        if (while_running) first = {while_running->wait(), audit("first")};
        last = {test::run_program(test::built_program_path("assay"), fetch_words("last")), audit("last")};
    }
};

const FetchedModel& fetched() {
    static const FetchedModel model;
    return model;
}

void check_ok(const test::ProgramRun& made, std::uint64_t recomputed, const std::string& ledger) {
    const json audit = printed(made);
    INFO(made.out << made.err);
    CHECK(made.code == 0);
    CHECK(audit.at("ok") == true);
    CHECK(audit.at("inconclusive") == false);
    CHECK(audit.at("failures").empty());
    CHECK(audit.at("recomputed") == recomputed);
    CHECK(audit.at("ledger") == ledger);
}

/// The run's home again, to be damaged.
void damaged_home(const fs::path& target) {
    fs::create_directories(target / "ledger");
    for (const char* name : {"blocks.log", "genesis.bin"})
        fs::copy_file(fs::path(fetched().home()) / "ledger" / name, target / "ledger" / name);
    fs::copy(fs::path(fetched().home()) / "blobs", target / "blobs", fs::copy_options::recursive);
}

void remove_blob(const fs::path& home, const base::Hash256& blob) {
    const std::string id = blob.hex();
    REQUIRE(fs::remove(home / "blobs" / id.substr(0, 2) / id.substr(2)));
}

void check_failure(const test::ProgramRun& made, const std::string& where) {
    const json audit = printed(made);
    INFO(made.out << made.err);
    CHECK(made.code == 7);
    CHECK(audit.at("ok") == false);
    REQUIRE_FALSE(audit.at("failures").empty());
    CHECK(audit.at("failures").at(0).at("where") == where);
}

}  // namespace

TEST_CASE(
    "a model fetched from a running network is audited through the node, before and after the job's end") {
    const FetchedModel& model = fetched();
    REQUIRE(model.first.size() == 2);
    INFO(model.first[0].err << model.last[0].err);
    CHECK(model.first[0].code == 0);
    CHECK(printed(model.first[0]).at("rounds") == 1);
    check_ok(model.first[1], 3, "node");
    CHECK(printed(model.first[1]).at("population") == 6);
    CHECK(model.last[0].code == 0);
    check_ok(model.last[1], 3, "node");
    CHECK(printed(model.last[1]).at("population") == 12);
    for (const char* of_files : {"height", "anchored"}) CHECK(printed(model.last[1]).at(of_files).is_null());
    // Of newcomers the panels recomputed everything.
    CHECK(printed(model.last[1]).at("panels").at("recomputed") == 12);
}

TEST_CASE("a home's files are enough for all of it, and scripts find what they rely on") {
    const test::ProgramRun made =
        run({"audit", "model", fetched().model("last"), "--home", fetched().home(), "--minutes", "5"});
    check_ok(made, 12, "home");
    const json audit = printed(made);
    std::set<std::string> keys;
    for (const auto& [key, value] : audit.items()) keys.insert(key);
    for (const char* key : {"schema", "ok", "at_fraction", "confidence", "confidences", "population",
                            "recomputed", "minutes_for_95", "seconds", "inconclusive", "failures"})
        CHECK(keys.contains(key));
    CHECK(audit.at("schema") == "assay.audit.model/v1");
    CHECK(audit.at("at_fraction") == 0.01);
    CHECK(audit.at("confidence") == 1.0);
    REQUIRE(audit.at("confidences").size() == 4);
    CHECK(audit.at("confidences").at(3).at("fraction") == 0.5);
    CHECK(audit.at("minutes_for_95").get<double>() > 0);
    CHECK(audit.at("evidence") == "local");
    CHECK(audit.at("tiles").at("arrays_recomputed") == 8);
    // How far the ledger is vouched for, as the audit of the ledger says it.
    const json ledger = printed(run({"audit", "ledger", "--home", fetched().home()}));
    for (const char* same : {"height", "anchored"}) CHECK(audit.at(same) == ledger.at(same));
    CHECK(audit.at("height") > 0);
    // The first round's model is the job's, too.
    check_ok(run({"audit", "model", fetched().model("first"), "--home", fetched().home(), "--minutes", "5"}),
             6, "home");
}

TEST_CASE("the folder and the job's own file are enough to compute everything from the job's start") {
    const auto by_seed = [](const std::string& seed) {
        return run({"audit", "model", fetched().model("last"), "--job-file", fetched().job_file(),
                    "--minutes", "5", "--units", "4", "--seed", seed});
    };
    const test::ProgramRun made = by_seed("1");
    check_ok(made, 4, "none");
    json audit = printed(made);
    CHECK(audit.at("evidence") == "none");
    CHECK(audit.at("one_in_population").get<double>() == Approx(4.0 / 12));
    CHECK(printed(by_seed("1")).at("drawn_by") == audit.at("drawn_by"));
    CHECK(printed(by_seed("2")).at("drawn_by") != audit.at("drawn_by"));
    const test::ProgramRun beacon =
        run({"audit", "model", fetched().model("last"), "--job-file", fetched().job_file(), "--units", "1",
             "--beacon", std::string(64, 'a')});
    check_ok(beacon, 1, "none");
    CHECK(printed(beacon).at("evidence") == "beacon");
}

TEST_CASE(
    "bytes that are gone are recomputed from further back; where that cannot be, the audit is inconclusive") {
    const test::TemporaryFolder copy;
    damaged_home(copy.path());
    const contracts::Job job = fetched().network.job();
    const auto second = contracts::read_round(fetched().network.state(), job.id, 1);
    remove_blob(copy.path(), second->base_blob);
    const std::vector<std::string> words{
        "audit", "model", fetched().model("last"), "--home", copy.path(), "--minutes", "5", "--units", "12"};
    check_ok(run(words), 12, "home");
    remove_blob(copy.path(), job.spec.data.train);
    const test::ProgramRun gone = run(words);
    CHECK(gone.code == 7);
    const json audit = printed(gone);
    CHECK(audit.at("ok") == false);
    CHECK(audit.at("inconclusive") == true);
    CHECK(audit.at("failures").empty());
    CHECK(audit.at("confidence") == 0);
    CHECK(gone.err.find("inconclusive") != std::string::npos);
    // Nothing named, nothing at hand.
    CHECK(run({"audit", "model", fetched().model("last")}).code == 7);
}

TEST_CASE("a model, a certificate or a ledger that does not belong to the others is named with exit code 7") {
    const test::TemporaryFolder out;
    const auto damaged = [&](const std::string& name, const std::string& file, std::uintmax_t at) {
        fs::copy(fetched().model("last"), out / name, fs::copy_options::recursive);
        test::flip_byte(fs::path(out / name) / file, at, 1);
        return run({"audit", "model", out / name, "--home", fetched().home(), "--units", "1"});
    };
    const fs::path weights = fs::path(fetched().model("last")) / "model.safetensors";
    check_failure(damaged("weights", "model.safetensors", fs::file_size(weights) - 10), "model");
    // The last bytes of a certificate are the root of the outer momentum; before the rounds stands the spec.
    const fs::path born = fs::path(fetched().model("last")) / "certificate.bin";
    check_failure(damaged("outer", "certificate.bin", fs::file_size(born) - 1), "certificate");
    CHECK(damaged("magic", "certificate.bin", 7).code == 7);
    // A payment that adds up and was never made.
    node::FolderCertificate folder = must(node::read_certificate(fetched().model("last")));
    contracts::SettlementLine& line = folder.certificate.rounds[0].lines[0];
    line.paid = line.paid.plus(base::units(1)).value();
    line.from_escrow = line.from_escrow.plus(base::units(1)).value();
    fs::copy(fetched().model("last"), out / "paid", fs::copy_options::recursive);
    const base::Bytes bytes = node::encode_certificate(folder.certificate);
    std::ofstream(out / "paid/certificate.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    check_failure(run({"audit", "model", out / "paid", "--home", fetched().home(), "--units", "1"}),
                  "ledger");
    check_ok(run({"audit", "model", out / "paid", "--job-file", fetched().job_file(), "--units", "1"}), 1,
             "none");
    // A folder that no ledger's job made has nothing to show.
    fs::copy(fetched().model("last"), out / "bare", fs::copy_options::recursive);
    fs::remove(out / "bare/certificate.bin");
    CHECK(run({"audit", "model", out / "bare"}).code == 3);
    CHECK(run({"audit", "model", out / "nothing"}).code == 3);
    CHECK(run({"audit", "model", out / "paid", "--seed", "1", "--beacon", std::string(64, 'a')}).code == 2);
    CHECK(run({"audit", "model", out / "paid", "--beacon", "abc"}).code == 2);
}

TEST_CASE("what is exported from a home or written again from a folder carries the same certificate") {
    const test::TemporaryFolder out;
    const std::string born = test::file_text(fs::path(fetched().model("last")) / "certificate.bin");
    CHECK(run({"model", "export", "--job", "small", "--home", fetched().home(), "--out", out / "exported"})
              .code == 0);
    CHECK(test::file_text(out / "exported/certificate.bin") == born);
    CHECK(run({"model", "export", "--model", out / "exported", "--out", out / "again"}).code == 0);
    CHECK(test::file_text(out / "again/certificate.bin") == born);
}

}  // namespace assay::tests
