// SPDX-License-Identifier: Apache-2.0
// Gives commands the devices that --device names.
#pragma once

#include <string>
#include <vector>

#include "node/worker/worker_report.hpp"

namespace assay::node {

/// Splits `text`, a list with commas, into device names; "cuda" and "all" stand for every card of the machine
/// that the worker can use. An empty text gives one empty name: the worker's own choice. kUsage for an empty
/// or repeated name in a list. kPreflight for "cuda" or "all" when no card can be used, with what is missing.
/// Whether the other names are devices is for the worker to check.
base::Outcome<std::vector<std::string>> device_list(const std::string& text, const WorkerOptions& options);

/// Whether `device` is the name of an NVIDIA card, such as "cuda:0". Whether the card exists is for the
/// worker to check.
inline bool is_card(const std::string& device) { return device.starts_with("cuda:"); }

}  // namespace assay::node
