// SPDX-License-Identifier: Apache-2.0
// Gives the commands of roles the memory that their workers may take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "node/worker/worker_options.hpp"

namespace assay::node {

/// Bytes of the host's memory that a worker of a role may take on each of its `devices`: what `flag`
/// (--memory) says, else ASSAY_MEMORY, else default_role_memory(). 0: no limit. kUsage when the flag or the
/// variable is no amount of memory.
base::Outcome<std::uint64_t> role_memory(const std::string& flag, std::size_t devices);

/// Three eighths of `machine`, the bytes that the process can have, divided by the number of devices. Files
/// in memory on their way to the store and to others take up to as much again, and a quarter is left to
/// everything else. 0 when that is not known.
std::uint64_t default_role_memory(std::uint64_t machine, std::size_t devices);

/// Limits each worker of a role to role_memory() and writes that into the log.
base::Outcome<void> limit_memory(WorkerOptions& worker, const std::string& flag, std::size_t devices);

}  // namespace assay::node
