// SPDX-License-Identifier: Apache-2.0
#include "node/cli/commands/sim_market.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ostream>

#include "node/cli/commands/plan_text.hpp"
#include "node/cli/table.hpp"
#include "node/sim/epochs/world.hpp"
#include "node/views/json.hpp"

namespace assay::node {
namespace {

using base::Outcome;

struct MarketReport {
    std::uint64_t seed = 0;
    std::vector<sim::EpochsRow> rows;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("seed", seed);
        visit("rows", rows);
    }
};

/// The named scenarios in the order of the report.
Outcome<std::vector<const sim::MarketScenario*>> chosen_scenarios(const std::vector<std::string>& names) {
    std::string known = "all";
    for (const sim::MarketScenario& one : sim::market_scenarios()) known += ", " + std::string(one.name);
    for (const std::string& name : names) {
        if (name != "all" && sim::find_market_scenario(name) == nullptr)
            return base::fail(base::ErrorKind::kUsage, "there is no scenario '" + name + "'",
                              "scenarios are: " + known);
    }
    std::vector<const sim::MarketScenario*> found;
    for (const sim::MarketScenario& one : sim::market_scenarios()) {
        const bool named = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
            return name == "all" || name == one.name;
        });
        if (named) found.push_back(&one);
    }
    return found;
}

void print_rows(std::ostream& out, const std::vector<sim::EpochsRow>& rows) {
    TextTable table({{"scenario"},
                     {"seed", Align::kRight},
                     {"clearing ms", Align::kRight},
                     {"epoch ms", Align::kRight},
                     {"welfare", Align::kRight},
                     {"revenue", Align::kRight},
                     {"price sd", Align::kRight},
                     {"Jain", Align::kRight},
                     {"starved", Align::kRight},
                     {"transactions", Align::kRight},
                     {"gain", Align::kRight}});
    for (const sim::EpochsRow& row : rows)
        table.row({row.scenario, std::to_string(row.seed), formatted(row.clearing_ms, "%.1f"),
                   formatted(row.epoch_ms, "%.0f"), formatted(row.welfare_ratio, "%.4f"),
                   formatted(row.revenue, "%.3f"), formatted(row.price_sd, "%.3f"),
                   formatted(row.jain, "%.3f"), std::to_string(row.starved), std::to_string(row.transactions),
                   formatted(row.gain, "%.4f")});
    table.print(out);
}

}  // namespace

void add_sim_market_flags(CLI::App& verb, SimMarketFlags& flags) {
    verb.add_option("--scenarios", flags.scenarios, "Of a market: names, separated by commas, or: all")
        ->delimiter(',')
        ->capture_default_str();
    verb.add_option("--miners", flags.size.miners, "Of a market: machines")
        ->check(CLI::Range(1U, 100'000U))
        ->capture_default_str();
    verb.add_option("--jobs", flags.size.jobs, "Of a market: jobs, over all epochs")
        ->check(CLI::Range(1U, 10'000U))
        ->capture_default_str();
    verb.add_option("--epochs", flags.size.epochs, "Of a market: epochs")
        ->check(CLI::Range(1U, 10'000U))
        ->capture_default_str();
}

Outcome<void> run_sim_market(const Context& context, const SimMarketFlags& flags) {
    ASSAY_ASSIGN(const auto scenarios, chosen_scenarios(flags.scenarios));
    MarketReport report{.seed = flags.seed, .rows = {}};
    for (const sim::MarketScenario* scenario : scenarios) {
        for (std::uint32_t i = 0; i < flags.seeds; ++i) {
            ASSAY_ASSIGN(sim::EpochsRow row, sim::play_market(*scenario, flags.size, flags.seed + i));
            context.err << row.scenario << " played with seed " << row.seed << std::endl;
            report.rows.push_back(std::move(row));
        }
    }
    if (context.json()) {
        context.print_json("assay.sim.market/v1", json_of(report));
    } else {
        print_rows(context.out, report.rows);
    }
    return {};
}

}  // namespace assay::node
