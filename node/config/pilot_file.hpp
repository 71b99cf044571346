// SPDX-License-Identifier: Apache-2.0
// Gives plans the losses of a pilot, from a file with an earlier command's JSON output.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "contracts/base/error.hpp"
#include "contracts/program/job_spec.hpp"
#include "node/plan/loss_forecast.hpp"

namespace assay::node {

/// Reads the held-out losses that `assay model train`, `assay job show` or `assay job watch` printed with `-o
/// json`. The output of `model train` says what was trained; for the others the model, steps, batch and slots
/// are taken from `spec`. Leaves out losses within the warm-up of `spec`, where the law does not hold yet.
/// kNotFound; kUsage for another kind of file, and when no loss is left.
base::Outcome<std::vector<PilotPoint>> read_pilot(const std::filesystem::path& path,
                                                  const program::JobSpec& spec);
/// The same for the file's text; `name` stands for the file in errors.
base::Outcome<std::vector<PilotPoint>> parse_pilot(std::string_view text, const std::string& name,
                                                   const program::JobSpec& spec);

}  // namespace assay::node
