// SPDX-License-Identifier: Apache-2.0
// assay job topup|extend|cancel
#include <CLI/CLI.hpp>
#include <ostream>

#include "contracts/rules/market/tables.hpp"
#include "node/cli/commands.hpp"
#include "node/cli/commands/role_flags.hpp"
#include "node/cli/owner_transaction.hpp"
#include "node/cli/state_source.hpp"
#include "node/views/job_end_view.hpp"
#include "node/views/json.hpp"
#include "node/views/runway_view.hpp"

namespace assay::node {
namespace {

using base::ErrorKind;
using base::Outcome;

struct ChangeFlags {
    std::string job;
    std::string amount;
    std::uint64_t blocks = 0;
    bool burn_deposit = false;
    std::string genesis;
    PassphraseFlags passphrase;
};

/// What a change comes to.
struct Changed {
    base::Hash256 job;
    std::uint64_t height = 0;
    std::optional<contracts::Job> now;  ///< behind the block; nothing where the node did not answer any more
};

Outcome<Changed> change(const Context& context, const ChangeFlags& flags, const std::string& what,
                        const std::function<contracts::Payload(const base::Hash256&)>& payload) {
    ASSAY_ASSIGN(const auto state, open_state(context, StateFrom::kNode));
    ASSAY_ASSIGN(const contracts::Job job, find_job(*state, flags.job));
    ASSAY_ASSIGN(const auto sent,
                 submit_as_owner(context, flags.passphrase, flags.genesis, payload(job.id), what,
                                 "see the job with: assay job show " + job.id.brief()));
    Changed done{job.id, sent.reply.height, {}};
    (void)read_after_act(context, [&]() -> Outcome<void> {
        done.now = contracts::read_job(*state, job.id);
        return {};
    });
    return done;
}

Outcome<void> top_up(const Context& context, const ChangeFlags& flags) {
    const auto amount = base::parse_amount(flags.amount);
    if (!amount || amount->is_zero())
        return base::fail(ErrorKind::kUsage, "'" + flags.amount + "' is not an amount",
                          "write 12.5 for tokens or 12500000u for base units");
    ASSAY_ASSIGN(const Changed done, change(context, flags, "the top-up", [&](const base::Hash256& job) {
                     return contracts::JobTopUp{.job = job, .amount = *amount};
                 }));
    std::optional<base::Amount> budget;
    std::optional<RunwayView> runway;
    (void)read_after_act(context, [&]() -> Outcome<void> {
        if (!done.now) return {};
        budget = done.now->whole_budget();
        ASSAY_ASSIGN(const auto state, open_state(context, StateFrom::kNode));
        runway = runway_view(*state, *done.now);
        return {};
    });
    if (context.json()) {
        JsonFields body;
        body("job", done.job);
        body("amount", *amount);
        body("budget", budget);
        body("runway", runway);
        body("height", done.height);
        context.print_json("assay.job.topup/v1", body.take());
        return {};
    }
    context.out << "job " << done.job.brief() << " has " << base::to_text(*amount) << " more";
    if (budget) context.out << ": " << base::to_text(*budget) << " in all";
    context.out << '\n';
    if (runway) context.out << "the escrow " << runway->text() << '\n';
    return {};
}

Outcome<void> extend(const Context& context, const ChangeFlags& flags) {
    ASSAY_ASSIGN(const Changed done, change(context, flags, "the extension", [&](const base::Hash256& job) {
                     return contracts::JobExtend{.job = job, .blocks = flags.blocks};
                 }));
    std::optional<std::uint64_t> deadline;
    if (done.now) deadline = done.now->current_deadline();
    if (context.json()) {
        JsonFields body;
        body("job", done.job);
        body("blocks", flags.blocks);
        body("deadline", deadline);
        body("height", done.height);
        context.print_json("assay.job.extend/v1", body.take());
        return {};
    }
    context.out << "job " << done.job.brief() << " begins rounds ";
    if (deadline)
        context.out << "before block " << *deadline;
    else
        context.out << "for " << flags.blocks << " blocks longer";
    context.out << "; block " << done.height << " says so\n";
    return {};
}

/// A job that waits ends at once, and opens its sealed bid no more.
Outcome<void> check_no_sealed_bid(const Context& context, const ChangeFlags& flags) {
    ASSAY_ASSIGN(const auto state, open_state(context, StateFrom::kNode));
    ASSAY_ASSIGN(const contracts::Job job, find_job(*state, flags.job));
    const auto bid = contracts::read_lot_bid(*state, job.id);
    if (!bid || bid->opened || flags.burn_deposit) return {};
    const contracts::MarketClock clock = contracts::read_market_clock(*state);
    return base::fail(ErrorKind::kUsage,
                      "job " + job.id.brief() +
                          " has a sealed bid in the market: its end would burn the deposit of " +
                          base::to_text(bid->deposit),
                      "cancel once its process has opened the bid, from block " +
                          std::to_string(clock.open_at) + " on, or give --burn-deposit");
}

Outcome<void> cancel(const Context& context, const ChangeFlags& flags) {
    ASSAY_TRY(check_no_sealed_bid(context, flags));
    ASSAY_ASSIGN(const Changed done, change(context, flags, "the cancellation", [](const base::Hash256& job) {
                     return contracts::JobCancel{.job = job};
                 }));
    std::optional<JobEndView> end;
    (void)read_after_act(context, [&]() -> Outcome<void> {
        ASSAY_ASSIGN(const auto state, open_state(context, StateFrom::kNode));
        end = job_end_view(*state, done.job);
        return {};
    });
    if (context.json()) {
        JsonFields cancelled;
        cancelled("job", done.job);
        cancelled("height", done.height);
        cancelled("end", end);
        context.print_json("assay.job.cancel/v1", cancelled.take());
        return {};
    }
    context.out << (end ? end->text() : "job " + done.job.brief() + " is cancelled") << '\n';
    return {};
}

}  // namespace

void add_job_change_commands(CLI::App& app, Context& context) {
    CLI::App& job = noun(app, "job", "Jobs: submit, follow, fetch, cancel");
    const auto flags = std::make_shared<ChangeFlags>();
    CLI::App& topping = verb(job, "topup", "Move money from the balance into the escrow of a job that runs",
                             context, [&context, flags] { return top_up(context, *flags); });
    CLI::App& extending = verb(job, "extend", "Let a job begin rounds for some blocks longer", context,
                               [&context, flags] { return extend(context, *flags); });
    CLI::App& cancelling =
        verb(job, "cancel", "End a job once the round that runs is settled; what is not spent comes back",
             context, [&context, flags] { return cancel(context, *flags); });
    for (CLI::App* command : {&topping, &extending, &cancelling}) {
        command->add_option("job", flags->job, "Id, a beginning of it, or the name")->required();
        command->add_option("--genesis", flags->genesis, "The ledger's genesis file; needed once per home");
        add_passphrase_flags(*command, flags->passphrase);
    }
    cancelling.add_flag("--burn-deposit", flags->burn_deposit,
                        "Also while a bid of the job is sealed, whose deposit is then burned");
    topping.add_option("amount", flags->amount, "12.5 tokens, or 12500000u base units")->required();
    extending.add_option("blocks", flags->blocks, "Blocks by which the deadline comes later")->required();
}

}  // namespace assay::node
