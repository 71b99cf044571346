// SPDX-License-Identifier: Apache-2.0
// assay node genesis|inspect
#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>

#include "ledger/engine/chain.hpp"
#include "ledger/store/posix_disk.hpp"
#include "node/cli/commands.hpp"
#include "node/cli/commands/genesis_report.hpp"
#include "node/cli/commands/role_flags.hpp"
#include "node/config/network_file.hpp"
#include "node/key/key_file.hpp"
#include "node/roles/misconduct.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;

namespace {

struct GenesisFlags {
    std::string chain;
    std::string file;  ///< network.toml; empty: the defaults
    std::vector<std::string> balances;
    std::vector<std::string> validators;
    std::uint64_t block_interval_ms = 100;
    std::string out = "genesis.bin";
};

using Balances = std::vector<std::pair<base::PublicKey, base::Amount>>;

/// Refuses before anything is read. What a writer of the same name would do is another question.
base::Outcome<void> check_unwritten(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::exists(std::filesystem::symlink_status(path, error))) return {};
    return fail(ErrorKind::kUsage, path + " exists: a genesis file is never overwritten",
                "choose another place with --out, or move that file away; `assay node inspect " + path +
                    "` says what is in it");
}

base::Outcome<base::PublicKey> home_key(const std::filesystem::path& path, KeyRole role) {
    const std::string name = role == KeyRole::kOwner ? "owner" : "node";
    if (!std::filesystem::exists(path)) {
        return fail(ErrorKind::kKey, "no " + name + " key in " + path.string() + ", so no validator is known",
                    "make one with `assay key new --role " + name +
                        "`, or name the validator: --validator OWNERKEY:NODEKEY");
    }
    ASSAY_ASSIGN(const KeyFileInfo info, inspect_key_file(path));
    if (info.role == role) return info.public_key;
    return fail(ErrorKind::kKey,
                path.string() + " is not the key of a" + (name == "owner" ? "n " : " ") + name,
                "put the key in its place, or name the validator: --validator OWNERKEY:NODEKEY");
}

base::Outcome<std::vector<contracts::GenesisValidator>> validators_for(const Context& context,
                                                                       const GenesisFlags& flags) {
    std::vector<contracts::GenesisValidator> validators;
    for (const std::string& text : flags.validators) {
        const std::size_t colon = text.find(':');
        if (colon == std::string::npos) {
            return fail(ErrorKind::kUsage, "--validator " + text + " is not a pair of keys",
                        "write OWNERKEY:NODEKEY, both as `assay key show` prints them");
        }
        contracts::GenesisValidator one;
        ASSAY_ASSIGN(one.owner, key_flag("--validator's owner", text.substr(0, colon)));
        ASSAY_ASSIGN(one.node, key_flag("--validator's node", text.substr(colon + 1)));
        validators.push_back(one);
    }
    if (validators.empty()) {
        contracts::GenesisValidator own;
        ASSAY_ASSIGN(own.owner, home_key(context.home().owner_key(), KeyRole::kOwner));
        ASSAY_ASSIGN(own.node, home_key(context.home().node_key(), KeyRole::kNode));
        validators.push_back(own);
    }
    std::sort(validators.begin(), validators.end(),
              [](const auto& one, const auto& other) { return one.node < other.node; });
    return validators;
}

base::Outcome<void> add_balances(const std::vector<std::string>& texts, Balances& balances) {
    for (const std::string& text : texts) {
        const std::size_t equals = text.find('=');
        if (equals == std::string::npos) {
            return fail(ErrorKind::kUsage, "--balance " + text + " says no amount",
                        "write OWNERKEY=AMOUNT, the key as `assay key show --role owner` prints it");
        }
        ASSAY_ASSIGN(const base::PublicKey owner, key_flag("--balance's owner", text.substr(0, equals)));
        ASSAY_ASSIGN(const base::Amount amount, amount_flag("--balance", text.substr(equals + 1)));
        balances.emplace_back(owner, amount);
    }
    return {};
}

/// What the rules would take or refuse in other words: nothing mints money later.
base::Outcome<void> check_balances(const Balances& sorted) {
    if (sorted.empty()) {
        return fail(ErrorKind::kUsage, "nobody has a balance, and a genesis is where all money comes from",
                    "give --balance OWNERKEY=AMOUNT, or [balances] in the file, at least once");
    }
    base::Amount supply;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        const auto& [owner, amount] = sorted[i];
        if (i > 0 && sorted[i - 1].first == owner) {
            return fail(ErrorKind::kUsage, "owner " + owner.hex() + " has two balances",
                        "name each owner once, in the file or by --balance");
        }
        if (amount.is_zero()) {
            return fail(ErrorKind::kUsage, "the balance of " + owner.hex() + " is zero",
                        "give it an amount, or leave it out: an owner needs no account to be sent money");
        }
        const auto sum = supply.plus(amount);
        if (!sum) {
            return fail(ErrorKind::kUsage,
                        "the balances add up to more than " +
                            base::to_text(*base::Amount::of(base::kAmountMax)) + ", the largest amount",
                        "give smaller balances: their sum is the supply for ever");
        }
        supply = *sum;
    }
    return {};
}

/// A key that works for the validator can hold no money, and its owner is another key.
base::Outcome<void> check_roles_of_keys(const std::vector<contracts::GenesisValidator>& validators,
                                        const Balances& balances) {
    for (const auto& one : validators) {
        for (const auto& [owner, amount] : balances) {
            if (owner == one.node) {
                return fail(ErrorKind::kUsage,
                            "the validator's node key " + one.node.hex() + " has a balance",
                            "give the money to an owner's key: assay key show --role owner");
            }
        }
        for (const auto& other : validators) {
            if (one.owner == other.node) {
                return fail(ErrorKind::kUsage,
                            "key " + one.owner.hex() + " is a validator's owner and its node key",
                            "give two different keys: --validator OWNERKEY:NODEKEY");
            }
        }
    }
    return {};
}

base::Outcome<ReadGenesis> plan_genesis(const Context& context, const GenesisFlags& flags) {
    ASSAY_TRY(ledger::check_chain_id(flags.chain));
    if (check_may_drill(flags.chain).ok()) {
        return fail(
            ErrorKind::kUsage,
            "chain id '" + flags.chain + "' is a local network's: its processes plant faults by --drill",
            "choose another name, or start a local network with `assay devnet up`");
    }
    NetworkFile network;
    if (!flags.file.empty()) {
        ASSAY_ASSIGN(network, read_network_file(flags.file));
    }
    contracts::GenesisConfig config;
    config.chain_id = flags.chain;
    config.params = network.params;
    config.market = network.market;
    config.balances = std::move(network.balances);
    ASSAY_TRY(add_balances(flags.balances, config.balances));
    std::sort(config.balances.begin(), config.balances.end());
    ASSAY_TRY(check_balances(config.balances));
    ASSAY_ASSIGN(config.validators, validators_for(context, flags));
    ASSAY_TRY(ledger::check_one_validator(contracts::validators_of(config)));
    ASSAY_TRY(check_roles_of_keys(config.validators, config.balances));
    return check_genesis({.chain_id = config.chain_id,
                          .validators = contracts::validators_of(config),
                          .rules = base::encode(config),
                          .block_interval_ms = flags.block_interval_ms});
}

/// Writes the file under another name first: what a crash leaves is no genesis file.
base::Outcome<void> write_whole(const std::string& path, const ledger::Genesis& genesis) {
    ledger::PosixDisk disk;
    const std::string part = path + ".part";
    std::error_code error;
    std::filesystem::remove(part, error);
    ASSAY_TRY(ledger::write_genesis(disk, part, genesis));
    std::filesystem::rename(part, path, error);
    if (error) {
        return fail(ErrorKind::kFailure, "cannot write " + path + ": " + error.message(),
                    "choose another place with --out");
    }
    return disk.sync_directory(ledger::directory_of(path));
}

base::Outcome<void> make_genesis_file(const Context& context, const GenesisFlags& flags) {
    ASSAY_TRY(check_unwritten(flags.out));
    ASSAY_ASSIGN(const ReadGenesis made, plan_genesis(context, flags));
    ASSAY_TRY(write_whole(flags.out, made.genesis));
    report_genesis(context, flags.out, made);
    if (context.json()) return {};
    const std::string home = context.flags.home ? " --home " + *context.flags.home : "";
    context.out << "\nnext, on this machine:\n"
                << "  assay node run" << home << " --genesis " << flags.out << " --listen HOST:7420\n"
                << "and everybody else, with a copy of the file, after a look at its hash:\n"
                << "  assay node inspect " << flags.out << '\n'
                << "  assay miner run --node HOST:7420 --genesis " << flags.out
                << " --listen 0.0.0.0:7421 --announce ADDRESS:7421\n"
                << "off loopback each with its three TLS files; docs/network.md has every step\n";
    return {};
}

base::Outcome<void> inspect_genesis(const Context& context, const std::string& given) {
    const std::string file = given.empty() ? (context.home().ledger() / "genesis.bin").string() : given;
    ledger::PosixDisk disk;
    ASSAY_ASSIGN(ledger::Genesis genesis, ledger::read_genesis(disk, file));
    ASSAY_ASSIGN(const ReadGenesis read, check_genesis(std::move(genesis)));
    report_genesis(context, file, read);
    return {};
}

}  // namespace

void add_node_genesis_commands(CLI::App& app, Context& context) {
    CLI::App& node = noun(app, "node", "Run the ledger");
    const auto flags = std::make_shared<GenesisFlags>();
    CLI::App& made =
        verb(node, "genesis",
             "Write the genesis file of a new ledger; never overwrites. Whoever takes part needs a "
             "copy of it",
             context, [&context, flags] { return make_genesis_file(context, *flags); });
    made.add_option("file", flags->file,
                    "network.toml with [parameters], [market] and [balances]; what it leaves out has its "
                    "default");
    made.add_option("--chain", flags->chain, "The ledger's name, which every signature covers")->required();
    made.add_option("--balance", flags->balances,
                    "OWNERKEY=AMOUNT, as often as there are owners: all the money that there will be")
        ->allow_extra_args(false);
    made.add_option("--validator", flags->validators,
                    "OWNERKEY:NODEKEY of whoever makes the blocks (default: the home's keys)")
        ->allow_extra_args(false);
    made.add_option("--block-interval-ms", flags->block_interval_ms,
                    "Least time between two blocks, in which all windows are counted")
        ->check(CLI::Range(10, static_cast<int>(ledger::kMaxBlockIntervalMs)))
        ->capture_default_str();
    made.add_option("--out", flags->out, "The file to write")->capture_default_str();
    const auto given = std::make_shared<std::string>();
    CLI::App& shown =
        verb(node, "inspect", "What a genesis file says: chain, validators, money, parameters, hash", context,
             [&context, given] { return inspect_genesis(context, *given); });
    shown.add_option("file", *given, "The genesis file (default: the home's)");
}

}  // namespace assay::node
