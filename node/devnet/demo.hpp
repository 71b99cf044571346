// SPDX-License-Identifier: Apache-2.0
// Gives `assay devnet demo` the demo: a whole local network on real text, from packing to audited payouts,
// in one call.
#pragma once

#include <filesystem>
#include <optional>
#include <ostream>
#include <stop_token>
#include <string>
#include <vector>

#include "node/devnet/report.hpp"
#include "node/roles/drill_spec.hpp"

namespace assay::node {

struct DemoOptions {
    std::filesystem::path home;
    std::optional<std::filesystem::path> text;  ///< nothing: Debian's bible-kjv-text
    std::uint64_t seed = 7;
    std::uint32_t rounds = 5;
    std::optional<program::Profile> profile;  ///< nothing: the one that is faster on this machine
    program::Family family = program::Family::kGpt2;
    std::vector<DrillSpec> sabotage;
};

/// Runs the demo; `progress` gets the story as it happens. The home is kept. Errors: kUsage (text, sabotage,
/// home), kNotFound (no text installed), kInterrupted, kVerification (an audit that should pass does not, or
/// one that should fail does not), kFailure (a process died; the error holds the end of its log).
base::Outcome<DemoReport> run_demo(const DemoOptions& options, std::ostream& progress, std::stop_token stop);

/// The job of the demo: about a million parameters.
program::JobSpec demo_job(const DemoOptions& options);

}  // namespace assay::node
