// SPDX-License-Identifier: Apache-2.0
// Gives a home its notes of devices that were found to compute wrong bits. The process that finds such a
// device may end before it knows from the ledger which of the device's work is already sealed. The next
// process then reads the note and forgets the rest, whatever device it computes on itself.
#pragma once

#include <string>
#include <vector>

#include "node/seams/ports.hpp"

namespace assay::node {

/// Notes that a device is unsound. `device`: as answers name it (WorkerAnswered::device).
base::Outcome<void> note_unsound(DiskPort& disk, const std::string& device);
/// The devices that are noted.
base::Outcome<std::vector<std::string>> noted_unsound(DiskPort& disk);
/// Removes the note, when nothing of the device's work is left to forget.
base::Outcome<void> remove_unsound_note(DiskPort& disk, const std::string& device);

}  // namespace assay::node
