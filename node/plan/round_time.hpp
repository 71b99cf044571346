// SPDX-License-Identifier: Apache-2.0
// Gives plans the time of a job from verified speeds: each round trains for as long as its slowest miner, is
// recomputed, and waits for its messages.
#pragma once

#include <cstdint>
#include <vector>

#include "node/plan/interval.hpp"

namespace assay::node {

/// What is known about the machines that may work for a job.
struct SpeedPool {
    std::vector<double> speeds;     ///< one for each machine: work units per height
    std::vector<double> overheads;  ///< heights of rounds in addition to training and recomputing; empty:
                                    ///< TimedJob::least_overhead
};

struct TimedJob {
    std::uint32_t slots = 1;
    std::uint32_t rounds = 1;
    double slot_work = 0;       ///< work units of a slot's round
    double recomputed = 1;      ///< share of a slot's work that its verifiers compute again
    double least_overhead = 0;  ///< the least heights of a round in addition to training and recomputing
    double before = 0;          ///< heights before the first round
};

/// Heights from the submission to the end of the last round. Machines are drawn from the pool, at most one
/// for each slot, and a job keeps its machines. Slots are dealt by speed, as the ledger does. REQUIRES a pool
/// with speeds above 0.
Interval80 job_heights(const SpeedPool& pool, const TimedJob& job);

}  // namespace assay::node
