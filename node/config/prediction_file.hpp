// SPDX-License-Identifier: Apache-2.0
// Gives buyers the file in which a job's prediction stays (`HOME/plans/JOB.json`): JSON, schema
// assay.prediction/v1, members as of JobPrediction.
#pragma once

#include <filesystem>
#include <optional>

#include "contracts/base/error.hpp"
#include "node/plan/prediction.hpp"

namespace assay::node {

/// Replaces the file. Creates its folder, mode 0700. kFailure.
base::Outcome<void> write_prediction(const std::filesystem::path& path, const JobPrediction& prediction);

/// Nothing where there is no such file. kUsage for one that is not as it was written.
base::Outcome<std::optional<JobPrediction>> read_prediction(const std::filesystem::path& path);

}  // namespace assay::node
