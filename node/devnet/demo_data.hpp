// SPDX-License-Identifier: Apache-2.0
// The demo's text and job file.
#pragma once

#include "node/config/job_file.hpp"
#include "node/devnet/demo.hpp"

namespace assay::node {

/// Packs the text into HOME/data and writes HOME/job.toml. The vocabulary shrinks with the text.
base::Outcome<JobFile> prepare_job(const DemoOptions& options, std::ostream& progress);

}  // namespace assay::node
