// SPDX-License-Identifier: Apache-2.0
// assay audit ledger
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <memory>

#include "node/cli/commands.hpp"
#include "node/cli/commands/audit_report.hpp"
#include "node/processes/receipt_files.hpp"

namespace assay::node {
namespace {

using base::Outcome;

struct LedgerFlags {
    std::vector<std::string> trust;
    std::vector<std::string> receipts;
};

Outcome<ledger::TrustedHeader> parse_trust(const std::string& text) {
    ledger::TrustedHeader header;
    const std::size_t colon = std::min(text.find(':'), text.size());
    const auto [end, error] = std::from_chars(text.data(), text.data() + colon, header.height);
    const auto hash = base::parse_hash(std::string_view(text).substr(std::min(colon + 1, text.size())));
    if (error != std::errc() || end != text.data() + colon || !hash) {
        return base::fail(base::ErrorKind::kUsage, "--trust " + text + " is not HEIGHT:HASH",
                          "give a height and the 64 digits of its header hash, as an audit prints its tip");
    }
    header.hash = *hash;
    return header;
}

Outcome<ledger::Anchors> anchors_of(const LedgerFlags& flags) {
    ledger::Anchors anchors;
    for (const std::string& text : flags.trust) {
        ASSAY_ASSIGN(const ledger::TrustedHeader header, parse_trust(text));
        anchors.headers.push_back(header);
    }
    for (const std::string& file : flags.receipts) {
        ASSAY_ASSIGN(const ledger::Receipt receipt, read_receipt(file));
        anchors.receipts.push_back({file, ledger::ReceiptSource::kGiven, receipt});
    }
    return anchors;
}

Outcome<void> audit_ledger_files(const Context& context, const LedgerFlags& flags) {
    ASSAY_ASSIGN(const ledger::Anchors anchors, anchors_of(flags));
    ASSAY_ASSIGN(const auto report, audit_home_ledger(context, anchors));
    AuditText audit;
    audit.schema = "assay.audit.ledger/v1";
    audit.checked = {{"blocks", report.height},
                     {"transactions", report.transactions},
                     {"refused", 0},  // of v1; a block that holds one does not check
                     {"events", report.events},
                     {"bytes", report.bytes}};
    audit.failures = report.failures;
    JsonFields details;
    details("chain", report.chain_id);
    details("tip", report.tip);
    details("state_root", report.state_root);
    audit.details = details.take();
    audit.say = {
        {"chain", report.chain_id}, {"tip", report.tip.hex()}, {"state root", report.state_root.hex()}};
    tell_ledger(report, audit);
    audit.fix = "do not use this ledger: move the folder " + context.home().ledger().string() +
                " away, and fetch it again: assay ledger fetch --node HOST:PORT --genesis FILE";
    return report_audit(context, audit);
}

}  // namespace

void add_audit_ledger_command(CLI::App& app, Context& context) {
    CLI::App& audit =
        noun(app, "audit", "Check everything from files alone; exit code 7 when it does not check");
    const auto flags = std::make_shared<LedgerFlags>();
    CLI::App& command =
        verb(audit, "ledger", "Bytes, chain, signatures, roots and invariants of every block, executed again",
             context, [&context, flags] { return audit_ledger_files(context, *flags); });
    command.add_option("--trust", flags->trust,
                       "HEIGHT:HASH of a block you know; a ledger that lacks it fails (repeatable)");
    command.add_option("--receipt", flags->receipts,
                       "File of a receipt that this ledger must bear out (repeatable; those kept in the home "
                       "are used anyway)");
}

}  // namespace assay::node
