// SPDX-License-Identifier: Apache-2.0
// assay job why, assay market why
#include <CLI/CLI.hpp>
#include <ostream>

#include "node/audit/step_memory.hpp"
#include "node/cli/commands.hpp"
#include "node/cli/commands/clearing_lines.hpp"
#include "node/cli/state_source.hpp"
#include "node/cli/table.hpp"
#include "node/views/json.hpp"
#include "node/views/market_outlook.hpp"

namespace assay::node {
namespace {

using base::Outcome;

struct WhyFlags {
    std::string job;
    bool offline = false;
    ClearingFlags clearings;
};

/// What stands in the way now, and what came of past clearings; null: those were not gone through.
struct JobWhy {
    JobOutlook outlook;
    std::optional<std::vector<BidWhy>> bids;
    std::optional<std::vector<WaitWhy>> waits;

    template <class Visit>
    void fields(Visit& visit) const {
        outlook.fields(visit);
        visit("bids", bids);
        visit("waits", waits);
    }
};

void print_why(std::ostream& out, const JobWhy& why) {
    const JobOutlook& look = why.outlook;
    std::vector<std::pair<std::string, std::string>> fields = {
        {"job", look.job.hex()}, {"name", look.name}, {"phase", look.phase}};
    if (look.gang > 0) {
        fields.emplace_back("lots", "leases " + std::to_string(look.leased) + ", works with " +
                                        std::to_string(look.gang) + " to " + std::to_string(look.most) +
                                        "; of the next epoch it has " + std::to_string(look.leased_next));
    }
    for (const Obstacle& one : look.obstacles) fields.emplace_back(one.token, one.text);
    if (look.obstacles.empty()) fields.emplace_back("obstacles", "none");
    if (look.wait) fields.emplace_back("wait", look.wait->text());
    print_fields(out, fields);
    if (!why.bids) return;
    out << "\nclearings:\n";
    for (const BidWhy& bid : *why.bids) out << "  " << bid.text() << '\n';
    for (const WaitWhy& wait : *why.waits) out << "  " << wait.text() << '\n';
    if (why.bids->empty() && why.waits->empty()) out << "  (none in which it bid or waited)\n";
}

Outcome<void> why_job(const Context& context, const WhyFlags& flags) {
    ASSAY_ASSIGN(const ChainSource chain,
                 open_chain(context, flags.offline ? StateFrom::kFiles : StateFrom::kNode));
    ASSAY_ASSIGN(const contracts::Job job, find_job(*chain.state, flags.job));
    JobWhy why{job_outlook(*chain.state, chain.height, job, least_step_bytes), {}, {}};
    std::vector<BidWhy> bids;
    std::vector<WaitWhy> waits;
    const auto see = [&](const ClearedMarket& market) {
        if (auto bid = market.why_bid(job.id)) bids.push_back(*std::move(bid));
        if (auto wait = market.why_wait(job.id)) waits.push_back(*std::move(wait));
    };
    if (job.leases()) {
        ASSAY_ASSIGN(const bool found, find_clearings(context, chain, flags.clearings, see));
        if (found) {
            why.bids = std::move(bids);
            why.waits = std::move(waits);
        }
    }
    if (context.json()) {
        context.print_json("assay.job.why/v1", json_of(why));
    } else {
        print_why(context.out, why);
    }
    return {};
}

}  // namespace

void add_job_why_command(CLI::App& app, Context& context) {
    const auto flags = std::make_shared<WhyFlags>();
    // The same question to the job and to the market; a machine's is `miner why`.
    for (CLI::App* const asked :
         {&noun(app, "job", "Jobs: submit, follow, fetch, cancel"),
          &noun(app, "market", "The market between jobs: lots of machines for an epoch")}) {
        CLI::App& why = verb(*asked, "why",
                             "Why a job lacks machines, and at which price each of its bids would have won",
                             context, [&context, flags] { return why_job(context, *flags); });
        why.add_option("job", flags->job, "Id, a beginning of it, or the name")->required();
        why.add_flag("--offline", flags->offline, "Read the home's ledger files instead of asking a node");
        add_clearing_flags(why, flags->clearings);
    }
}

}  // namespace assay::node
