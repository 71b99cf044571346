// SPDX-License-Identifier: Apache-2.0
// Gives `assay audit model` its output and its final error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "node/audit/model_audit.hpp"
#include "node/cli/context.hpp"

namespace assay::node {

struct ModelAuditText {
    base::Hash256 certificate;  ///< root of its file
    base::Hash256 job;
    std::uint64_t rounds = 0;
    base::Hash256 initial_blob;   ///< first state that the job was given; zero: made from the seed
    std::string ledger = "none";  ///< the ledger that the certificate was compared with: home, node, both
    std::string end;              ///< where the home's ledger ends (end_text); empty: it was not read
    std::optional<std::uint64_t> height;    ///< of the home's ledger; nothing: it was not read
    std::optional<std::uint64_t> anchored;  ///< ledger::AuditReport::anchored
    SampleSource source = SampleSource::kLocal;
    base::Hash256 number;            ///< from which the sample was drawn
    std::vector<MetFault> failures;  ///< found before anything was drawn
    ModelAuditReport report;
    double seconds = 0;
};

/// Prints it; kVerification when something is false, or a drawn unit could not be recomputed.
base::Outcome<void> report_model_audit(const Context& context, const ModelAuditText& text);

}  // namespace assay::node
