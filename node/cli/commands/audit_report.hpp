// SPDX-License-Identifier: Apache-2.0
// Gives every `assay audit` command its output and its final error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ledger/audit/audit.hpp"
#include "node/cli/context.hpp"
#include "node/views/json.hpp"

namespace assay::node {

/// JSON: schema, ok, height, anchored, checked, failures, then the members of `details`.
struct AuditText {
    std::string schema;
    std::uint64_t height = 0;               ///< of the ledger that was read
    std::optional<std::uint64_t> anchored;  ///< AuditReport::anchored
    NamedCounts checked;
    std::vector<ledger::AuditFailure> failures;            ///< empty: everything checks
    std::vector<ledger::AuditFailure> not_judged;          ///< what these files cannot tell
    bool is_part = false;                                  ///< less was asked for than the verdicts rest on
    Json details;                                          ///< what was found, beyond counts; may be null
    std::vector<std::pair<std::string, std::string>> say;  ///< for the table, before the counts
    std::string fix;                                       ///< what to do when it does not check
    std::string lacking_fix;                               ///< what to do when something was not judged
};

/// Prints it; kVerification when it does not check, else kNotFound when something could not be judged.
base::Outcome<void> report_audit(const Context& context, const AuditText& audit);

/// Executes the home's whole ledger again. It must confirm every receipt that is kept in the home, besides
/// `anchors`. Failures of the ledger itself are in the report, so kNotFound is the only error that a person
/// is likely to see.
base::Outcome<ledger::AuditReport> audit_home_ledger(const Context& context, ledger::Anchors anchors = {});

/// How far it is known that nothing was cut off, for people.
std::string end_text(const ledger::AuditReport& report);
/// Says of the ledger how high it is, where it ends, and which receipts said nothing about it.
void tell_ledger(const ledger::AuditReport& report, AuditText& audit);

}  // namespace assay::node
