// SPDX-License-Identifier: Apache-2.0
// Gives whoever works for a job, and whoever quotes one, the most bytes that it has to keep until the last
// window of the job's claims closes (docs/concepts/round.md, what is kept).
#pragma once

#include <cstdint>

#include "contracts/program/job_spec.hpp"

namespace assay::program {

/// Heights that a round takes at least: in each of six phases (commit, beacon, reveal, store, the merge's
/// two) somebody's message has to come into a block.
inline constexpr std::uint64_t kLeastRoundHeights = 6;

/// Rounds of the job of which bytes are kept at once, at most: those that can begin while a claim of one is
/// open for `window` heights, and the running one. A game that goes on behind its window is not counted.
std::uint32_t most_open_rounds(const JobSpec& spec, std::uint64_t window);

/// Bytes of files that have to stay. Counts stop at their largest value. Tokenizer and manifest, which are
/// small and which the spec names by hash alone, are not in it.
struct KeptBytes {
    std::uint32_t rounds = 0;      ///< most_open_rounds()
    std::uint64_t verifier = 0;    ///< of one that is enlisted; of the starts that it audits from, the mean
    std::uint64_t miner_slot = 0;  ///< of a miner with one slot in every round
    std::uint64_t miner = 0;       ///< of one with all slots of every round
    std::uint64_t buyer = 0;
};

/// REQUIRES a spec that check_spec accepts; `window`: heights that a settled claim stays open.
KeptBytes most_kept(const JobSpec& spec, std::uint64_t window);

/// What a miner keeps that can have no more than so many slots' claims open at once: each locks a bond.
std::uint64_t most_kept_by_miner(const JobSpec& spec, std::uint64_t window, std::uint64_t claims);

}  // namespace assay::program
