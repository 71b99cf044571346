// SPDX-License-Identifier: Apache-2.0
// Tells how much memory a process can have: the machine's, or less where a control group limits it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace assay::node {

/// Bytes of memory that this process can have: the least of the machine's physical memory and the limits of
/// its control groups. 0 when that is not known.
std::uint64_t memory_of_machine();

/// Returns a file's text, or nothing when it cannot be read.
using ReadText = std::function<std::optional<std::string>(const std::string& path)>;

/// Returns the least limit in bytes of the control groups of a process, its own and those above it, in either
/// version of the hierarchy. Nothing when none is limited. Version 1 writes a number near 2^63 for "no
/// limit". Passes over what it cannot read: a mount point whose path holds a space, too.
/// `groups`: text of /proc/self/cgroup; `mounts`: text of /proc/self/mountinfo (proc(5), cgroups(7)).
std::optional<std::uint64_t> least_group_limit(std::string_view groups, std::string_view mounts,
                                               const ReadText& read);

}  // namespace assay::node
