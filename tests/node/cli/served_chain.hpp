// SPDX-License-Identifier: Apache-2.0
// A ledger node in the test's process, on a chain that the rules' own test language made; homes for its
// people.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ledger/application/rules_machine.hpp"
#include "ledger/engine/chain.hpp"
#include "ledger/store/posix_disk.hpp"
#include "node/rpc/client.hpp"
#include "node/runtime/ledger_node.hpp"
#include "node/views/node_state.hpp"
#include "tests/contracts/rules/env.hpp"
#include "tests/node/cli/cli_fixture.hpp"

namespace assay::test {

/// Writes every block of `env` to a ledger in `home`, ten a second from the year 2001 on.
inline void write_ledger(const contracts::test::Env& env, contracts::test::Person& sequencer,
                         const std::string& home) {
    constexpr std::uint64_t kBeginsMs = 1'000'000'000'000;
    const ledger::Layout layout(home);
    const ledger::Genesis genesis{.chain_id = env.chain(),
                                  .validators = contracts::validators_of(env.configuration()),
                                  .rules = base::encode(env.configuration())};
    ledger::PosixDisk disk;
    REQUIRE(disk.make_directories(layout.directory).ok());
    REQUIRE(ledger::write_genesis(disk, layout.genesis, genesis).ok());
    const auto provider = ledger::leveldb_provider(layout.index);
    auto chain = ledger::Chain::open(disk, *provider, ledger::rules_machine(), home);
    REQUIRE(chain.ok());
    std::uint64_t time = kBeginsMs;
    for (const auto& transactions : env.blocks()) {
        const auto made =
            (*chain)->append(transactions, ledger::EmptyBlock::kMake, time += 100, sequencer.node);
        REQUIRE(made.ok());
        for (const auto& result : made->block->results.transactions) REQUIRE(result.code == 0);
    }
}

/// Serves the chain from where `env` left it, a block every 100 ms.
class ServedChain {
public:
    explicit ServedChain(contracts::test::Env& env, const std::optional<node::TlsFiles>& tls = {})
        : tls_(tls), genesis_(ledger::Layout(home_.home().string()).genesis) {
        contracts::test::Person& sequencer = env.person("sequencer");
        write_ledger(env, sequencer, home_.home().string());
        node::LedgerNodeOptions options;
        options.home = home_.home();
        options.version = "test";
        options.accepts_far_clock = true;  // the chain is of 2001
        options.server.tls = tls;
        options.on_stopped = [](const base::Error& why) { WARN(why.what); };
        auto node = node::LedgerNode::start(options, sequencer.node, ledger::rules_machine());
        if (!node.ok()) FAIL(node.error().what);
        node_ = std::move(node).value();
    }

    [[nodiscard]] std::string address() const { return node_->address(); }
    [[nodiscard]] const std::string& genesis() const { return genesis_; }
    /// The node's own home: its ledger files.
    [[nodiscard]] const Cli& files() const { return home_; }
    [[nodiscard]] std::unique_ptr<contracts::StateView> state() const {
        return node::state_of(node::connect_ledger({.address = address(), .tls = tls_}).value()).value();
    }

private:
    Cli home_;
    std::optional<node::TlsFiles> tls_;
    std::string genesis_;
    std::unique_ptr<node::LedgerNode> node_;
};

/// A home with both keys of a person, whose commands go to a served chain.
class PersonHome {
public:
    PersonHome(const ServedChain& chain, const contracts::test::Person& who)
        : chain_(&chain), passphrase_(cli_.write("pass", "a passphrase of some length\n").string()) {
        for (const std::string role : {"owner", "node"}) {
            const auto seed =
                cli_.write("seed", contracts::test::bytes_of(role + " " + who.name).hex() + "\n");
            const CliRun made = cli_({"key", "import", "--role", role, "--seed-file", seed.string(),
                                      "--interactive", "--passphrase-file", passphrase_});
            INFO(made.err);
            REQUIRE(made.code == 0);
        }
    }

    [[nodiscard]] const Cli& cli() const { return cli_; }
    /// Flags of a command that asks the node.
    [[nodiscard]] std::vector<std::string> asking(std::vector<std::string> words) const {
        words.insert(words.end(), {"--node", chain_->address()});
        return words;
    }
    /// Flags of one that signs too.
    [[nodiscard]] std::vector<std::string> signing(std::vector<std::string> words) const {
        words.insert(words.end(), {"--passphrase-file", passphrase_, "--genesis", chain_->genesis()});
        return asking(std::move(words));
    }
    [[nodiscard]] CliRun ask(std::vector<std::string> words) const { return cli_(asking(std::move(words))); }
    [[nodiscard]] CliRun sign(std::vector<std::string> words) const {
        return cli_(signing(std::move(words)));
    }
    /// What it prints in JSON; it must succeed.
    [[nodiscard]] nlohmann::json must_ask(std::vector<std::string> words) const {
        return must(ask(in_json(std::move(words))));
    }
    [[nodiscard]] nlohmann::json must_sign(std::vector<std::string> words) const {
        return must(sign(in_json(std::move(words))));
    }
    /// The name of the reason for which the ledger refuses it.
    [[nodiscard]] std::string refused(std::vector<std::string> words) const {
        const CliRun run = sign(in_json(std::move(words)));
        INFO(run.err);
        REQUIRE(run.code == 6);
        return nlohmann::json::parse(run.err).at("error").at("reason").at("name");
    }

private:
    static std::vector<std::string> in_json(std::vector<std::string> words) {
        words.insert(words.end(), {"-o", "json"});
        return words;
    }
    static nlohmann::json must(const CliRun& run) {
        INFO(run.err);
        REQUIRE(run.code == 0);
        return run.json();
    }

    const ServedChain* chain_;
    Cli cli_;
    std::string passphrase_;
};

}  // namespace assay::test
