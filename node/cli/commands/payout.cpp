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
    std::string text = line.explanation();
    if (!line.replays.is_zero()) {
        text += " " + base::to_text(line.replays) +
                " of its pay went to verifiers that replayed the slot: its starts were not served.";
    }
    if (!line.returned.is_zero())
        text += " " + base::to_text(line.returned) + " of it went back: the claim lost a game.";
    if (!line.lost_in_games.is_zero())
        text += " " + base::to_text(line.lost_in_games) + " was lost in games.";
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

/// The disputes of the round that concern the miner, of all jobs.
std::vector<DisputeRow> disputes_of(const ChainSource& chain, const LineFilter& filter) {
    std::vector<DisputeRow> rows;
    for (const contracts::Job& job : contracts::list_jobs(*chain.state)) {
        for (const contracts::Game& game : games_of(*chain.state, job.id, *filter.round, filter.node))
            rows.push_back(dispute_row(*chain.state, job, game, dispute_sources(chain, job.id, game, true)));
    }
    return rows;
}

void print_games(const Context& context, const std::vector<DisputeRow>& rows) {
    for (const DisputeRow& row : rows) {
        const std::size_t slash = row.id.find('/');
        context.out << "\ndispute " << row.id.substr(0, 8) << row.id.substr(slash) << ":\n";
        for (const std::string& fact : sentences(row)) context.out << "  " << fact << "\n";
    }
}

struct ExplainFlags {
    std::string miner;
    std::uint32_t round = 0;
    bool offline = false;
};

base::Outcome<void> explain_payout(const Context& context, const ExplainFlags& flags) {
    ASSAY_ASSIGN(const ChainSource chain,
                 open_chain(context, flags.offline ? StateFrom::kFiles : StateFrom::kNode));
    LineFilter filter;
    ASSAY_ASSIGN(filter.node, find_party(*chain.state, flags.miner));
    filter.round = flags.round;
    const PayoutLines found = payout_lines(*chain.state, filter);
    const std::vector<DisputeRow> disputes = disputes_of(chain, filter);
    if (found.lines.empty() && disputes.empty())
        return base::fail(base::ErrorKind::kNotFound,
                          "nothing was settled for node " + filter.node.brief() + " in round " +
                              std::to_string(flags.round),
                          "rounds count from 0; see: assay miner why");
    if (context.json()) {
        Json body = json_of(found);
        body["disputes"] = json_of(disputes);
        context.print_json("assay.payout.explain/v1", body);
        return {};
    }
    print_lines(context, "assay.payout.explain/v1", found);
    print_evidence(context, found);
    print_games(context, disputes);
    return {};
}

}  // namespace

void add_payout_commands(CLI::App& app, Context& context) {
    CLI::App& payout = noun(app, "payout", "Payments and the rules behind them");
    const auto flags = std::make_shared<ExplainFlags>();
    CLI::App& explained =
        verb(payout, "explain", "What a miner or verifier got for a round, what it lost in disputes, and why",
             context, [&context, flags] { return explain_payout(context, *flags); });
    explained.add_option("--miner", flags->miner, "Node key of a miner or verifier, or a beginning of it")
        ->required();
    explained.add_option("--round", flags->round, "Round, from 0")->required();
    explained.add_flag("--offline", flags->offline, "Read the home's ledger files instead of asking a node");
}

}  // namespace assay::node
