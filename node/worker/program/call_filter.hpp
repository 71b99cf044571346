// SPDX-License-Identifier: Apache-2.0
// Gives a worker's confinement a filter of system calls (seccomp): those that the kernel refuses to the
// process from then on, and to all that it starts.
#pragma once

#include <cstdint>
#include <vector>

namespace assay::worker {

/// A system call that is refused with EPERM: always, or by the low half of one of its arguments.
struct CallRule {
    enum class When { kAlways, kArgumentIs, kArgumentIsNot };
    int number = 0;
    When when = When::kAlways;
    unsigned argument = 0;    ///< its place, from 0
    std::uint32_t value = 0;  ///< with which it is compared
};

/// What a worker without a driver never calls. Its socket and its memory files are open already, and pass
/// descriptors on.
std::vector<CallRule> worker_call_rules();

/// Holds this process to the rules. Returns 0, or why the kernel refuses (as errno). REQUIRES a
/// single-threaded process with PR_SET_NO_NEW_PRIVS.
int hold_to_calls(const std::vector<CallRule>& rules);

}  // namespace assay::worker
