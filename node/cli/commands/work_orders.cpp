// SPDX-License-Identifier: Apache-2.0
// assay miner pause|drain|resume, assay verifier pause|drain|resume
#include <CLI/CLI.hpp>
#include <ostream>

#include "node/cli/commands.hpp"
#include "node/cli/state_source.hpp"
#include "node/key/key_file.hpp"
#include "node/processes/device_homes.hpp"
#include "node/processes/role_process.hpp"
#include "node/roles/work_order.hpp"
#include "node/runtime/ledger_link.hpp"
#include "node/views/json.hpp"

namespace assay::node {
namespace {

using base::Outcome;

std::string_view what_follows(WorkRole role, WorkOrder order) {
    const bool verifies = role == WorkRole::kVerifier;
    switch (order) {
        case WorkOrder::kWork:
            return verifies ? "The verifier enlists for jobs again."
                            : "The miner asks for jobs and places again.";
        case WorkOrder::kPause:
            return verifies ? "The verifier enlists for nothing more, and goes on with what it has."
                            : "The miner asks for nothing more, and goes on with what it has.";
        case WorkOrder::kDrain:
            return verifies
                       ? "The verifier enlists for nothing more, does what it owes in the jobs that it is "
                         "enlisted for, and ends when they have ended, with the windows of their claims "
                         "(assay verifier status)."
                       : "The miner asks for nothing more, and ends once nothing needs it (assay miner "
                         "status).";
    }
    return "";
}

/// The homes that the order is for: a miner's, and those of its devices.
std::vector<Home> homes_for(const Home& home, WorkRole role) {
    return role == WorkRole::kMiner ? miner_homes(home) : std::vector<Home>{home};
}

/// What the ledger says of the homes' node keys.
struct KnownRoles {
    std::string chain;
    bool asked_for = false;  ///< one of them is registered for the role in question
    bool other = false;      ///< one of them is registered for the other role
};

WorkRole other_role(WorkRole role) {
    return role == WorkRole::kMiner ? WorkRole::kVerifier : WorkRole::kMiner;
}

/// Nothing when no node of the home's own ledger answers: the order then goes through, since a ledger that is
/// down must keep nobody from pausing.
std::optional<KnownRoles> roles_of(const Context& context, const std::vector<Home>& homes, WorkRole role) {
    try {
        auto ledger = context.ledger();
        if (!ledger.ok()) return std::nullopt;
        const auto status = (*ledger)->status();
        const auto genesis = genesis_of(context.home(), std::nullopt);
        if (!status.ok() || (genesis.ok() && genesis->chain_id != status->chain_id)) return std::nullopt;
        const auto state = state_of(std::move(ledger).value());
        if (!state.ok()) return std::nullopt;
        KnownRoles known{.chain = status->chain_id};
        for (const Home& one : homes) {
            const auto key = inspect_key_file(one.node_key());
            if (!key.ok()) continue;
            known.asked_for = known.asked_for || is_registered(**state, role, key->public_key);
            known.other = known.other || is_registered(**state, other_role(role), key->public_key);
        }
        return known;
    } catch (const StateReadError&) {
        return std::nullopt;
    }
}

Outcome<void> check_registered(const Context& context, const KnownRoles& known, WorkRole role,
                               const std::string& word) {
    if (known.asked_for) return {};
    const std::string wanted(to_text(role));
    const std::string is_none = "the node key of " + context.home().root.string() + " is no registered " +
                                wanted + " of " + known.chain;
    if (known.other) {
        const std::string other(to_text(other_role(role)));
        return base::fail(
            base::ErrorKind::kNotFound, is_none + ", but a " + other,
            "give the order to it: assay " + other + " " + word + " --home " + context.home().root.string());
    }
    return base::fail(
        base::ErrorKind::kNotFound, is_none,
        "name its --home, or the --node of its ledger; a new one is made with: assay " + wanted + " run");
}

/// The word for the order among the commands.
std::string word_of(WorkOrder order) {
    return order == WorkOrder::kWork ? "resume" : std::string(to_text(order));
}

Outcome<void> give_order(const Context& context, WorkRole role, WorkOrder order) {
    ASSAY_TRY(check_node_key(context.home()));
    const std::vector<Home> homes = homes_for(context.home(), role);
    const auto known = roles_of(context, homes, role);
    if (known) ASSAY_TRY(check_registered(context, *known, role, word_of(order)));
    for (const Home& one : homes) {
        ASSAY_ASSIGN(const auto notes, make_disk_port(one.jobs()));
        ASSAY_TRY(write_order(*notes, role, order));
    }
    const std::string whose(to_text(role));
    if (context.json()) {
        JsonFields fields;
        fields("order", order);
        fields("registered", known ? std::optional(known->asked_for) : std::nullopt);
        context.print_json(role == WorkRole::kVerifier ? "assay.verifier.order/v1" : "assay.miner.order/v1",
                           fields.take());
        return {};
    }
    context.out << what_follows(role, order)
                << " It reads this within a second where it runs, else at its next start.\n";
    if (!known)
        context.out << "No node of its ledger answered at " << context.settings.node
                    << ": whether this home has a registered " << whose << " is not known.\n";
    return {};
}

void add_orders(CLI::App& app, Context& context, WorkRole role) {
    const bool verifies = role == WorkRole::kVerifier;
    CLI::App& whose = verifies ? noun(app, "verifier", "Check for pay: recompute what was drawn")
                               : noun(app, "miner", "Work for pay: train slots of jobs");
    const auto add = [&](WorkOrder order, const char* description) {
        verb(whose, word_of(order), description, context,
             [&context, role, order] { return give_order(context, role, order); });
    };
    add(WorkOrder::kPause,
        verifies
            ? "Let the verifier of this home enlist for nothing more, and pick no more slots to challenge; "
              "what it has, it goes on with"
            : "Let the miner of this home, and those of its devices, ask for nothing more; what it has, it "
              "goes on with");
    add(WorkOrder::kDrain,
        verifies
            ? "Let the verifier of this home take on nothing more, and end with exit code 0 once nothing "
              "needs it: each job that it is enlisted for has ended, with the windows of its claims, and "
              "no dispute is open. A job cannot be left earlier"
            : "Let the miner of this home, and those of its devices, ask for nothing more, and end with "
              "exit code 0 once nothing needs it: no sealed ask, no place in a job that runs, no claim in "
              "its window, no dispute");
    add(WorkOrder::kWork, "Take back pause or drain");
}

}  // namespace

void add_work_orders(CLI::App& app, Context& context) {
    add_orders(app, context, WorkRole::kMiner);
    add_orders(app, context, WorkRole::kVerifier);
}

}  // namespace assay::node
