// SPDX-License-Identifier: Apache-2.0
// assay node genesis and inspect: a new ledger's file, as its operator makes it and whoever joins reads it.
#include <algorithm>
#include <iterator>

#include "contracts/base/codec.hpp"
#include "contracts/rules/apply.hpp"
#include "ledger/application/rules_machine.hpp"
#include "ledger/engine/chain.hpp"
#include "ledger/store/posix_disk.hpp"
#include "tests/node/cli/cli_fixture.hpp"
#include "tests/support/run_program.hpp"

namespace assay::test {
namespace {

using nlohmann::json;

const std::string kRich(64, 'a');
const std::string kPoor(64, 'b');

/// A home with both keys, made once: hashing a passphrase takes time.
const Cli& operators_home() {
    static const Cli cli;
    static const bool made = [] {
        const std::string pass = cli.write("pass", "a passphrase of some length\n").string();
        for (const std::string role : {"owner", "node"})
            REQUIRE(cli({"key", "new", "--role", role, "--passphrase-file", pass, "--interactive"}).code ==
                    0);
        return true;
    }();
    REQUIRE(made);
    return cli;
}

std::string key_of_home(const std::string& role) {
    return operators_home()({"key", "show", "--role", role, "-o", "json"}).json().at("public_key");
}

/// `assay node genesis --out FILE` and these words; of chain our-lab-1 unless they say another.
CliRun make(const std::filesystem::path& file, std::vector<std::string> words) {
    if (std::find(words.begin(), words.end(), "--chain") == words.end())
        words.insert(words.end(), {"--chain", "our-lab-1"});
    words.insert(words.begin(), {"node", "genesis", "--out", file.string()});
    return operators_home()(words);
}

/// A refusal is one of usage, says its cause and a fix, and writes nothing.
void check_refused(const std::vector<std::string>& words, const std::string& cause, const std::string& fix) {
    const TemporaryFolder folder;
    const CliRun run = make(folder / "genesis.bin", words);
    INFO(run.err);
    CHECK(run.code == 2);
    CHECK(run.out.empty());
    CHECK(run.err.find(cause) != std::string::npos);
    const std::size_t at = run.err.find("\n  fix: ");
    REQUIRE(at != std::string::npos);
    CHECK(run.err.find(fix, at) != std::string::npos);
    CHECK(std::filesystem::is_empty(folder.path()));
}

std::string text_of(const std::filesystem::path& path) { return file_text(path); }

}  // namespace

TEST_CASE(
    "node genesis writes a ledger on which the home's key makes blocks, with the defaults of the rules") {
    const TemporaryFolder folder;
    const auto file = folder / "ledger/genesis.bin";
    const CliRun run = make(file, {"--balance", kRich + "=1000", "--balance", kPoor + "=1u", "-o", "json"});
    INFO(run.err);
    REQUIRE(run.code == 0);
    const json said = run.json();
    CHECK(keys_of(said) == std::set<std::string>{"schema", "file", "hash", "version", "chain",
                                                 "block_interval_ms", "validators", "supply", "balances",
                                                 "parameters", "market", "changed"});
    CHECK(said.at("supply") == "1000000001");
    CHECK(said.at("changed").empty());
    CHECK(said.at("parameters").at("claim_window") == contracts::Params{}.claim_window);
    CHECK(said.at("validators") ==
          json::array({{{"node", key_of_home("node")}, {"owner", key_of_home("owner")}, {"power", 1}}}));

    ledger::PosixDisk disk;
    const auto genesis = ledger::read_genesis(disk, file.string());
    REQUIRE(genesis.ok());
    CHECK(genesis->hash().hex() == said.at("hash"));
    CHECK(genesis->block_interval_ms == 100);
    const auto provider = ledger::leveldb_provider((folder / "ledger/index").string());
    const auto chain = ledger::Chain::open(disk, *provider, ledger::rules_machine(), folder.path().string());
    REQUIRE(chain.ok());
    CHECK((*chain)->sequencer().hex() == key_of_home("node"));
    CHECK((*chain)->genesis().chain_id == "our-lab-1");
}

TEST_CASE("node genesis takes parameters and balances from a file, and says what is not the default") {
    const TemporaryFolder folder;
    const auto network = operators_home().write(
        "network.toml",
        "[parameters]\naudit_seal_window = 50\nclaim_window = 150\n[market]\nepoch = 7200\n"
        "[balances]\n" +
            kRich + " = \"9\"\n");
    const CliRun run = make(folder / "genesis.bin",
                            {"--block-interval-ms", "1000", "--balance", kPoor + "=1", network.string()});
    INFO(run.err);
    REQUIRE(run.code == 0);
    for (const std::string part : {"150 blocks, 2.5 minutes at least", "10.000000 ASY of 2 owner(s)",
                                   "parameters.audit_seal_window", "market.epoch", "assay node run --home"})
        CHECK(run.out.find(part) != std::string::npos);
    const CliRun read = Cli()({"node", "inspect", (folder / "genesis.bin").string(), "-o", "json"});
    REQUIRE(read.code == 0);
    CHECK(read.json().at("changed").size() == 3);
    CHECK(read.json().at("changed").at(1) ==
          json{{"name", "parameters.claim_window"}, {"value", 150}, {"default", 300'000}});
    CHECK(read.json().at("market").at("epoch") == 7200);
    CHECK(read.json().at("block_interval_ms") == 1000);
}

TEST_CASE(
    "node genesis names another validator than the home's where it is told to, and needs no home then") {
    const TemporaryFolder folder;
    const std::string file = (folder / "genesis.bin").string();
    const CliRun run = Cli()({"node", "genesis", "--chain", "c", "--out", file, "--validator",
                              kPoor + ":" + std::string(64, 'c'), "--balance", kRich + "=1", "-o", "json"});
    INFO(run.err);
    REQUIRE(run.code == 0);
    CHECK(run.json().at("validators").at(0).at("owner") == kPoor);
    CHECK(run.json().at("validators").at(0).at("node") == std::string(64, 'c'));
    // Without keys and without the flag nobody would make blocks.
    const CliRun nobody =
        Cli()({"node", "genesis", "--chain", "c", "--out", file + "2", "--balance", kRich + "=1"});
    CHECK(nobody.code == 5);
    CHECK(nobody.err.find("assay key new --role owner") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(file + "2"));
}

TEST_CASE("node genesis never overwrites a file, not even with the same genesis") {
    const TemporaryFolder folder;
    const auto file = folder / "genesis.bin";
    REQUIRE(make(file, {"--balance", kRich + "=1"}).code == 0);
    const std::string before = text_of(file);
    for (const std::string amount : {"1", "2"}) {
        const CliRun again = make(file, {"--balance", kRich + "=" + amount});
        CHECK(again.code == 2);
        CHECK(again.err.find("never overwritten") != std::string::npos);
        CHECK(again.err.find("--out") != std::string::npos);
    }
    CHECK(text_of(file) == before);
}

TEST_CASE("node genesis refuses what no ledger can begin with, with cause and fix, and writes nothing") {
    const std::string money = kRich + "=1";
    check_refused({}, "nobody has a balance", "--balance OWNERKEY=AMOUNT");
    check_refused({"--balance", money, "--balance", kRich + "=2"}, "has two balances", "each owner once");
    check_refused({"--balance", kRich + "=0"}, "is zero", "leave it out");
    check_refused({"--balance", kRich + "=4000000000000", "--balance", kPoor + "=1u"},
                  "add up to more than 4000000000000.000000 ASY", "smaller balances");
    check_refused({"--balance", kRich + "=4000000000001"}, "is not an amount", "six decimals");
    check_refused({"--balance", kRich}, "says no amount", "OWNERKEY=AMOUNT");
    check_refused({"--balance", "me=5"}, "is not a public key", "64 hexadecimal digits");
    check_refused({"--balance", key_of_home("node") + "=5"}, "node key", "an owner's key");
    check_refused({"--balance", money, "--validator", kPoor}, "is not a pair of keys", "OWNERKEY:NODEKEY");
    check_refused({"--balance", money, "--validator", kPoor + ":" + kPoor}, "its node key",
                  "two different keys");
    check_refused({"--balance", money, "--validator", kPoor + ":" + std::string(64, 'c'), "--validator",
                   kPoor + ":" + std::string(64, 'd')},
                  "names 2 validators", "name one");
    check_refused({"--balance", money, "--validator", kPoor + ":" + std::string(64, 'c'), "--validator",
                   kPoor + ":" + std::string(64, 'c')},
                  "names 2 validators", "name one");
    check_refused({"--balance", money, "--block-interval-ms", "9"}, "--block-interval-ms", "--help");
    check_refused({"--balance", money, "--block-interval-ms", "60001"}, "--block-interval-ms", "--help");
    for (const std::string& chain :
         std::vector<std::string>{"", "Our-Lab", "a b", "über", std::string(65, 'a')})
        check_refused({"--balance", money, "--chain", chain}, "must be 1 to 64 of a-z, 0-9 and '-'",
                      "our-lab-1");
    check_refused({"--balance", money, "--chain", "devnet-1"}, "--drill", "assay devnet up");
    const auto file = operators_home().write("bad.toml", "[parameters]\nminer_fees = 1\n");
    check_refused({file.string(), "--balance", money}, "bad.toml:2: unknown key", "miner_fee");
    const auto other = operators_home().write("other.toml", "[parameters]\npanel_owners_least = 4\n");
    check_refused({other.string(), "--balance", money}, "panel_owners_least = 4 is out of range",
                  "from 2 to 3");
}

TEST_CASE("node inspect reads the home's genesis, and refuses damage and other laws by what they are") {
    const Cli cli;
    CHECK(cli({"node", "inspect"}).code == 3);
    const auto file = cli.home() / "ledger/genesis.bin";
    REQUIRE(make(file, {"--balance", kRich + "=1"}).code == 0);
    const CliRun read = cli({"node", "inspect"});
    CHECK(read.code == 0);
    CHECK(read.out.find("every parameter has its default") != std::string::npos);

    ledger::PosixDisk disk;
    const ledger::Genesis genesis = ledger::read_genesis(disk, file.string()).value();
    const auto inspect = [&](const base::Bytes& bytes) {
        const auto other = cli.write("other.bin", std::string(bytes.begin(), bytes.end()));
        const CliRun run = cli({"node", "inspect", other.string()});
        CHECK(run.out.empty());
        CHECK(run.err.find("\n  fix: ") != std::string::npos);
        return run;
    };
    base::Bytes flipped = ledger::genesis_file(genesis);
    flipped[40] ^= 1U;
    CHECK(inspect(flipped).code == 7);
    ledger::Genesis older = genesis;
    older.version = ledger::kGenesisVersion - 1;
    const CliRun earlier = inspect(ledger::genesis_file(older));
    CHECK(earlier.code == 2);
    CHECK(earlier.err.find("earlier law") != std::string::npos);
    older.version = ledger::kGenesisVersion + 1;
    CHECK(inspect(ledger::genesis_file(older)).code == 7);
    // Whole, and yet none that the rules take.
    ledger::Genesis other_chain = genesis;
    other_chain.chain_id = "another";
    CHECK(inspect(ledger::genesis_file(other_chain)).code == 7);
    ledger::Genesis no_rules = genesis;
    no_rules.rules = {1, 2, 3};
    CHECK(inspect(ledger::genesis_file(no_rules)).code == 7);
    contracts::GenesisConfig config = base::decode<contracts::GenesisConfig>(genesis.rules).value();
    config.params.max_missed = 0;
    ledger::Genesis out_of_range = genesis;
    out_of_range.rules = base::encode(config);
    const CliRun refused = inspect(ledger::genesis_file(out_of_range));
    CHECK(refused.code == 2);
    CHECK(refused.err.find("max_missed") != std::string::npos);
}

TEST_CASE("node inspect shows a person the first balances, and a program all of them") {
    const TemporaryFolder folder;
    std::vector<std::string> words;
    for (unsigned i = 10; i < 31; ++i)
        words.insert(words.end(), {"--balance", std::string(62, '0') + std::to_string(i) + "=1"});
    REQUIRE(make(folder / "genesis.bin", words).code == 0);
    const Cli cli;
    const CliRun table = cli({"node", "inspect", (folder / "genesis.bin").string()});
    CHECK(table.out.find("and 1 more") != std::string::npos);
    const CliRun whole = cli({"node", "inspect", (folder / "genesis.bin").string(), "-o", "json"});
    CHECK(whole.json().at("balances").size() == 21);
}

TEST_CASE("a role that listens at every address must say at which others reach it") {
    const Cli cli;
    for (const std::string address : {"0.0.0.0:7431", "[::]:7431"}) {
        for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
                 {"miner", "run"}, {"verifier", "run"}, {"job", "submit", "job.toml"}}) {
            std::vector<std::string> listening = words;
            listening.insert(listening.end(), {"--listen", address});
            const CliRun run = cli(listening);
            INFO(run.err);
            CHECK(run.code == 2);
            CHECK(run.err.find("says no address at which others reach") != std::string::npos);
            CHECK(run.err.find("--announce") != std::string::npos);
            std::vector<std::string> announcing = words;
            announcing.insert(announcing.end(), {"--announce", address});
            CHECK(cli(announcing).code == 2);
        }
    }
}

}  // namespace assay::test
