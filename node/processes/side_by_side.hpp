// SPDX-License-Identifier: Apache-2.0
// Gives a command run_side_by_side(), which runs several processes of this program until the last one has
// ended.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "contracts/base/error.hpp"
#include "node/key/key_file.hpp"
#include "node/runtime/process.hpp"

namespace assay::node {

struct SideBySide {
    std::string name;                ///< "the miner of cuda:0"
    std::vector<std::string> words;  ///< its command line, without the program and the passphrase
};

/// Succeeds when the process called `name` ended well: with exit code 0, or by SIGTERM after it was told to
/// stop. Otherwise an error of the kind of its exit code (error_kind).
base::Outcome<void> ended_well(const std::string& name, const ExitStatus& ended, bool told_to_stop);

/// Starts a process of this program for each plan, with the passphrase on its own descriptor. Then releases
/// the passphrase and waits until all have ended. Passes a first stop on to all of them. Logs each end; the
/// others go on. Returns the first error of ended_well, if any. Call it from the main thread (Process).
base::Outcome<void> run_side_by_side(const std::vector<SideBySide>& plans,
                                     std::shared_ptr<const Passphrase> passphrase,
                                     const std::stop_token& stop);

}  // namespace assay::node
