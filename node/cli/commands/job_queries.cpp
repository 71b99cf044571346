// SPDX-License-Identifier: Apache-2.0
// assay job list|show
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <ostream>

#include "node/cli/commands.hpp"
#include "node/cli/state_source.hpp"
#include "node/cli/table.hpp"

namespace assay::node {
namespace {

using base::Outcome;
using contracts::Job;
using Json = nlohmann::ordered_json;

struct JobFlags {
    std::string job;
    bool offline = false;
};

std::string phase_text(const Job& job) {
    if (job.phase == contracts::JobPhase::kEnded) return std::string(contracts::to_text(job.end_reason));
    return std::string(contracts::to_text(job.phase));
}

std::string rounds_text(const Job& job) {
    return std::to_string(job.rounds_done) + "/" + std::to_string(job.spec.rounds);
}

Json summary_json(const Job& job) {
    Json body;
    body["id"] = job.id.hex();
    body["name"] = job.spec.name;
    body["phase"] = std::string(contracts::to_text(job.phase));
    body["end_reason"] = std::string(contracts::to_text(job.end_reason));
    body["rounds_done"] = job.rounds_done;
    body["rounds"] = job.spec.rounds;
    body["escrow"] = std::to_string(job.escrow.units());
    body["spent"] = std::to_string(job.spent.units());
    body["refunded"] = std::to_string(job.refunded.units());
    return body;
}

Outcome<void> list_jobs(const Context& context, const JobFlags& flags) {
    ASSAY_ASSIGN(const auto state, open_state(context, flags.offline ? StateFrom::kFiles : StateFrom::kNode));
    const auto jobs = contracts::list_jobs(*state);
    if (context.json()) {
        Json list = Json::array();
        for (const Job& job : jobs) list.push_back(summary_json(job));
        Json body;
        body["jobs"] = list;
        context.print_json("assay.job.list/v1", body);
        return {};
    }
    Table table({{"job"},
                 {"name"},
                 {"phase"},
                 {"rounds", Align::kRight},
                 {"escrow", Align::kRight},
                 {"spent", Align::kRight}});
    for (const Job& job : jobs)
        table.row({job.id.brief(), job.spec.name, phase_text(job), rounds_text(job),
                   base::to_text(job.escrow), base::to_text(job.spent)});
    table.print(context.out);
    return {};
}

/// Calls visit(round, slot) for every slot of every round that was dealt, in order.
template <class Visit>
void for_each_slot(const contracts::StateView& state, const Job& job, Visit visit) {
    for (std::uint32_t round = 0; round < job.spec.rounds; ++round)
        for (const auto& slot : contracts::list_slots(state, job.id, round)) visit(round, slot);
}

Json detail_json(const contracts::StateView& state, const Job& job) {
    Json body = summary_json(job);
    body["buyer"] = job.buyer.hex();
    body["submitted_at"] = job.submitted_at;
    body["deadline"] = job.deadline;
    body["ended_at"] = job.ended_at;
    body["slots"] = job.spec.slots;
    body["work_units_per_slot_round"] = job.slot_work;
    body["clearing_price"] = std::to_string(job.auction.clearing_price.units());
    body["base_root"] = job.base_root.hex();
    body["initial_blob"] = job.spec.initial_blob.is_zero() ? Json() : Json(job.spec.initial_blob.hex());
    Json roster = Json::array();
    for (const auto& entry : job.roster) {
        Json miner;
        miner["miner"] = entry.node.hex();
        miner["ask"] = std::to_string(entry.ask.units());
        miner["dropped"] = entry.dropped;
        miner["dropped_for"] = std::string(contracts::to_text(entry.dropped_for));
        roster.push_back(miner);
    }
    body["roster"] = roster;
    Json verifiers = Json::array();
    for (const auto& entry : job.verifiers) verifiers.push_back(entry.node.hex());
    body["verifiers"] = verifiers;
    Json slots = Json::array();
    for_each_slot(state, job, [&](std::uint32_t round, const contracts::SlotRound& slot) {
        Json row;
        row["round"] = round;
        row["slot"] = slot.slot;
        row["miner"] = slot.miner.hex();
        row["verdict"] = std::string(contracts::to_text(slot.verdict));
        slots.push_back(row);
    });
    body["slot_rounds"] = slots;
    return body;
}

Outcome<void> show_job(const Context& context, const JobFlags& flags) {
    ASSAY_ASSIGN(const auto state, open_state(context, flags.offline ? StateFrom::kFiles : StateFrom::kNode));
    ASSAY_ASSIGN(const Job job, find_job(*state, flags.job));
    if (context.json()) {
        context.print_json("assay.job.show/v1", detail_json(*state, job));
        return {};
    }
    print_fields(context.out, {{"job", job.id.hex()},
                               {"name", job.spec.name},
                               {"buyer", job.buyer.hex()},
                               {"phase", phase_text(job)},
                               {"rounds", rounds_text(job)},
                               {"slots", std::to_string(job.spec.slots)},
                               {"started from", job.spec.initial_blob.is_zero()
                                                    ? "seed " + std::to_string(job.spec.seed)
                                                    : "weights " + job.spec.initial_blob.brief()},
                               {"price a work unit", base::to_text(job.auction.clearing_price)},
                               {"escrow", base::to_text(job.escrow)},
                               {"spent", base::to_text(job.spent)},
                               {"refunded", base::to_text(job.refunded)},
                               {"model root", job.base_root.hex()}});
    context.out << '\n';
    Table table({{"miner"}, {"ask", Align::kRight}, {"state"}});
    for (const auto& entry : job.roster)
        table.row({entry.node.brief(), base::to_text(entry.ask),
                   entry.dropped ? std::string(contracts::to_text(entry.dropped_for)) : "working"});
    table.print(context.out);
    context.out << '\n';
    Table slots({{"round", Align::kRight}, {"slot", Align::kRight}, {"miner"}, {"verdict"}});
    for_each_slot(*state, job, [&](std::uint32_t round, const contracts::SlotRound& slot) {
        slots.row({std::to_string(round), std::to_string(slot.slot), slot.miner.brief(),
                   std::string(contracts::to_text(slot.verdict))});
    });
    slots.print(context.out);
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
