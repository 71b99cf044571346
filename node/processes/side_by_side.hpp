// SPDX-License-Identifier: Apache-2.0
// Gives a command that starts others of this program a group of them, until the last one has ended.
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
    std::vector<std::string> words;  ///< of its command line, without the program and the passphrase
};

/// Whether the end of the process that is called `name` is none to report: exit code 0, or SIGTERM once it
/// was told to stop. Else an error of the kind that its exit code stands for (error_kind).
base::Outcome<void> ended_well(const std::string& name, const ExitStatus& ended, bool told_to_stop);

/// Starts a process of this program for each, with the passphrase on a descriptor of its own, lets go of the
/// passphrase, and waits until all have ended; a first stop is handed on to all of them. Each end is told in
/// the log, and the others go on. Without an error all ended well; else the first error of ended_well. Call
/// from the main thread (Process).
base::Outcome<void> run_side_by_side(const std::vector<SideBySide>& plans,
                                     std::shared_ptr<const Passphrase> passphrase,
                                     const std::stop_token& stop);

}  // namespace assay::node
