// SPDX-License-Identifier: Apache-2.0
// assay audit ledger
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <ostream>

#include "ledger/audit.hpp"
#include "ledger/rules_machine.hpp"
#include "node/cli/commands.hpp"
#include "node/cli/table.hpp"

namespace assay::node {
namespace {

base::Outcome<void> audit_home(const Context& context) {
    ASSAY_ASSIGN(const auto report,
                 ledger::audit_ledger(ledger::rules_machine(), context.home().root.string()));
    if (context.json()) {
        nlohmann::ordered_json checked;
        checked["blocks"] = report.height;
        checked["transactions"] = report.transactions;
        checked["refused"] = report.refused;
        checked["events"] = report.events;
        checked["bytes"] = report.bytes;
        nlohmann::ordered_json failures = nlohmann::ordered_json::array();
        for (const auto& failure : report.failures)
            failures.push_back({{"where", failure.where}, {"what", failure.what}});
        nlohmann::ordered_json body;
        body["ok"] = report.ok();
        body["height"] = report.height;
        body["chain"] = report.chain_id;
        body["tip"] = report.tip.hex();
        body["state_root"] = report.state_root.hex();
        body["checked"] = checked;
        body["failures"] = failures;
        context.print_json("assay.audit.ledger/v1", body);
    } else {
        print_fields(context.out, {{"chain", report.chain_id},
                                   {"blocks", std::to_string(report.height)},
                                   {"transactions", std::to_string(report.transactions)},
                                   {"events", std::to_string(report.events)},
                                   {"bytes", std::to_string(report.bytes)},
                                   {"tip", report.tip.hex()},
                                   {"state root", report.state_root.hex()},
                                   {"verdict", report.ok() ? "everything checks" : "DOES NOT CHECK"}});
        for (const auto& failure : report.failures)
            context.out << failure.where << ": " << failure.what << '\n';
    }
    if (report.ok()) return {};
    return base::fail(base::ErrorKind::kVerification,
                      report.failures.front().where + ": " + report.failures.front().what,
                      "do not use this ledger; fetch an undamaged copy from another node");
}

}  // namespace

void add_audit_ledger_command(CLI::App& app, Context& context) {
    CLI::App& audit =
        noun(app, "audit", "Check everything from files alone; exit code 7 when it does not check");
    verb(audit, "ledger", "Bytes, chain, signatures, roots and invariants of every block, executed again",
         context, [&context] { return audit_home(context); });
}

}  // namespace assay::node
