// SPDX-License-Identifier: Apache-2.0
// Somebody who takes no part in a network that runs: a home of its own, a genesis file, and a node's address.
// It fetches the ledger, and of a round the bytes, and then audits both without any of the network's files.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "node/blob/blob_store.hpp"
#include "node/roles/drill_spec.hpp"
#include "tests/scenarios/small_network.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/run_program.hpp"

namespace assay::tests {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// The home of somebody outside.
class OutsideHome {
public:
    explicit OutsideHome(const SmallNetwork& network)
        : genesis_(network.net().plan.home / "ledger/genesis.bin") {}

    [[nodiscard]] test::ProgramRun run(std::vector<std::string> words) const {
        words.insert(words.end(), {"--home", (folder_ / "home"), "-o", "json"});
        return test::run_program(test::built_program_path("assay"), words);
    }
    [[nodiscard]] json must_run(const std::vector<std::string>& words) const {
        const test::ProgramRun ended = run(words);
        INFO("assay " << words[0] << " " << words[1] << ": " << ended.err);
        REQUIRE(ended.code == 0);
        return json::parse(ended.out);
    }
    /// From where it was broken off to the node's last block.
    [[nodiscard]] json fetch(SmallNetwork& network) const {
        return must_run(
            {"ledger", "fetch", "--node", network.network().node_address(), "--genesis", genesis_.string()});
    }
    [[nodiscard]] bool has(const base::Hash256& blob) const { return store()->has(blob); }
    void forget(const base::Hash256& blob) const { must(store()->remove(blob)); }

private:
    [[nodiscard]] std::unique_ptr<node::BlobStore> store() const {
        node::BlobStoreOptions options;
        options.folder = folder_ / "home" / "blobs";
        return must(node::BlobStore::open(options));
    }

    test::TemporaryFolder folder_;
    fs::path genesis_;
};

}  // namespace

TEST_CASE(
    "an outsider fetches the ledger of a network that runs, and the bytes of a round, and audits both") {
    ScenarioPlan plan = small_plan();
    plan.miners[2].drills.push_back(
        must(node::parse_drill("round=0,segment=1,kind=flip,tensor=wte.weight,index=5,bit=7")).planned);
    SmallNetwork network(plan);
    const OutsideHome outside(network);
    const auto replay = [](const std::string& round) {
        return std::vector<std::string>{"audit", "replay", "--job", "small", "--round", round};
    };
    const auto with_fetch = [&](const std::string& round) {
        std::vector<std::string> words = replay(round);
        words.emplace_back("--fetch");
        return words;
    };
    std::uint64_t first_height = 0;
    json cheated, honest, ledger, end;
    network.on_event([&](const node::Follower&, const contracts::Event& event) {
        if (event.kind == contracts::EventKind::kRoundStarted && event.round == 1 && first_height == 0) {
            first_height = outside.fetch(network).at("height");
            const test::ProgramRun without = outside.run(replay("0"));
            CHECK(without.code == 3);
            CHECK(without.err.find("--fetch") != std::string::npos);
            const test::ProgramRun run = outside.run(with_fetch("0"));
            INFO(run.err);
            CHECK(run.err.find("fetching blob ") != std::string::npos);
            REQUIRE_FALSE(run.out.empty());
            cheated = json::parse(run.out);
        }
        if (event.kind == contracts::EventKind::kJobEnded) {
            end = outside.fetch(network);
            honest = outside.must_run(with_fetch("1"));
        }
    });
    network.run();
    // The cheat of round 0 is seen from outside, while its window is open; the others are as claimed.
    REQUIRE(first_height > 0);
    CHECK(cheated.at("checked").at("slots") == 3);
    CHECK(cheated.at("checked").at("equal") == 2);
    CHECK(cheated.at("failures").empty());
    CHECK(std::count_if(cheated.at("slots").begin(), cheated.at("slots").end(),
                        [](const json& slot) { return slot.at("first_wrong") == 1; }) == 1);
    // Round 1 stands on a merged state, which came from a verifier.
    CHECK(honest.at("ok") == true);
    CHECK(honest.at("checked").at("equal") == honest.at("checked").at("slots"));
    CHECK(outside.has(contracts::read_round(network.state(), network.job().id, 1)->base_blob));
    // Nobody runs any more, and what was fetched is enough.
    CHECK(end.at("fetched") == end.at("height").get<std::uint64_t>() - first_height);
    CHECK(outside.must_run({"audit", "ledger"}).at("tip") == end.at("tip"));
    CHECK(outside.must_run({"audit", "payouts"}).at("supply_delta") == 0);
    CHECK(outside.must_run(replay("1")).at("slots") == honest.at("slots"));
    const json logs = outside.must_run({"job", "logs", "small", "--offline"});
    REQUIRE(logs.at("rounds").size() == 2);
    for (const json& round : logs.at("rounds"))
        for (const json& slot : round.at("slots")) CHECK_FALSE(slot.at("losses").empty());
    CHECK(outside.must_run({"job", "show", "small", "--offline"}).at("slot_rounds").size() == 6);
    // A blob that is gone, when nobody runs, is said to be so.
    outside.forget(contracts::read_round(network.state(), network.job().id, 1)->base_blob);
    const test::ProgramRun gone = outside.run(with_fetch("1"));
    INFO(gone.err);
    CHECK(gone.code == 4);
    CHECK(gone.err.find("did not answer and 0 do not have it") != std::string::npos);
}

}  // namespace assay::tests
