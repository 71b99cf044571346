// SPDX-License-Identifier: Apache-2.0
// Gives the rules the way in which the records of an ended job leave the state: the one place where they do.
// Internal to the rules.
#pragma once

#include "contracts/rules/job/records.hpp"
#include "contracts/rules/state/limits.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

/// From here on the records of the job are due to leave at `height`. REQUIRES that the job has ended, and
/// that nothing of it is open: no claim, no other deadline. Changes `job`, which the caller stores.
void schedule_leaving(State& state, const Hash256& id, JobProgress& job, std::uint64_t height);

/// What may still leave in a block.
struct LeavingRoom {
    std::size_t records = kMaxLeavingPerBlock;
    std::size_t bytes = kMaxLeavingBytesPerBlock;
    [[nodiscard]] bool is_used_up() const { return records == 0 || bytes == 0; }
};

/// Takes records of the job out of the state until the room is used up, in the order of tables_of_job(),
/// hands them over as rows of the history, and keeps their hash in its EndedJob. What finds no room is due at
/// the height after `height`. Takes none of a job that has left already, or that was never there; with a room
/// that is used up it reads nothing.
void leave(State& state, const Hash256& id, std::uint64_t height, LeavingRoom& room);

}  // namespace assay::contracts
