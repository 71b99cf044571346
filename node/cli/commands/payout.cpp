// SPDX-License-Identifier: Apache-2.0
// assay payout explain
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <ostream>

#include "node/cli/commands.hpp"
#include "node/cli/commands/settlement_lines.hpp"
#include "node/cli/table.hpp"

namespace assay::node {

std::vector<contracts::SettlementLine> find_lines(const contracts::StateView& state,
                                                  const LineFilter& filter) {
    std::vector<contracts::SettlementLine> lines;
    for (const contracts::Job& job : contracts::list_jobs(state)) {
        const std::uint32_t first = filter.round.value_or(0);
        const std::uint32_t last = filter.round.value_or(job.spec.rounds - 1);
        for (std::uint32_t round = first; round <= last && round < job.spec.rounds; ++round)
            for (const auto& line : contracts::list_settlement(state, job.id, round)) {
                const bool unpaid = line.paid.is_zero() || !line.lost.is_zero();
                if (line.node == filter.node && (unpaid || !filter.unpaid_only)) lines.push_back(line);
            }
    }
    return lines;
}

void print_lines(const Context& context, const std::string& schema,
                 const std::vector<contracts::SettlementLine>& lines) {
    if (context.json()) {
        nlohmann::ordered_json list = nlohmann::ordered_json::array();
        for (const auto& line : lines) {
            nlohmann::ordered_json entry;
            entry["job"] = line.job.hex();
            entry["round"] = line.round;
            entry["kind"] = std::string(contracts::to_text(line.kind));
            entry["slot"] = line.slot;
            entry["reason"] = std::string(contracts::to_text(line.reason));
            entry["explanation"] = std::string(contracts::explain(line.reason));
            entry["work_units"] = line.work_units;
            entry["price"] = std::to_string(line.price.units());
            entry["paid"] = std::to_string(line.paid.units());
            entry["from_escrow"] = std::to_string(line.from_escrow.units());
            entry["from_prepaid"] = std::to_string(line.from_prepaid.units());
            entry["share"] = std::to_string(line.share.units());
            entry["lost"] = std::to_string(line.lost.units());
            list.push_back(entry);
        }
        nlohmann::ordered_json body;
        body["lines"] = list;
        context.print_json(schema, body);
        return;
    }
    Table table({{"job"},
                 {"round", Align::kRight},
                 {"for"},
                 {"slot", Align::kRight},
                 {"work", Align::kRight},
                 {"price", Align::kRight},
                 {"paid", Align::kRight},
                 {"lost", Align::kRight},
                 {"why"}});
    for (const auto& line : lines)
        table.row({line.job.brief(), std::to_string(line.round), std::string(contracts::to_text(line.kind)),
                   std::to_string(line.slot), std::to_string(line.work_units), base::to_text(line.price),
                   base::to_text(line.paid), base::to_text(line.lost),
                   std::string(contracts::explain(line.reason))});
    table.print(context.out);
}

namespace {

struct ExplainFlags {
    std::string miner;
    std::uint32_t round = 0;
    bool offline = false;
};

base::Outcome<void> explain_payout(const Context& context, const ExplainFlags& flags) {
    ASSAY_ASSIGN(const auto state, open_state(context, flags.offline ? StateFrom::kFiles : StateFrom::kNode));
    LineFilter filter;
    ASSAY_ASSIGN(filter.node, find_miner(*state, flags.miner));
    filter.round = flags.round;
    const auto lines = find_lines(*state, filter);
    if (lines.empty())
        return base::fail(base::ErrorKind::kNotFound,
                          "nothing was settled for miner " + filter.node.brief() + " in round " +
                              std::to_string(flags.round),
                          "rounds count from 0; see: assay miner why");
    print_lines(context, "assay.payout.explain/v1", lines);
    return {};
}

}  // namespace

void add_payout_commands(CLI::App& app, Context& context) {
    CLI::App& payout = noun(app, "payout", "Payments and the rules behind them");
    const auto flags = std::make_shared<ExplainFlags>();
    CLI::App& explained = verb(payout, "explain", "What a miner got for a round, and why", context,
                               [&context, flags] { return explain_payout(context, *flags); });
    explained.add_option("--miner", flags->miner, "Node key, or a beginning of it")->required();
    explained.add_option("--round", flags->round, "Round, from 0")->required();
    explained.add_flag("--offline", flags->offline, "Read the home's ledger files instead of asking a node");
}

}  // namespace assay::node
