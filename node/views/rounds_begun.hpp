// SPDX-License-Identifier: Apache-2.0
// Gives views the number of a job's rounds that have begun. A job may have 10,000 rounds, and asking a node
// for those that have not begun takes a call for each.
#pragma once

#include <cstdint>

#include "contracts/rules/job/records.hpp"

namespace assay::node {

/// Rounds that may have records: those that are over, and the one that runs or comes next.
inline std::uint32_t rounds_begun(const contracts::Job& job) {
    return job.round < job.spec.rounds ? job.round + 1 : job.spec.rounds;
}

}  // namespace assay::node
