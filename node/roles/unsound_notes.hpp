// SPDX-License-Identifier: Apache-2.0
// Gives a home its notes of devices that were found to compute other bits. The process that finds one may end
// before it knows from the ledger which of the device's work counts already: the next one reads of it here,
// and forgets the rest, whatever it computes on.
#pragma once

#include <string>
#include <vector>

#include "node/seams/ports.hpp"

namespace assay::node {

/// `device`: as answers name it (WorkerAnswered::device).
base::Outcome<void> note_unsound(DiskPort& disk, const std::string& device);
/// The devices that are noted.
base::Outcome<std::vector<std::string>> noted_unsound(DiskPort& disk);
/// Nothing of what the device gave is left to forget.
base::Outcome<void> remove_unsound_note(DiskPort& disk, const std::string& device);

}  // namespace assay::node
