// SPDX-License-Identifier: Apache-2.0
// Gives plans the losses of a pilot: a file in which an earlier command's JSON output was kept.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "contracts/base/error.hpp"
#include "contracts/program/job_spec.hpp"
#include "node/plan/loss_forecast.hpp"

namespace assay::node {

/// What `assay model train`, `assay job show` or `assay job watch` printed with `-o json`: held-out losses
/// after training. The first says by itself what was trained; of the others the pilot has the model, steps,
/// batch and slots of `spec`. Losses within the warm-up of `spec` are left out, where the law does not hold
/// yet. kNotFound; kUsage for another file and for one without a loss that is left.
base::Outcome<std::vector<PilotPoint>> read_pilot(const std::filesystem::path& path,
                                                  const program::JobSpec& spec);
/// The same of its text; `name` stands for the file in errors.
base::Outcome<std::vector<PilotPoint>> parse_pilot(std::string_view text, const std::string& name,
                                                   const program::JobSpec& spec);

}  // namespace assay::node
