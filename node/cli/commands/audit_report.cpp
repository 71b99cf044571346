// SPDX-License-Identifier: Apache-2.0
#include "node/cli/commands/audit_report.hpp"

#include <ostream>

#include "ledger/application/rules_machine.hpp"
#include "ledger/audit/evidence.hpp"
#include "node/cli/table.hpp"
#include "node/processes/receipt_files.hpp"

namespace assay::node {
namespace {

struct FailureView {
    std::string where, what;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("where", where);
        visit("what", what);
    }
};

void print_audit_json(const Context& context, const AuditText& audit) {
    std::vector<FailureView> failures;
    for (const auto& failure : audit.failures) failures.push_back({failure.where, failure.what});
    JsonFields body;
    body("ok", audit.failures.empty() && audit.not_judged.empty());
    body("height", audit.height);
    body("anchored", audit.anchored);
    body("checked", audit.checked);
    body("failures", failures);
    for (const auto& [key, value] : audit.details.items()) body(key.c_str(), value);
    context.print_json(audit.schema, body.take());
}

void print_audit_table(const Context& context, const AuditText& audit) {
    auto fields = audit.say;
    for (const auto& [name, count] : audit.checked) {
        std::string words = name;
        for (char& c : words)
            if (c == '_') c = ' ';
        fields.emplace_back(words, std::to_string(count));
    }
    fields.emplace_back("verdict", !audit.failures.empty()     ? "DOES NOT CHECK"
                                   : !audit.not_judged.empty() ? "what could be judged checks"
                                   : audit.is_part             ? "what was asked for checks"
                                                               : "everything checks");
    print_fields(context.out, fields);
    for (const auto& failure : audit.failures)
        context.out << "  " << failure.where << ": " << failure.what << '\n';
}

}  // namespace

base::Outcome<void> report_audit(const Context& context, const AuditText& audit) {
    if (context.json()) {
        print_audit_json(context, audit);
    } else {
        print_audit_table(context, audit);
    }
    if (audit.failures.empty() && !audit.not_judged.empty()) {
        return base::fail(base::ErrorKind::kNotFound,
                          audit.not_judged.front().where + ": " + audit.not_judged.front().what,
                          audit.lacking_fix);
    }
    if (audit.failures.empty()) return {};
    return base::fail(base::ErrorKind::kVerification,
                      audit.failures.front().where + ": " + audit.failures.front().what, audit.fix);
}

base::Outcome<ledger::AuditReport> audit_home_ledger(const Context& context, ledger::Anchors anchors) {
    const std::string home = context.home().root.string();
    // Before the log: every receipt that is in the home now is of a block that the log has already.
    const auto found = find_receipts(context.home());
    anchors.receipts.insert(anchors.receipts.end(), found.begin(), found.end());
    ASSAY_ASSIGN(auto report, ledger::audit_ledger(ledger::rules_machine(), home, anchors));
    // What a damaged ledger says means nothing, and nothing is judged by it.
    if (!report.ok()) return report;
    ASSAY_TRY(ledger::recover_records(report.state));
    ASSAY_TRY(ledger::recover_evidence(report.state, home));
    return report;
}

std::string end_text(const ledger::AuditReport& report) {
    const std::string height = std::to_string(report.height);
    if (report.anchored && *report.anchored == report.height) return "block " + height + ", as it must";
    const std::string above = report.anchored ? " after block " + std::to_string(*report.anchored) : "";
    return "block " + height + "; whether more blocks followed" + above +
           " cannot be seen without --trust HEIGHT:HASH or a later --receipt FILE of assay audit ledger";
}

void tell_ledger(const ledger::AuditReport& report, AuditText& audit) {
    audit.height = report.height;
    audit.anchored = report.anchored;
    audit.say.emplace_back("end", end_text(report));
    if (report.strange_receipts > 0) {
        audit.say.emplace_back("receipts left out",
                               std::to_string(report.strange_receipts) + " of another ledger, in this home");
    }
}

}  // namespace assay::node
