// SPDX-License-Identifier: Apache-2.0
#include "node/cli/commands/genesis_report.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <ostream>

#include "ledger/application/rules_machine.hpp"
#include "node/cli/table.hpp"
#include "node/views/json.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;

namespace {

/// As many balances as a person reads; `-o json` has all.
constexpr std::size_t kShownBalances = 20;

struct GenesisValidatorView {
    base::PublicKey node, owner;
    std::uint64_t power = 1;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("node", node);
        visit("owner", owner);
        visit("power", power);
    }
};

struct GenesisBalanceView {
    base::PublicKey owner;
    base::Amount amount;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("owner", owner);
        visit("amount", amount);
    }
};

/// A parameter that is not its default.
struct ChangedParameter {
    std::string name;  ///< as network.toml has it: "market.epoch"
    std::uint64_t value = 0;
    std::uint64_t standard = 0;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("name", name);
        visit("value", value);
        visit("default", standard);
    }
};

template <class Row, class Target>
NamedCounts values_of(const std::vector<Row>& rows, const Target& target) {
    NamedCounts values;
    for (const Row& row : rows) values.emplace_back(std::string(row.name), row.get(target));
    return values;
}

template <class Row, class Target>
void add_changed(const std::string& section, const std::vector<Row>& rows, const Target& target,
                 std::vector<ChangedParameter>& changed) {
    const Target standard;
    for (const Row& row : rows) {
        const std::uint64_t value = row.get(target);
        if (value != row.get(standard))
            changed.push_back({section + "." + std::string(row.name), value, row.get(standard)});
    }
}

std::vector<ChangedParameter> changed_parameters(const contracts::GenesisConfig& config) {
    std::vector<ChangedParameter> changed;
    add_changed("parameters", contracts::param_ranges(), config.params, changed);
    add_changed("market", contracts::market_param_ranges(), config.market, changed);
    return changed;
}

/// REQUIRES a configuration that the rules take: its balances add up.
base::Amount supply_of(const contracts::GenesisConfig& config) {
    base::Amount sum;
    for (const auto& [owner, amount] : config.balances) sum = sum.plus(amount).value_or(sum);
    return sum;
}

/// "300000 blocks, 8.3 hours at least": a window at the genesis' interval.
std::string least_time(std::uint64_t blocks, std::uint64_t interval_ms) {
    const double seconds = static_cast<double>(blocks) * static_cast<double>(interval_ms) / 1000;
    std::array<char, 40> text{};
    if (seconds >= 3600)
        std::snprintf(text.data(), text.size(), "%.1f hours", seconds / 3600);
    else if (seconds >= 60)
        std::snprintf(text.data(), text.size(), "%.1f minutes", seconds / 60);
    else
        std::snprintf(text.data(), text.size(), "%.1f seconds", seconds);
    return std::to_string(blocks) + " blocks, " + text.data() + " at least";
}

void print_genesis_json(const Context& context, const std::string& file, const ReadGenesis& read) {
    const contracts::GenesisConfig& config = read.config;
    std::vector<GenesisValidatorView> validators;
    for (const auto& one : config.validators) validators.push_back({one.node, one.owner, one.power});
    std::vector<GenesisBalanceView> balances;
    for (const auto& [owner, amount] : config.balances) balances.push_back({owner, amount});
    JsonFields body;
    body("file", file);
    body("hash", read.genesis.hash());
    body("version", read.genesis.version);
    body("chain", config.chain_id);
    body("block_interval_ms", read.genesis.block_interval_ms);
    body("validators", validators);
    body("supply", supply_of(config));
    body("balances", balances);
    body("parameters", values_of(contracts::param_ranges(), config.params));
    body("market", values_of(contracts::market_param_ranges(), config.market));
    body("changed", changed_parameters(config));
    context.print_json("assay.node.genesis/v1", body.take());
}

void print_tables(std::ostream& out, const contracts::GenesisConfig& config) {
    TextTable validators({{"validator's node key"}, {"its owner"}, {"power", Align::kRight}});
    for (const auto& one : config.validators)
        validators.row({one.node.hex(), one.owner.hex(), std::to_string(one.power)});
    validators.print(out);
    out << '\n';
    TextTable balances({{"owner"}, {"balance", Align::kRight}});
    const std::size_t shown = std::min(config.balances.size(), kShownBalances);
    for (std::size_t i = 0; i < shown; ++i)
        balances.row({config.balances[i].first.hex(), base::to_text(config.balances[i].second)});
    balances.print(out);
    if (shown < config.balances.size())
        out << "and " << config.balances.size() - shown << " more: -o json has all\n";
    out << '\n';
    const auto changed = changed_parameters(config);
    if (changed.empty()) {
        out << "every parameter has its default\n\n";
        return;
    }
    TextTable parameters({{"not the default"}, {"value", Align::kRight}, {"default", Align::kRight}});
    for (const ChangedParameter& one : changed)
        parameters.row({one.name, std::to_string(one.value), std::to_string(one.standard)});
    parameters.print(out);
    out << '\n';
}

}  // namespace

base::Outcome<ReadGenesis> check_genesis(ledger::Genesis genesis) {
    contracts::MemoryState state;
    if (const auto taken = ledger::rules_machine().genesis(state, genesis); !taken.ok()) {
        const base::Error& why = taken.error();
        return fail(why.kind, why.what,
                    why.kind == ErrorKind::kUsage ? "make a genesis of which the rules take every value"
                                                  : "copy the network's genesis file again");
    }
    auto config = base::decode<contracts::GenesisConfig>(genesis.rules);
    if (!config) return fail(ErrorKind::kVerification, "genesis: its configuration is not canonical");
    return ReadGenesis{std::move(genesis), std::move(*config)};
}

void report_genesis(const Context& context, const std::string& file, const ReadGenesis& read) {
    if (context.json()) return print_genesis_json(context, file, read);
    const contracts::GenesisConfig& config = read.config;
    const std::uint64_t interval = read.genesis.block_interval_ms;
    print_fields(context.out,
                 {{"file", file},
                  {"version", std::to_string(read.genesis.version)},
                  {"chain", config.chain_id},
                  {"block interval", std::to_string(interval) + " ms"},
                  {"pay is held for", least_time(config.params.claim_window, interval)},
                  {"owners of verifiers", std::to_string(config.params.panel_owners_least) + " at least"},
                  {"supply", base::to_text(supply_of(config)) + " of " +
                                 std::to_string(config.balances.size()) + " owner(s)"}});
    context.out << '\n';
    print_tables(context.out, config);
    print_fields(context.out, {{"hash", read.genesis.hash().hex()}});
}

}  // namespace assay::node
