// SPDX-License-Identifier: Apache-2.0
// Gives the demo its text and its job file.
#pragma once

#include "node/config/job_file.hpp"
#include "node/devnet/demo.hpp"
#include "trainer/data/pack.hpp"

namespace assay::node {

/// A text packed next to the home, which is not touched before the text is known to be good.
struct PackedText {
    std::filesystem::path folder;
    trainer::Manifest manifest;
};

/// Packs the text into HOME.packing; a short text gets a smaller vocabulary. After an error nothing is left
/// there.
base::Outcome<PackedText> pack_text(const DemoOptions& options);

/// Moves the packed text to HOME/data and writes HOME/job.toml.
base::Outcome<JobFile> write_job(const DemoOptions& options, const PackedText& packed);

/// Writes HOME/job.toml again with another profile, and no other change.
base::Outcome<JobFile> write_profile(const DemoOptions& options, JobFile job, program::Profile profile);

}  // namespace assay::node
