// SPDX-License-Identifier: Apache-2.0
// assay audit ledger
#include <CLI/CLI.hpp>

#include "node/cli/commands.hpp"
#include "node/cli/commands/audit_report.hpp"

namespace assay::node {
namespace {

base::Outcome<void> audit_ledger_files(const Context& context) {
    ASSAY_ASSIGN(const auto report, audit_home_ledger(context));
    AuditText audit;
    audit.schema = "assay.audit.ledger/v1";
    audit.height = report.height;
    audit.checked["blocks"] = report.height;
    audit.checked["transactions"] = report.transactions;
    audit.checked["refused"] = report.refused;
    audit.checked["events"] = report.events;
    audit.checked["bytes"] = report.bytes;
    audit.failures = report.failures;
    audit.details["chain"] = report.chain_id;
    audit.details["tip"] = report.tip.hex();
    audit.details["state_root"] = report.state_root.hex();
    audit.say = {
        {"chain", report.chain_id}, {"tip", report.tip.hex()}, {"state root", report.state_root.hex()}};
    audit.fix = "do not use this ledger; fetch an undamaged copy from another node";
    return report_audit(context, audit);
}

}  // namespace

void add_audit_ledger_command(CLI::App& app, Context& context) {
    CLI::App& audit =
        noun(app, "audit", "Check everything from files alone; exit code 7 when it does not check");
    verb(audit, "ledger", "Bytes, chain, signatures, roots and invariants of every block, executed again",
         context, [&context] { return audit_ledger_files(context); });
}

}  // namespace assay::node
