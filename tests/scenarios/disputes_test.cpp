// SPDX-License-Identifier: Apache-2.0
// Disputes between real processes: what a whole panel passes, one who was not drawn has forfeited.
#include <fstream>
#include <nlohmann/json.hpp>

#include "contracts/rules/dispute/tables.hpp"
#include "node/audit/model_output.hpp"
#include "node/devnet/demo_audit.hpp"
#include "node/roles/drill_spec.hpp"
#include "tests/scenarios/small_network.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/run_program.hpp"

namespace assay::tests {

using contracts::Game;
using contracts::GameEnd;
using contracts::LineKind;
using contracts::Reason;
using node::Misconduct;

namespace {

constexpr std::size_t kWatcher = 3;

ScenarioPlan disputed_plan() {
    ScenarioPlan plan = impatient_plan();
    plan.job = small_plan().job;
    plan.job.rounds = 3;
    plan.params.claim_window = 3 * plan.params.audit_seal_window;
    plan.miners[0].drills.push_back(
        must(node::parse_drill("round=1,segment=1,kind=operator,step=1,operator=17,index=320")).planned);
    plan.verifiers = 4;
    for (std::size_t place = 0; place < kWatcher; ++place)
        plan.verifier_misconducts[place] = Misconduct::kColludingPanel;
    plan.verifier_flags[kWatcher] = {"--watch", "--challenge", "1"};
    return plan;
}

bool says(const node::Participant& who, const std::string& words) {
    return node::log_tail(who.home, who.name, 2'000).find(words) != std::string::npos;
}

test::ProgramRun assay(std::vector<std::string> words) {
    words.insert(words.end(), {"-o", "json"});
    return test::run_program(test::built_program_path("assay"), words);
}

/// What it printed; it must end with `code`.
nlohmann::json printed(const test::ProgramRun& made, int code) {
    INFO(made.out << made.err);
    REQUIRE(made.code == code);
    return nlohmann::json::parse(made.out);
}

/// The folder again, with another certificate.
void write_certificate(const std::string& folder, const node::BirthCertificate& born) {
    const base::Bytes bytes = node::encode_certificate(born);
    std::ofstream(folder + "/certificate.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

/// The model of the job has the false slot in it, and says so.
void check_model(const std::string& model, const std::string& home, const Game& game) {
    const std::vector<std::string> words{"audit", "model", model, "--home", home, "--minutes", "5"};
    node::BirthCertificate silent = must(node::read_certificate(model)).certificate;
    std::size_t merged = 0;
    for (const node::CertifiedRound& round : silent.rounds) merged += round.merged_slots.size();
    const nlohmann::json audit = printed(assay(words), 0);
    CHECK(audit.at("ok") == true);
    CHECK(audit.at("failures").empty());
    CHECK(audit.at("merged_slots") == merged);
    CHECK(audit.at("recomputed") == 2 * merged);
    CHECK(audit.at("open_rounds").empty());
    REQUIRE(audit.at("defeated").size() == 1);
    const nlohmann::json& defeat = audit.at("defeated").at(0);
    CHECK(defeat.at("round") == game.round);
    CHECK(defeat.at("claim") == "slot");
    CHECK(defeat.at("slot") == game.claim);
    CHECK(defeat.at("segment") == game.part);
    CHECK(defeat.at("claimant") == game.claimant.hex());
    CHECK(defeat.at("reason") == "dispute_lost");
    CHECK(defeat.at("found") == "false");
    const std::string id = defeat.at("dispute");
    CHECK(id.substr(id.find('/')) == "/" + std::to_string(game.number));
    // A folder that keeps silent about it is false by the ledger, and by its own bits.
    silent.rounds.at(game.round).defeated.clear();
    write_certificate(model, silent);
    const nlohmann::json found = printed(assay(words), 7);
    CHECK(found.at("ok") == false);
    CHECK(found.at("defeated").empty());
    REQUIRE(found.at("failures").size() == 2);
    CHECK(found.at("failures").at(0).at("where") == "ledger");
    CHECK(found.at("failures").at(1).at("where") == "round " + std::to_string(game.round) + " slot " +
                                                        std::to_string(game.claim) + " segment " +
                                                        std::to_string(game.part));
}

}  // namespace

TEST_CASE(
    "a miner changes one number by one ulp in one operator of one step, the whole drawn panel passes it, and "
    "one bonded party that was not drawn has it forfeited by the ledger's own computation, and training goes "
    "on") {
    SmallNetwork network(disputed_plan());
    const test::TemporaryFolder folder;
    std::optional<test::ProgramRun> fetched;
    network.on_event([&](const node::Follower&, const contracts::Event& event) {
        if (event.kind != contracts::EventKind::kJobEnded) return;
        fetched = assay({"job", "fetch", "small", "--node", network.network().node_address(), "--home",
                         folder / "home", "--out", folder / "model"});
    });
    network.run();
    const contracts::Job job = network.job();
    const auto& cheat = network.net().miners[0];
    const auto& watcher = network.net().verifiers[kWatcher];
    CHECK(job.end_reason == Reason::kJobComplete);
    CHECK(job.rounds_done == 3);
    // It was paid, until somebody looked.
    for (const Reason reason : network.verdicts(1, cheat)) CHECK(reason == Reason::kPaid);
    const auto games = contracts::list_games(network.state(), job.id);
    REQUIRE_FALSE(games.empty());
    const Game& game = games.front();
    CHECK(game.claimant == cheat.node);
    CHECK(game.challenger == watcher.node);
    CHECK(game.round == 1);
    CHECK(game.part == 1);
    CHECK(game.end == GameEnd::kJudged);
    CHECK(game.claimant_lost);
    CHECK(game.finding.reason == dispute::GameReason::kDiffers);
    CHECK((game.finding.claimed_low ^ game.finding.computed_low) == 1);
    CHECK(game.way.at.operator_index == 17);
    CHECK_FALSE(game.lost.is_zero());
    CHECK_FALSE(game.returned.is_zero());
    // Whoever was drawn for the unit vouched for it.
    const auto slot = contracts::read_slot(network.state(), job.id, game.round, game.claim);
    REQUIRE(slot.has_value());
    CHECK(games.size() == 1 + slot->verifiers.size());
    for (const Game& called : games) {
        if (called.number == game.number) continue;
        CHECK(called.called);
        CHECK(called.claimant_lost);
        CHECK_FALSE(called.lost.is_zero());
    }
    // Everybody else is paid in every round.
    for (std::size_t i = 1; i < network.net().miners.size(); ++i) {
        for (std::uint32_t round = 0; round < 3; ++round) {
            for (const Reason reason : network.verdicts(round, network.net().miners[i]))
                CHECK(reason == Reason::kPaid);
        }
    }
    CHECK(says(watcher, "I reject step 3 of segment 1"));
    CHECK(says(cheat, "I have lost"));
    network.check_books();
    must(node::gather_files(network.net(), network.state(), job));
    // The merge took an update that nobody can compute again: a verifier stored it.
    std::filesystem::copy(
        network.net().verifiers[0].home.blobs(), network.net().sequencer.home.blobs(),
        std::filesystem::copy_options::recursive | std::filesystem::copy_options::skip_existing);
    REQUIRE(fetched.has_value());
    const nlohmann::json fetch = printed(*fetched, 0);
    CHECK(fetch.at("defeated") == nlohmann::json{game.number});
    CHECK(fetch.at("open_rounds").empty());
    check_model(folder / "model", network.net().plan.home.string(), game);
}

}  // namespace assay::tests
