// SPDX-License-Identifier: Apache-2.0
// assay job list|show
#include <CLI/CLI.hpp>
#include <ostream>

#include "node/cli/commands.hpp"
#include "node/cli/state_source.hpp"
#include "node/cli/table.hpp"
#include "node/views/job_view.hpp"
#include "node/views/json.hpp"

namespace assay::node {
namespace {

using base::Outcome;

struct JobFlags {
    std::string job;
    bool offline = false;
};

std::string rounds_text(const JobSummary& job) {
    return std::to_string(job.rounds_done) + "/" + std::to_string(job.rounds);
}

Outcome<void> list_jobs(const Context& context, const JobFlags& flags) {
    ASSAY_ASSIGN(const auto state, open_state(context, flags.offline ? StateFrom::kFiles : StateFrom::kNode));
    const JobList list = jobs_of(*state);
    if (context.json()) {
        context.print_json("assay.job.list/v1", json_of(list));
        return {};
    }
    TextTable table({{"job"},
                     {"name"},
                     {"phase"},
                     {"rounds", Align::kRight},
                     {"escrow", Align::kRight},
                     {"spent", Align::kRight}});
    for (const JobSummary& job : list.jobs)
        table.row({job.id.brief(), job.name, std::string(job.state()), rounds_text(job),
                   base::to_text(job.escrow), base::to_text(job.spent)});
    table.print(context.out);
    return {};
}

Outcome<void> show_job(const Context& context, const JobFlags& flags) {
    ASSAY_ASSIGN(const auto state, open_state(context, flags.offline ? StateFrom::kFiles : StateFrom::kNode));
    ASSAY_ASSIGN(const contracts::Job found, find_job(*state, flags.job));
    const JobView job = job_view(*state, found);
    if (context.json()) {
        context.print_json("assay.job.show/v1", json_of(job));
        return {};
    }
    print_fields(context.out, {{"job", job.summary.id.hex()},
                               {"name", job.summary.name},
                               {"buyer", job.buyer.hex()},
                               {"phase", std::string(job.summary.state())},
                               {"rounds", rounds_text(job.summary)},
                               {"slots", std::to_string(job.slots)},
                               {"started from", job.initial_blob ? "weights " + job.initial_blob->brief()
                                                                 : "seed " + std::to_string(job.seed)},
                               {"price a work unit", base::to_text(job.clearing_price)},
                               {"fee", base::to_text(job.fee)},
                               {"link bond", base::to_text(job.link_bond)},
                               {"escrow", base::to_text(job.summary.escrow)},
                               {"spent", base::to_text(job.summary.spent)},
                               {"refunded", base::to_text(job.summary.refunded)},
                               {"model root", job.base_root.hex()}});
    context.out << '\n';
    TextTable table({{"miner"}, {"ask", Align::kRight}, {"state"}});
    for (const RosterView& entry : job.roster)
        table.row({entry.miner.brief(), base::to_text(entry.ask),
                   entry.dropped ? std::string(to_text(entry.dropped_for)) : "working"});
    table.print(context.out);
    context.out << '\n';
    TextTable slots(
        {{"round", Align::kRight}, {"slot", Align::kRight}, {"miner"}, {"verdict"}, {"served"}, {"stored"}});
    for (const SlotView& slot : job.slot_rounds)
        slots.row({std::to_string(slot.round), std::to_string(slot.slot), slot.miner.brief(),
                   std::string(to_text(slot.verdict)), slot.served ? "yes" : "no",
                   slot.stored ? "yes" : "no"});
    slots.print(context.out);
    if (job.merged_rounds.empty()) return {};
    context.out << '\n';
    TextTable merged({{"round", Align::kRight},
                      {"slots", Align::kRight},
                      {"held-out", Align::kRight},
                      {"beacon"},
                      {"state root"}});
    for (const MergedRound& round : job.merged_rounds)
        merged.row({std::to_string(round.round), std::to_string(round.slots),
                    std::to_string(round.held_out_loss), round.beacon.hex(), round.base_root.brief()});
    merged.print(context.out);
    return {};
}

}  // namespace

void add_job_queries(CLI::App& app, Context& context) {
    CLI::App& job = noun(app, "job", "Jobs: submit, follow, fetch, cancel");
    const auto flags = std::make_shared<JobFlags>();
    CLI::App& listed = verb(job, "list", "Every job on the ledger", context,
                            [&context, flags] { return list_jobs(context, *flags); });
    CLI::App& shown = verb(job, "show", "Terms, auction, money and roster of a job", context,
                           [&context, flags] { return show_job(context, *flags); });
    shown.add_option("job", flags->job, "Id, a beginning of it, or the name")->required();
    for (CLI::App* command : {&listed, &shown})
        command->add_flag("--offline", flags->offline,
                          "Read the home's ledger files instead of asking a node");
}

}  // namespace assay::node
