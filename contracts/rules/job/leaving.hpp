// SPDX-License-Identifier: Apache-2.0
// How the records of an ended job leave the state: the one place where they do. Internal to the rules.
#pragma once

#include "contracts/rules/job/records.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

/// From here on the records of the job are due to leave at `height`. REQUIRES that the job has ended, and
/// that nothing of it is open: no claim, no other deadline. Changes `job`, which the caller stores.
void schedule_leaving(State& state, const Hash256& id, JobProgress& job, std::uint64_t height);

/// Takes up to `room` records of the job out of the state, in the order of tables_of_job(), hands them over
/// as rows of the history, and keeps their hash in its EndedJob. What has no room is due at the height after
/// `height`. Returns how many left: none of a job that has left already, or that was never there.
std::size_t leave(State& state, const Hash256& id, std::uint64_t height, std::size_t room);

}  // namespace assay::contracts
