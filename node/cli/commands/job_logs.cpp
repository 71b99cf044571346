// SPDX-License-Identifier: Apache-2.0
// assay job logs
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <ostream>
#include <system_error>

#include "ledger/audit/evidence.hpp"
#include "node/cli/commands.hpp"
#include "node/cli/reveal_source.hpp"
#include "node/cli/state_source.hpp"
#include "node/cli/table.hpp"
#include "node/processes/role_process.hpp"
#include "node/roles/follower.hpp"
#include "node/views/job_log.hpp"
#include "node/views/json.hpp"

namespace assay::node {
namespace {

using base::Outcome;

struct LogFlags {
    std::string job;
    bool offline = false;
};

struct JobLog {
    base::Hash256 job;
    std::uint64_t height = 0;  ///< of the state that it is read from; 0: the node's newest
    std::vector<RoundLog> rounds;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("job", job);
        visit("height", height);
        visit("rounds", rounds);
    }
};

/// The log of a state; traces of slots are those that the state itself has.
Outcome<JobLog> log_of(const contracts::StateView& state, std::uint64_t height, const std::string& text) {
    ASSAY_ASSIGN(const contracts::Job job, find_job(state, text));
    const TraceOf open_ones = [&](std::uint32_t round,
                                  std::uint32_t slot) -> std::optional<program::TraceRecord> {
        const auto reveal = contracts::read_reveal(state, job.id, round, slot);
        return reveal ? std::optional(reveal->trace) : std::nullopt;
    };
    return JobLog{job.id, height, job_log(state, job, open_ones)};
}

/// What the home has: its blocks, executed again; else what its role has verified. A role keeps no blocks, so
/// that traces of settled rounds are not in its state.
Outcome<JobLog> from_home(const Context& context, const std::string& text) {
    namespace fs = std::filesystem;
    const std::string home = context.home().root.string();
    std::error_code ignored;
    if (ledger::open_blocks(home).ok()) {
        ASSAY_ASSIGN(const ChainSource chain, open_chain(context, StateFrom::kFiles));
        return log_of(*chain.state, chain.height, text);
    }
    const fs::directory_iterator kept(context.home().state(), ignored);
    if (kept == fs::directory_iterator()) {
        return base::fail(
            base::ErrorKind::kNotFound, "the home " + home + " has neither blocks nor a role's state",
            "fetch the blocks: assay ledger fetch --home " + home + " --node HOST:PORT --genesis FILE");
    }
    ASSAY_ASSIGN(const ledger::Genesis genesis, genesis_of(context.home(), std::nullopt));
    const auto store = verified_state_store(context.home());
    ASSAY_ASSIGN(const Follower follower, Follower::open(genesis, *store));
    const contracts::WithHistory state(follower.state(),
                                       [&](base::ByteView key) { return follower.history(key); });
    return log_of(state, follower.height(), text);
}

Outcome<JobLog> from_node(const Context& context, const std::string& text) {
    ASSAY_ASSIGN(const auto state, open_state(context, StateFrom::kNode));
    ASSAY_ASSIGN(const auto ledger, context.ledger());
    ASSAY_ASSIGN(const contracts::Job job, find_job(*state, text));
    std::optional<base::Error> error;
    const TraceOf of_blocks = [&](std::uint32_t round,
                                  std::uint32_t slot) -> std::optional<program::TraceRecord> {
        const auto reveal = reveal_of(*ledger, *state, job.id, round, slot);
        if (!reveal.ok()) error = reveal.error();
        return reveal.ok() && *reveal ? std::optional((*reveal)->trace) : std::nullopt;
    };
    JobLog log{job.id, 0, job_log(*state, job, of_blocks)};
    if (error) return base::failed(*error);
    return log;
}

std::string loss_of_step(float loss) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4f", static_cast<double>(loss));
    return text;
}

std::string losses_text(const SlotLog& slot) {
    if (slot.losses.empty()) return slot.revealed ? "in the blocks" : "not opened";
    return loss_of_step(slot.losses.front()) + " to " + loss_of_step(slot.losses.back()) + " in " +
           std::to_string(slot.losses.size()) + " steps";
}

void print_round(const Context& context, const RoundLog& round) {
    context.out << "round " << round.round << ", blocks " << round.started_at << " to "
                << (round.settled_at == 0 ? std::string("now") : std::to_string(round.settled_at));
    if (round.train_loss) context.out << ", loss " << loss_of_step(*round.train_loss);
    if (round.held_out_loss) context.out << ", held-out " << loss_of_step(*round.held_out_loss);
    context.out << '\n';
    TextTable slots({{"slot", Align::kRight},
                     {"miner"},
                     {"committed", Align::kRight},
                     {"losses"},
                     {"verdict"},
                     {"paid", Align::kRight},
                     {"lost", Align::kRight}});
    for (const SlotLog& slot : round.slots)
        slots.row({std::to_string(slot.slot), slot.miner.brief(),
                   slot.committed_at == 0 ? "-" : std::to_string(slot.committed_at), losses_text(slot),
                   std::string(contracts::to_text(slot.verdict)), base::to_text(slot.paid),
                   base::to_text(slot.lost)});
    slots.print(context.out);
    TextTable audits(
        {{"verifier"}, {"stage"}, {"called", Align::kRight}, {"sealed", Align::kRight}, {"opened"}});
    for (const AuditLog& audit : round.audits)
        audits.row({audit.verifier.brief(), std::string(contracts::to_text(audit.stage)),
                    std::to_string(audit.called_at),
                    audit.sealed_at == 0 ? "-" : std::to_string(audit.sealed_at),
                    audit.opened ? "yes" : "no"});
    if (!round.audits.empty()) audits.print(context.out);
    context.out << '\n';
}

Outcome<void> show_logs(const Context& context, const LogFlags& flags) {
    ASSAY_ASSIGN(const JobLog log,
                 flags.offline ? from_home(context, flags.job) : from_node(context, flags.job));
    if (context.json()) {
        context.print_json("assay.job.logs/v1", json_of(log));
        return {};
    }
    for (const RoundLog& round : log.rounds) print_round(context, round);
    if (log.rounds.empty()) context.out << "no round has begun\n";
    return {};
}

}  // namespace

void add_job_logs_command(CLI::App& app, Context& context) {
    const auto flags = std::make_shared<LogFlags>();
    CLI::App& command =
        verb(noun(app, "job", "Buy training"), "logs",
             "Who worked, when, at which losses, and with which verdicts; machines may be gone", context,
             [&context, flags] { return show_logs(context, *flags); });
    command.add_option("job", flags->job, "Id, a beginning of it, or the name")->required();
    command.add_flag("--offline", flags->offline,
                     "Read this home instead of asking a node: its blocks (assay ledger fetch), or what its "
                     "role has verified, where losses of settled rounds' slots are missing");
}

}  // namespace assay::node
