// SPDX-License-Identifier: Apache-2.0
// assay job list|show
#include <CLI/CLI.hpp>
#include <cstdio>
#include <ostream>

#include "node/audit/job_plan.hpp"
#include "node/cli/block_time.hpp"
#include "node/cli/commands.hpp"
#include "node/cli/commands/plan_forecast.hpp"
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

/// The longest game about a step of a job that is on the ledger.
struct LongestDispute {
    PlannedDispute planned;
    std::optional<double> hours;  ///< at the pace of the last blocks

    template <class Visit>
    void fields(Visit& visit) const {
        planned.fields(visit);
        visit("hours", hours);
    }
};

LongestDispute longest_dispute(const ChainSource& chain, const contracts::Job& job,
                               const std::optional<double>& pace) {
    const base::Amount cap = job.spec.market.max_price;
    const base::Amount price = job.auction.clearing_price.is_zero() ? cap : job.auction.clearing_price;
    LongestDispute found{
        plan_dispute(job.spec, contracts::params_of(*chain.state, job), price, job.slot_work), std::nullopt};
    found.hours = hours_of(found.planned.heights, pace);
    return found;
}

std::vector<DisputeRow> disputes_of(const ChainSource& chain, const contracts::Job& job, bool times) {
    std::vector<DisputeRow> rows;
    for (const contracts::Game& listed : contracts::list_games(*chain.state, job.id)) {
        // With what was posted, which says whose turn it is.
        const auto game = contracts::read_game(*chain.state, job.id, listed.number);
        if (game)
            rows.push_back(
                dispute_row(*chain.state, job, *game, dispute_sources(chain, job.id, *game, times)));
    }
    return rows;
}

std::string longest_text(const LongestDispute& longest) {
    char text[160];
    std::snprintf(text, sizeof text, "%llu moves, %.1f MiB posted, at most %llu blocks",
                  static_cast<unsigned long long>(longest.planned.moves),
                  static_cast<double>(longest.planned.bytes) / (1024.0 * 1024.0),
                  static_cast<unsigned long long>(longest.planned.heights));
    std::string out = text;
    if (longest.hours) {
        std::snprintf(text, sizeof text, ", %.2g hours at the pace of the last blocks", *longest.hours);
        out += text;
    }
    return out + "; a challenge locks " + base::to_text(longest.planned.bond);
}

void print_slots(const Context& context, const JobView& job) {
    TextTable slots({{"round", Align::kRight},
                     {"slot", Align::kRight},
                     {"miner"},
                     {"price", Align::kRight},
                     {"verdict"},
                     {"served"},
                     {"stored"}});
    for (const SlotView& slot : job.slot_rounds)
        slots.row({std::to_string(slot.round), std::to_string(slot.slot), slot.miner.brief(),
                   base::to_text(slot.price), std::string(to_text(slot.verdict)), slot.served ? "yes" : "no",
                   slot.stored ? "yes" : "no"});
    context.out << '\n';
    slots.print(context.out);
}

void print_enlisted(const Context& context, const JobView& job) {
    if (job.enlisted.empty()) {
        context.out << "\nverifiers: none has enlisted\n";
        return;
    }
    TextTable table(
        {{"verifier"}, {"owner"}, {"locked", Align::kRight}, {"misses", Align::kRight}, {"state"}});
    for (const EnlistedView& one : job.enlisted)
        table.row({one.verifier.brief(), one.owner.brief(), base::to_text(one.locked),
                   std::to_string(one.missed) + " of " + std::to_string(job.missed_most),
                   one.dropped ? "dropped" : "enlisted"});
    context.out << '\n';
    table.print(context.out);
}

void print_leases(const Context& context, const JobView& job) {
    if (job.machines_least == 0) return;
    context.out << "\nmachines: " << job.machines_least << " to " << job.machines_most << " at once\n";
    TextTable leases(
        {{"leased"}, {"price", Align::kRight}, {"from", Align::kRight}, {"until", Align::kRight}});
    for (const LeaseView& lease : job.leases)
        leases.row({lease.miner.brief(), base::to_text(lease.price), std::to_string(lease.from),
                    std::to_string(lease.until)});
    leases.print(context.out);
}

void print_merged(const Context& context, const JobView& job) {
    if (job.merged_rounds.empty()) return;
    TextTable merged({{"round", Align::kRight},
                      {"slots", Align::kRight},
                      {"held-out", Align::kRight},
                      {"beacon"},
                      {"state root"}});
    for (const MergedRound& round : job.merged_rounds)
        merged.row({std::to_string(round.round), std::to_string(round.slots),
                    std::to_string(round.held_out_loss), round.beacon.hex(), round.base_root.brief()});
    context.out << '\n';
    merged.print(context.out);
}

void print_disputes(const Context& context, const std::vector<DisputeRow>& rows) {
    if (rows.empty()) return;
    TextTable table({{"dispute", Align::kRight},
                     {"challenger"},
                     {"claimant"},
                     {"moves", Align::kRight},
                     {"stands"},
                     {"about"}});
    for (const DisputeRow& row : rows) {
        std::string stands = row.phase == contracts::GamePhase::kEnded ? std::string(to_text(row.end))
                                                                       : std::string(to_text(row.phase));
        if (row.loser) stands += *row.loser == row.claimant ? ", claimant lost" : ", challenger lost";
        if (row.turn) stands = *row.turn == row.claimant ? "claimant to move" : "challenger to move";
        if (row.heights_left) stands += ", " + std::to_string(*row.heights_left) + " heights left";
        std::string about = row.words;
        if (row.claimed) about += ": claimed " + *row.claimed + ", the operands give " + *row.computed;
        table.row({row.id.substr(row.id.find('/') + 1), row.challenger.brief(), row.claimant.brief(),
                   std::to_string(row.moves), stands, about});
    }
    context.out << '\n';
    table.print(context.out);
}

/// The time until no further round begins.
struct DeadlineView {
    std::uint64_t height = 0;                  ///< of the state
    std::optional<std::uint64_t> blocks_left;  ///< nothing for a job that is over
    std::optional<double> hours_left;          ///< at the pace of the last blocks
};

DeadlineView deadline_view(const ChainSource& chain, const JobView& job, const std::optional<double>& pace) {
    DeadlineView view{.height = chain.height, .blocks_left = {}, .hours_left = {}};
    if (contracts::is_over(job.summary.phase)) return view;
    view.blocks_left = blocks_to(chain.height, job.deadline);
    view.hours_left = hours_of(*view.blocks_left, pace);
    return view;
}

std::string deadline_text(const JobView& job, const DeadlineView& view, const std::optional<double>& pace) {
    const std::string text = "block " + std::to_string(job.deadline);
    if (!view.blocks_left) return text;
    return text + (*view.blocks_left == 0 ? ", passed" : ", in " + blocks_text(*view.blocks_left, pace));
}

std::string budget_text(const JobView& job) {
    if (job.topped_up.is_zero()) return base::to_text(job.budget);
    return base::to_text(job.budget) + " and " + base::to_text(job.topped_up) + " topped up";
}

std::string runway_text(const RunwayView& runway) {
    return runway.text() + (runway.is_low() ? "; low: top up with assay job topup" : "");
}

Outcome<void> show_job(const Context& context, const JobFlags& flags) {
    ASSAY_ASSIGN(const ChainSource chain,
                 open_chain(context, flags.offline ? StateFrom::kFiles : StateFrom::kNode));
    ASSAY_ASSIGN(const contracts::Job found, find_job(*chain.state, flags.job));
    const JobView job = job_view(*chain.state, found);
    const auto pace = block_pace_ms(chain);
    const LongestDispute longest = longest_dispute(chain, found, pace);
    const DeadlineView deadline = deadline_view(chain, job, pace);
    const PlannedKeeping keeping = plan_keeping(found.spec, contracts::params_of(*chain.state, found));
    const std::vector<DisputeRow> disputes = disputes_of(chain, found, context.json());
    ASSAY_ASSIGN(const auto outcome, prediction_outcome(context.home(), *chain.state, found));
    if (context.json()) {
        Json body = json_of(job);
        body["height"] = deadline.height;
        body["blocks_left"] = json_of(deadline.blocks_left);
        body["hours_left"] = json_of(deadline.hours_left);
        body["kept_bytes"] = json_of(keeping);
        body["longest_dispute"] = json_of(longest);
        body["disputes"] = json_of(disputes);
        body["prediction"] = json_of(outcome);
        context.print_json("assay.job.show/v1", body);
        return {};
    }
    std::vector<std::pair<std::string, std::string>> fields = {
        {"job", job.summary.id.hex()},
        {"name", job.summary.name},
        {"buyer", job.member ? job.buyer.hex() + ", for its member " + job.member->hex() : job.buyer.hex()},
        {"at", "block " + std::to_string(deadline.height)},
        {"deadline", deadline_text(job, deadline, pace)},
        {"phase", std::string(job.summary.state())},
        {"rounds", rounds_text(job.summary)},
        {"slots", std::to_string(job.slots)},
        {"started from",
         job.initial_blob ? "weights " + job.initial_blob->brief() : "seed " + std::to_string(job.seed)},
        {"price a work unit", base::to_text(job.clearing_price)},
        {"fee", base::to_text(job.fee)},
        {"link bond", base::to_text(job.link_bond)},
        {"budget", budget_text(job)},
        {"escrow", base::to_text(job.summary.escrow)},
        {"runway", job.runway ? runway_text(*job.runway) : "none: the job is over"},
        {"spent", base::to_text(job.summary.spent)},
        {"refunded", base::to_text(job.summary.refunded)},
        {"longest dispute", longest_text(longest)},
        {"kept bytes", keeping.text()},
        {"model root", job.base_root.hex()}};
    if (outcome) {
        const auto compared = outcome_fields(*outcome);
        fields.insert(fields.end(), compared.begin(), compared.end());
    }
    print_fields(context.out, fields);
    context.out << '\n';
    TextTable table({{"miner"}, {"ask", Align::kRight}, {"state"}});
    for (const RosterView& entry : job.roster)
        table.row({entry.miner.brief(), base::to_text(entry.ask),
                   entry.dropped ? std::string(to_text(entry.dropped_for)) : "working"});
    table.print(context.out);
    print_enlisted(context, job);
    print_leases(context, job);
    print_slots(context, job);
    print_merged(context, job);
    print_disputes(context, disputes);
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
