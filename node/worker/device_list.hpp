// SPDX-License-Identifier: Apache-2.0
// Gives commands the devices that --device names.
#pragma once

#include <string>
#include <vector>

#include "node/worker/worker_report.hpp"

namespace assay::node {

/// The words of `text`, a comma list; "cuda" and "all" stand for every card of the machine that the worker
/// can use. An empty text gives one empty word: the worker's own choice. kUsage for an empty word in a list,
/// or one that is there twice; kPreflight for "cuda" or "all" where no card can be used: what is missing.
/// Whether the other words are devices is the worker's to say.
base::Outcome<std::vector<std::string>> device_list(const std::string& text, const WorkerOptions& options);

/// Whether the word names an NVIDIA card: "cuda:0". Whether it is there is the worker's to say.
inline bool is_card(const std::string& device) { return device.starts_with("cuda:"); }

}  // namespace assay::node
