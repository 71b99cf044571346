// SPDX-License-Identifier: Apache-2.0
// Commands that ask a ledger node, against a local network of real processes.
#include <csignal>
#include <thread>

#include "ledger/store/genesis.hpp"
#include "ledger/store/posix_disk.hpp"
#include "tests/node/cli/cli_fixture.hpp"
#include "tests/support/run_program.hpp"

namespace assay::test {

using nlohmann::json;
using namespace std::chrono_literals;

namespace {

/// `assay devnet up` with two miners, ended by SIGTERM.
class LocalNetwork {
public:
    LocalNetwork()
        : up_(built_program_path("assay"), {"devnet", "up", "--home", home_ / "net", "--node", "127.0.0.1:0",
                                            "--miners", "2", "--buyers", "2", "-o", "json"}) {
        const auto give_up = std::chrono::steady_clock::now() + 300s;
        while (up_.out().find('}') == std::string::npos) {
            INFO(up_.err());
            REQUIRE(up_.running());
            REQUIRE(std::chrono::steady_clock::now() < give_up);
            std::this_thread::sleep_for(100ms);
        }
        said_ = json::parse(up_.out());
    }
    ~LocalNetwork() {
        up_.signal(SIGTERM);
        up_.wait();
    }
    [[nodiscard]] const json& said() const { return said_; }
    /// What it told people, apart from its answer.
    [[nodiscard]] std::string told() const { return up_.err(); }
    [[nodiscard]] bool running() { return up_.running(); }
    [[nodiscard]] std::string at(const char* key) const { return said_.at(key).get<std::string>(); }
    /// A command as the buyer, in JSON.
    [[nodiscard]] CliRun ask(std::vector<std::string> words) const {
        words.insert(words.end(), {"--home", at("buyer_home"), "--node", at("node"), "-o", "json"});
        return Cli::at(words);
    }

private:
    TemporaryFolder home_;
    BackgroundProgram up_;
    json said_;
};

LocalNetwork& network() {
    static LocalNetwork local;
    return local;
}

}  // namespace

TEST_CASE("devnet up says where everything is, once every miner has staked") {
    for (const json& miner : network().ask({"miner", "list"}).json().at("miners")) {
        CHECK_FALSE(miner.at("stake") == "0");
    }
    CHECK(network().ask({"miner", "list"}).json().at("miners").size() == 2);
    CHECK(network().said().at("schema") == "assay.devnet.up/v1");
    CHECK(keys_of(network().said()) == std::set<std::string>{"schema", "home", "node", "genesis",
                                                             "passphrase_file", "buyer_home",
                                                             "more_buyer_homes"});
    const json& more = network().said().at("more_buyer_homes");
    REQUIRE(more.size() == 1);
    CHECK(more[0] != network().at("buyer_home"));
    CHECK(std::filesystem::exists(more[0].get<std::string>()));
}

TEST_CASE("miners, their state and what they were not paid for can be asked for") {
    const CliRun list = network().ask({"miner", "list"});
    REQUIRE(list.code == 0);
    const json first = list.json().at("miners").at(0);
    CHECK(keys_of(first) == std::set<std::string>{"miner", "owner", "endpoint", "standing", "verified_work",
                                                  "stake", "bonded", "earned", "forfeited"});
    CHECK(first.at("standing").empty());
    CHECK(first.at("verified_work") == 0);
    const auto key = first.at("miner").get<std::string>();
    const CliRun status = network().ask({"miner", "status", "--key", key.substr(0, 10)});
    INFO(status.err);
    REQUIRE(status.code == 0);
    CHECK(status.json().at("miner") == key);
    const CliRun why = network().ask({"miner", "why", "--key", key});
    REQUIRE(why.code == 0);
    CHECK(why.json().at("lines").empty());
    CHECK(network().ask({"miner", "status", "--key", "ffffffffff"}).code == 3);
    CHECK(network().ask({"payout", "explain", "--miner", key, "--round", "0"}).code == 3);
    CHECK(network().ask({"job", "show", "nothing"}).code == 3);
    CHECK(network().ask({"job", "list"}).json().at("jobs").empty());
}

TEST_CASE("a node says what it serves: who takes part, and where the money is") {
    const CliRun run = network().ask({"node", "status"});
    INFO(run.err);
    REQUIRE(run.code == 0);
    CHECK(keys_of(run.json()) == std::set<std::string>{"schema", "chain", "height", "state_root", "sequencer",
                                                       "version", "miners", "verifiers", "jobs",
                                                       "jobs_active", "money"});
    CHECK(run.json().at("miners") == 2);
    CHECK(run.json().at("verifiers") == 3);
    CHECK(run.json().at("jobs_active") == 0);
    CHECK(run.json().at("money").at("supply_delta") == 0);
}

TEST_CASE("a transfer moves money once, and one that is not covered is refused by the ledger") {
    const json before = network().ask({"wallet", "show"}).json();
    CHECK(keys_of(before) == std::set<std::string>{"schema", "owner", "balance", "stake", "bonded", "escrow",
                                                   "nonce", "nodes", "unbonding", "withdrawals"});
    const auto miner = network().ask({"miner", "list"}).json().at("miners").at(0);
    const auto owner = miner.at("owner").get<std::string>();
    const std::string passphrase = network().at("passphrase_file");
    const CliRun sent = network().ask({"wallet", "send", owner, "1500000u", "--passphrase-file", passphrase});
    INFO(sent.err);
    REQUIRE(sent.code == 0);
    CHECK(keys_of(sent.json()) == std::set<std::string>{"schema", "from", "to", "amount", "height"});
    const json after = network().ask({"wallet", "show"}).json();
    CHECK(std::stoull(before.at("balance").get<std::string>()) -
              std::stoull(after.at("balance").get<std::string>()) ==
          1'500'000);
    CHECK(after.at("nonce").get<std::uint64_t>() == before.at("nonce").get<std::uint64_t>() + 1);

    const CliRun refused =
        network().ask({"wallet", "send", owner, "900000000000", "--passphrase-file", passphrase});
    CHECK(refused.code == 6);
    const json error = json::parse(refused.err).at("error");
    CHECK(error.at("kind") == "rejected");
    CHECK(error.at("reason") == json{{"number", 23}, {"name", "insufficient_balance"}});
    CHECK(network().ask({"wallet", "show"}).json() == after);
}

TEST_CASE("what the owner signs is for the home's chain, never for whichever the node names") {
    namespace fs = std::filesystem;
    const json before = network().ask({"wallet", "show"}).json();
    const auto owner = before.at("owner").get<std::string>();
    const Cli other;
    fs::copy(fs::path(network().at("buyer_home")) / "keys", other.home() / "keys",
             fs::copy_options::recursive);
    for (const char* key : {"keys/owner.key", "keys/node.key"})
        fs::permissions(other.home() / key, fs::perms::owner_read | fs::perms::owner_write);
    fs::permissions(other.home() / "keys", fs::perms::owner_all);
    const auto send = [&](const std::vector<std::string>& more) {
        std::vector<std::string> words = {"wallet",
                                          "send",
                                          owner,
                                          "1",
                                          "--node",
                                          network().at("node"),
                                          "--passphrase-file",
                                          network().at("passphrase_file")};
        words.insert(words.end(), more.begin(), more.end());
        return other(words);
    };
    const CliRun unknown = send({});
    CHECK(unknown.code == 3);
    CHECK(unknown.err.find("pass --genesis FILE once") != std::string::npos);

    ledger::PosixDisk disk;
    ledger::Genesis genesis = ledger::read_genesis(disk, network().at("genesis")).value();
    genesis.chain_id = "another-chain";
    const std::string made_up = (other.home() / "another.bin").string();
    REQUIRE(ledger::write_genesis(disk, made_up, genesis).ok());
    const CliRun foreign = send({"--genesis", made_up});
    CHECK(foreign.code == 7);
    CHECK(foreign.err.find("this home belongs to another-chain") != std::string::npos);
    CHECK(network().ask({"wallet", "show"}).json() == before);

    fs::remove_all(other.home() / "ledger");
    const CliRun right = send({"--genesis", network().at("genesis")});
    INFO(right.err);
    CHECK(right.code == 0);
    CHECK(send({}).code == 0);  // it is kept
}

TEST_CASE(
    "roles and commands keep the latest receipt in their homes, and an audit of the network uses them") {
    const auto home = std::filesystem::path(network().at("home"));
    const json wallet = network().ask({"wallet", "show"}).json();
    const CliRun sent = network().ask({"wallet", "send", wallet.at("owner").get<std::string>(), "1",
                                       "--passphrase-file", network().at("passphrase_file")});
    INFO(sent.err);
    REQUIRE(sent.code == 0);
    CHECK(sent.err.find("warning") == std::string::npos);
    CHECK(std::filesystem::exists(std::filesystem::path(network().at("buyer_home")) / "jobs" / "receipt"));
    CHECK(std::filesystem::exists(home / "miner-1" / "jobs" / "receipt"));
    const CliRun audit = Cli::at({"audit", "ledger", "--home", home.string(), "-o", "json"});
    REQUIRE(audit.code == 0);
    CHECK(audit.json().at("anchored").get<std::uint64_t>() >= sent.json().at("height").get<std::uint64_t>());
}

TEST_CASE("a wrong passphrase opens nothing and changes nothing") {
    const Cli cli;
    const auto wrong = cli.write("wrong", "not the passphrase\n").string();
    const json before = network().ask({"wallet", "show"}).json();
    const auto owner = before.at("owner").get<std::string>();
    CHECK(network().ask({"wallet", "send", owner, "1", "--passphrase-file", wrong}).code == 5);
    CHECK(network().ask({"wallet", "show"}).json() == before);
}

TEST_CASE("a verifier's record can be asked for from its home") {
    const auto home = std::filesystem::path(network().at("home")) / "verifier-1";
    const CliRun run = Cli::at(
        {"verifier", "status", "--home", home.string(), "--node", network().at("node"), "-o", "json"});
    INFO(run.err);
    REQUIRE(run.code == 0);
    CHECK(keys_of(run.json()) == std::set<std::string>{"schema", "verifier", "owner", "endpoint",
                                                       "audited_units", "earned", "penalised", "stake",
                                                       "bonded", "jobs", "order"});
}

TEST_CASE("devnet up goes on without a miner that was drained, and says so") {
    LocalNetwork local;  // others count on both miners of theirs
    const auto home = std::filesystem::path(local.at("home")) / "miner-2";
    REQUIRE(Cli::at({"miner", "drain", "--home", home.string()}).code == 0);
    const auto give_up = std::chrono::steady_clock::now() + 300s;
    while (local.told().find("miner-2 ended with exit code 0") == std::string::npos) {
        INFO(local.told());
        REQUIRE(local.running());
        REQUIRE(std::chrono::steady_clock::now() < give_up);
        std::this_thread::sleep_for(100ms);
    }
    // The others still work: a block is made of what is sent, and the network ends only when it is told to.
    const auto owner = local.ask({"wallet", "show"}).json().at("owner").get<std::string>();
    CHECK(local.ask({"wallet", "send", owner, "1", "--passphrase-file", local.at("passphrase_file")}).code ==
          0);
    CHECK(local.running());
}

}  // namespace assay::test
