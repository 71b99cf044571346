// SPDX-License-Identifier: Apache-2.0
// assay payout explain
#include <CLI/CLI.hpp>
#include <ostream>

#include "node/cli/commands.hpp"
#include "node/cli/commands/settlement_lines.hpp"
#include "node/cli/table.hpp"
#include "node/views/json.hpp"

namespace assay::node {

namespace {

/// The reason in words, and where replays of a slot were paid from it, or paid by it.
std::string why(const PayoutLine& line) {
    std::string text(contracts::explain(line.reason));
    if (!line.replays.is_zero()) {
        text += " " + base::to_text(line.replays) +
                " of its pay went to verifiers that replayed the slot: its starts were not served.";
    }
    if (!line.from_slot.is_zero()) {
        text +=
            " " + base::to_text(line.from_slot) + " of it came from the pay of the slot, which was replayed.";
    }
    return text;
}

}  // namespace

void print_lines(const Context& context, const std::string& schema, const PayoutLines& found) {
    if (context.json()) return context.print_json(schema, json_of(found));
    TextTable table({{"job"},
                     {"round", Align::kRight},
                     {"for"},
                     {"slot", Align::kRight},
                     {"work", Align::kRight},
                     {"price", Align::kRight},
                     {"paid", Align::kRight},
                     {"lost", Align::kRight},
                     {"why"}});
    for (const PayoutLine& line : found.lines)
        table.row({line.job.brief(), std::to_string(line.round), std::string(contracts::to_text(line.kind)),
                   std::to_string(line.slot), std::to_string(line.work_units), base::to_text(line.price),
                   base::to_text(line.paid), base::to_text(line.lost), why(line)});
    table.print(context.out);
}

namespace {

/// Below the table: what on the ledger each line was decided by.
void print_evidence(const Context& context, const PayoutLines& found) {
    for (const PayoutLine& line : found.lines) {
        const std::vector<std::string> facts = sentences(line.evidence);
        if (facts.empty()) continue;
        context.out << "\n" << contracts::to_text(line.kind);
        const bool of_slot =
            line.kind == contracts::LineKind::kSlot || line.kind == contracts::LineKind::kAudit;
        if (of_slot) context.out << " of slot " << line.slot;
        context.out << ", round " << line.round << ", job " << line.job.brief() << ":\n";
        for (const std::string& fact : facts) context.out << "  " << fact << "\n";
    }
}

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
    const PayoutLines found = payout_lines(*state, filter);
    if (found.lines.empty())
        return base::fail(base::ErrorKind::kNotFound,
                          "nothing was settled for miner " + filter.node.brief() + " in round " +
                              std::to_string(flags.round),
                          "rounds count from 0; see: assay miner why");
    print_lines(context, "assay.payout.explain/v1", found);
    if (!context.json()) print_evidence(context, found);
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
