// SPDX-License-Identifier: Apache-2.0
// The only place where the records of an ended job leave the state, for the rules. Internal to the rules.
#pragma once

#include "contracts/rules/job/records.hpp"
#include "contracts/rules/state/limits.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

/// Makes the records of the job due to leave at `height`. REQUIRES that the job has ended and has no open
/// claim and no other deadline. Changes `job`, which the caller stores.
void schedule_leaving(State& state, const Hash256& id, JobProgress& job, std::uint64_t height);

/// How much may still leave in a block.
struct LeavingRoom {
    std::size_t records = kMaxLeavingPerBlock;
    std::size_t bytes = kMaxLeavingBytesPerBlock;
    [[nodiscard]] bool is_used_up() const { return records == 0 || bytes == 0; }
};

/// Takes records of the job out of the state until the room is used up, in the order of tables_of_job().
/// Hands them over as rows of the history, and keeps their hash in the job's EndedJob. What finds no room is
/// due at the height after `height`. Does nothing for a job that has already left or never existed; with no
/// room left it reads nothing.
void leave(State& state, const Hash256& id, std::uint64_t height, LeavingRoom& room);

}  // namespace assay::contracts
