// SPDX-License-Identifier: Apache-2.0
// assay miner earnings
#include <CLI/CLI.hpp>
#include <ostream>

#include "node/cli/commands.hpp"
#include "node/cli/commands/earnings_flags.hpp"
#include "node/cli/csv.hpp"
#include "node/cli/table.hpp"
#include "node/roles/miner_power.hpp"
#include "node/runtime/ledger_link.hpp"
#include "node/views/earnings_view.hpp"

namespace assay::node {
namespace {

using base::Outcome;

/// Of the home's own miner what its power cost, at the pace that it measured.
Outcome<void> add_power(const Context& context, const base::PublicKey& miner, EarningsSources& sources) {
    const auto own = inspect_key_file(context.home().node_key());
    if (!own.ok() || own->public_key != miner) return {};
    ASSAY_ASSIGN(const auto notes, make_disk_port(context.home().jobs()));
    ASSAY_ASSIGN(MinerPace pace, read_pace(*notes));
    if (!pace.power) return {};
    sources.power = [pace = std::move(pace)](const contracts::Job& job, std::uint64_t units) {
        return power_cost(*pace.power, pace_for(pace, job), units);
    };
    return {};
}

std::vector<std::string> cells(const EarningsRow& row, std::string (*money)(base::Amount)) {
    return {row.day,
            row.job ? row.job->hex() : "",
            row.round ? std::to_string(*row.round) : "",
            std::to_string(row.slots),
            std::to_string(row.work_units),
            money(row.earned),
            money(row.held),
            money(row.returned),
            money(row.lost),
            row.power_cost ? money(*row.power_cost) : ""};
}

void print_csv(std::ostream& out, const Earnings& earnings) {
    print_csv_record(out, {"day", "job", "round", "slots", "work_units", "earned", "held", "returned", "lost",
                           "power_cost"});
    for (const EarningsRow& row : earnings.rows) print_csv_record(out, cells(row, csv_amount));
}

void print_table(std::ostream& out, const Earnings& earnings) {
    TextTable table({{"day"},
                     {"job"},
                     {"round", Align::kRight},
                     {"slots", Align::kRight},
                     {"work", Align::kRight},
                     {"earned", Align::kRight},
                     {"held", Align::kRight},
                     {"returned", Align::kRight},
                     {"lost", Align::kRight},
                     {"power", Align::kRight}});
    const auto add = [&](const EarningsRow& row, const std::string& name) {
        std::vector<std::string> line = cells(row, base::to_text);
        line[1] = row.job ? row.job->brief() : name;
        table.row(std::move(line));
    };
    for (const EarningsRow& row : earnings.rows) add(row, "");
    add(earnings.total, "in all");
    table.print(out);
}

Outcome<void> show_miner_earnings(const Context& context, const EarningsFlags& flags) {
    ASSAY_ASSIGN(const ChainSource chain, open_chain(context, flags.from()));
    ASSAY_ASSIGN(const base::PublicKey miner, party_of(context, *chain.state, WorkRole::kMiner, flags));
    EarningsSources sources;
    ASSAY_TRY(add_power(context, miner, sources));
    const EarningsBy by = flags.rows();
    if (by == EarningsBy::kDay) sources.day_of = days_of(chain);
    ASSAY_ASSIGN(const Earnings earnings, miner_earnings(*chain.state, miner, by, sources));
    if (context.json()) {
        context.print_json("assay.miner.earnings/v1", json_of(earnings));
    } else if (context.csv()) {
        print_csv(context.out, earnings);
    } else {
        print_table(context.out, earnings);
    }
    if (!earnings.complete()) {
        context.err
            << "The ledger counts " << base::to_text(earnings.ledger_earned) << " earned and "
            << base::to_text(earnings.ledger_forfeited)
            << " lost. Deposits of lots that were burned in the market belong to no job and stand in no row; "
               "rounds of jobs that the history at hand does not hold are missing as well.\n";
    }
    return {};
}

}  // namespace

void add_miner_earnings(CLI::App& app, Context& context) {
    const auto flags = std::make_shared<EarningsFlags>();
    CLI::App& shown =
        verb(noun(app, "miner", "Work for pay: train slots of jobs"), "earnings",
             "What a miner's work came to: work, pay, what windows hold, what it lost, what its power cost",
             context, [&context, flags] { return show_miner_earnings(context, *flags); });
    add_earnings_flags(shown, context, *flags);
}

}  // namespace assay::node
