// SPDX-License-Identifier: Apache-2.0
// Gives the demo its text and its job file.
#pragma once

#include "node/config/job_file.hpp"
#include "node/devnet/demo.hpp"
#include "trainer/data/pack.hpp"

namespace assay::node {

/// A text packed beside the home, which is not touched before the text is known to be good.
struct PackedText {
    std::filesystem::path folder;
    trainer::Manifest manifest;
};

/// Packs the text into HOME.packing; the vocabulary shrinks with the text. Nothing stays after an error.
base::Outcome<PackedText> pack_text(const DemoOptions& options);

/// Moves the packed text to HOME/data and writes HOME/job.toml.
base::Outcome<JobFile> write_job(const DemoOptions& options, const PackedText& packed);

/// Writes HOME/job.toml again, as it is but for the profile.
base::Outcome<JobFile> write_profile(const DemoOptions& options, JobFile job, program::Profile profile);

}  // namespace assay::node
