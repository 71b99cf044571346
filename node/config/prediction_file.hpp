// SPDX-License-Identifier: Apache-2.0
// Gives buyers the file that keeps a job's prediction (`HOME/plans/JOB.json`): JSON of schema
// assay.prediction/v1, with the members of JobPrediction.
#pragma once

#include <filesystem>
#include <optional>

#include "contracts/base/error.hpp"
#include "node/plan/prediction.hpp"

namespace assay::node {

/// Replaces the file. Creates its folder with mode 0700. kFailure when the disk refuses.
base::Outcome<void> write_prediction(const std::filesystem::path& path, const JobPrediction& prediction);

/// Nothing when there is no such file. kUsage for a file that is not as it was written.
base::Outcome<std::optional<JobPrediction>> read_prediction(const std::filesystem::path& path);

}  // namespace assay::node
