// SPDX-License-Identifier: Apache-2.0
// assay verifier list|status|why
#include <CLI/CLI.hpp>
#include <ostream>

#include "node/cli/commands.hpp"
#include "node/cli/commands/party_flags.hpp"
#include "node/cli/commands/settlement_lines.hpp"
#include "node/cli/table.hpp"
#include "node/roles/work_order.hpp"
#include "node/runtime/ledger_link.hpp"
#include "node/views/party_view.hpp"
#include "node/views/verifier_outlook.hpp"

namespace assay::node {
namespace {

using base::Outcome;

Outcome<void> list_verifiers(const Context& context, const PartyFlags& flags) {
    ASSAY_ASSIGN(const auto state, open_state(context, flags.from()));
    const VerifierList list = verifiers_of(*state);
    if (context.json()) {
        context.print_json("assay.verifier.list/v1", json_of(list));
        return {};
    }
    TextTable table({{"verifier"},
                     {"endpoint"},
                     {"jobs", Align::kRight},
                     {"audited units", Align::kRight},
                     {"free stake", Align::kRight},
                     {"bonded", Align::kRight},
                     {"earned", Align::kRight},
                     {"penalised", Align::kRight}});
    for (const ListedVerifier& one : list.verifiers)
        table.row({one.verifier.verifier.brief(), one.verifier.endpoint, std::to_string(one.enlisted),
                   std::to_string(one.verifier.audited_units), base::to_text(one.verifier.stake),
                   base::to_text(one.verifier.bonded), base::to_text(one.verifier.earned),
                   base::to_text(one.verifier.penalised)});
    table.print(context.out);
    return {};
}

/// What the owner wants of the verifier, where `key` is that of this home.
Outcome<std::optional<std::string>> own_order(const Context& context, const base::PublicKey& key) {
    const auto own = own_node_key(context);
    if (!own.ok() || *own != key) return std::optional<std::string>();
    ASSAY_ASSIGN(const auto notes, make_disk_port(context.home().jobs()));
    ASSAY_ASSIGN(const WorkOrder order, read_order(*notes, WorkRole::kVerifier));
    return std::optional<std::string>(to_text(order));
}

void print_jobs(std::ostream& out, const VerifierStatus& status) {
    if (status.jobs.empty()) {
        out << "\nenlisted for no job (assay verifier why)\n";
        return;
    }
    TextTable table({{"job"},
                     {"phase"},
                     {"round", Align::kRight},
                     {"locked", Align::kRight},
                     {"link bond", Align::kRight},
                     {"lost", Align::kRight},
                     {"misses", Align::kRight},
                     {"merges open", Align::kRight},
                     {"state"}});
    for (const EnlistedJobView& one : status.jobs) {
        std::string state = one.dropped ? "dropped" : "enlisted";
        if (one.links_dropped) state += ", links dropped";
        table.row({one.job.brief(), std::string(contracts::to_text(one.phase)),
                   std::to_string(one.round) + "/" + std::to_string(one.rounds), base::to_text(one.locked),
                   base::to_text(one.link_bond), base::to_text(one.lost),
                   std::to_string(one.missed) + " of " + std::to_string(one.missed_most),
                   std::to_string(one.open_merges), std::move(state)});
    }
    out << '\n';
    table.print(out);
}

Outcome<void> show_verifier(const Context& context, const PartyFlags& flags) {
    ASSAY_ASSIGN(const auto state, open_state(context, flags.from()));
    ASSAY_ASSIGN(const auto key, party_of(context, *state, WorkRole::kVerifier, flags));
    VerifierStatus status = verifier_status(*state, key, contracts::read_verifier(*state, key).value());
    ASSAY_ASSIGN(status.order, own_order(context, key));
    if (context.json()) {
        context.print_json("assay.verifier.status/v1", json_of(status));
        return {};
    }
    const VerifierView& verifier = status.verifier;
    std::vector<std::pair<std::string, std::string>> fields = {
        {"verifier", key.hex()},
        {"owner", verifier.owner.hex()},
        {"endpoint", verifier.endpoint},
        {"audited units", std::to_string(verifier.audited_units)},
        {"free stake", base::to_text(verifier.stake)},
        {"bonded", base::to_text(verifier.bonded)},
        {"earned", base::to_text(verifier.earned)},
        {"penalised", base::to_text(verifier.penalised)}};
    if (status.order) fields.emplace_back("told to", *status.order);
    print_fields(context.out, fields);
    print_jobs(context.out, status);
    return {};
}

std::string enlistment_text(const OpenEnlistment& open) {
    return "locks " + base::to_text(open.lock_least) + " at least, and " + base::to_text(open.link_bond) +
           " behind its links; taken up to block " + std::to_string(open.until);
}

/// What the ledger does not know: the flags, the machine and the order of the owner.
constexpr const char* kOwnCauses =
    "the ledger would take it. What is left is the verifier's own: it does not run, runs with --watch or a "
    "lower --lock, lacks the job's data, memory or room to keep it, or was told to pause or drain; its log "
    "says which";

void print_enlisting_why(std::ostream& out, const VerifierOutlook& look,
                         const std::optional<std::string>& order) {
    std::vector<std::pair<std::string, std::string>> fields;
    for (const base::Hash256& job : look.enlisted) fields.emplace_back("enlisted", "for job " + job.brief());
    for (const Obstacle& one : look.obstacles) fields.emplace_back(one.token, one.text);
    if (order && *order != to_text(WorkOrder::kWork))
        fields.emplace_back("told to", *order + "; taken back with: assay verifier resume");
    for (const OpenEnlistment& open : look.open) {
        fields.emplace_back("job " + open.job.brief(), enlistment_text(open));
        for (const Obstacle& one : open.obstacles) fields.emplace_back(one.token, one.text);
        if (open.obstacles.empty()) fields.emplace_back("no obstacle", kOwnCauses);
    }
    out << "\nenlisting:\n";
    print_fields(out, fields);
}

Outcome<void> why_verifier(const Context& context, const PartyFlags& flags) {
    ASSAY_ASSIGN(const auto state, open_state(context, flags.from()));
    LineFilter filter;
    ASSAY_ASSIGN(filter.node, party_of(context, *state, WorkRole::kVerifier, flags));
    filter.unpaid_only = true;
    const PayoutLines lines = payout_lines(*state, filter);
    const VerifierOutlook look = verifier_outlook(*state, filter.node);
    ASSAY_ASSIGN(const auto order, own_order(context, filter.node));
    if (context.json()) {
        Json body = json_of(lines);
        body["enlisting"] = json_of(look);
        body["order"] = json_of(order);
        context.print_json("assay.verifier.why/v1", body);
        return {};
    }
    print_lines(context, "assay.verifier.why/v1", lines);
    print_enlisting_why(context.out, look, order);
    return {};
}

}  // namespace

void add_verifier_queries(CLI::App& app, Context& context) {
    const auto flags = std::make_shared<PartyFlags>();
    CLI::App& verifier = noun(app, "verifier", "Check for pay: recompute what was drawn");
    CLI::App& listed = verb(verifier, "list", "Every registered verifier", context,
                            [&context, flags] { return list_verifiers(context, *flags); });
    CLI::App& shown =
        verb(verifier, "status", "Stake, record and earnings of a verifier, and what its jobs lock", context,
             [&context, flags] { return show_verifier(context, *flags); });
    CLI::App& why =
        verb(verifier, "why",
             "Why a verifier is not enlisted for a job, and why it was not paid or lost something in a round",
             context, [&context, flags] { return why_verifier(context, *flags); });
    why.add_option("node", flags->key, "As --key");
    for (CLI::App* command : {&listed, &shown, &why}) add_offline_flag(*command, *flags);
    for (CLI::App* command : {&shown, &why}) add_key_flag(*command, *flags);
}

}  // namespace assay::node
