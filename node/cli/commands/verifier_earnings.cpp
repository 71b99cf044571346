// SPDX-License-Identifier: Apache-2.0
// assay verifier earnings
#include <CLI/CLI.hpp>
#include <ostream>

#include "node/cli/commands.hpp"
#include "node/cli/commands/earnings_flags.hpp"
#include "node/cli/csv.hpp"
#include "node/cli/table.hpp"
#include "node/views/verifier_earnings.hpp"

namespace assay::node {
namespace {

using base::Outcome;

std::vector<std::string> verifier_cells(const VerifierEarningsRow& row, std::string (*money)(base::Amount)) {
    return {row.day,
            row.job ? row.job->hex() : "",
            row.round ? std::to_string(*row.round) : "",
            std::to_string(row.audits),
            std::to_string(row.merges),
            std::to_string(row.work_units),
            money(row.earned),
            money(row.held),
            money(row.returned),
            money(row.won),
            money(row.lost),
            money(row.lost_bonds)};
}

void print_verifier_csv(std::ostream& out, const VerifierEarnings& earnings) {
    print_csv_record(out, {"day", "job", "round", "audits", "merges", "work_units", "earned", "held",
                           "returned", "won", "lost", "lost_bonds"});
    for (const VerifierEarningsRow& row : earnings.rows)
        print_csv_record(out, verifier_cells(row, csv_amount));
}

void print_verifier_table(std::ostream& out, const VerifierEarnings& earnings) {
    TextTable table({{"day"},
                     {"job"},
                     {"round", Align::kRight},
                     {"audits", Align::kRight},
                     {"merges", Align::kRight},
                     {"work", Align::kRight},
                     {"earned", Align::kRight},
                     {"held", Align::kRight},
                     {"returned", Align::kRight},
                     {"won", Align::kRight},
                     {"lost", Align::kRight},
                     {"lost bonds", Align::kRight}});
    const auto add = [&](const VerifierEarningsRow& row, const std::string& name) {
        std::vector<std::string> line = verifier_cells(row, base::to_text);
        line[1] = row.job ? row.job->brief() : name;
        table.row(std::move(line));
    };
    for (const VerifierEarningsRow& row : earnings.rows) add(row, "");
    add(earnings.total, "in all");
    table.print(out);
}

Outcome<void> show_verifier_earnings(const Context& context, const EarningsFlags& flags) {
    ASSAY_ASSIGN(const ChainSource chain, open_chain(context, flags.from()));
    ASSAY_ASSIGN(const base::PublicKey key, party_of(context, *chain.state, WorkRole::kVerifier, flags));
    const EarningsBy by = flags.rows();
    DayOf day_of;
    if (by == EarningsBy::kDay) day_of = days_of(chain);
    ASSAY_ASSIGN(const VerifierEarnings earnings, verifier_earnings(*chain.state, key, by, day_of));
    if (context.json()) {
        context.print_json("assay.verifier.earnings/v1", json_of(earnings));
    } else if (context.csv()) {
        print_verifier_csv(context.out, earnings);
    } else {
        print_verifier_table(context.out, earnings);
    }
    if (!earnings.complete()) {
        context.err
            << "The ledger counts " << base::to_text(earnings.ledger_earned) << " earned and "
            << base::to_text(earnings.ledger_penalised)
            << " lost. Missing are rounds of jobs that the history at hand does not hold, and fees of "
               "an accusation of which the ledger keeps only the sum for several accusers.\n";
    }
    return {};
}

}  // namespace

void add_verifier_earnings(CLI::App& app, Context& context) {
    const auto flags = std::make_shared<EarningsFlags>();
    CLI::App& shown =
        verb(noun(app, "verifier", "Check for pay: recompute what was drawn"), "earnings",
             "What a verifier's work came to: audits, merges, pay, what windows hold, what games "
             "brought and took, what it lost",
             context, [&context, flags] { return show_verifier_earnings(context, *flags); });
    add_earnings_flags(shown, context, *flags);
}

}  // namespace assay::node
