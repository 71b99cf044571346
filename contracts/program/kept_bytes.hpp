// SPDX-License-Identifier: Apache-2.0
// The most bytes that a participant of a job has to keep until the last window of the job's claims closes
// (docs/concepts/round.md, what is kept).
#pragma once

#include <cstdint>

#include "contracts/program/job_spec.hpp"

namespace assay::program {

/// The least number of heights that a round takes: each of six phases (commit, beacon, reveal, store, the
/// merge's two) needs a message in a block.
inline constexpr std::uint64_t kLeastRoundHeights = 6;

/// The most rounds of the job whose bytes are kept at once: those that can begin while a claim of one is open
/// for `window` heights, and the running one. A game that goes on after the window is not counted.
std::uint32_t most_open_rounds(const JobSpec& spec, std::uint64_t window);

/// Bytes of files that have to stay. Counts saturate at their largest value. Tokenizer and manifest are not
/// included; they are small, and the spec names them only by hash.
struct KeptBytes {
    std::uint32_t rounds = 0;      ///< most_open_rounds()
    std::uint64_t verifier = 0;    ///< of an enlisted verifier; of the starts from which it audits, the mean
    std::uint64_t miner_slot = 0;  ///< of a miner with one slot in every round
    std::uint64_t miner = 0;       ///< of a miner with all slots of every round
    std::uint64_t buyer = 0;
};

/// REQUIRES a spec that check_spec accepts; `window`: heights that a settled claim stays open.
KeptBytes most_kept(const JobSpec& spec, std::uint64_t window);

/// The most that a miner keeps when at most `claims` of its slots' claims can be open at once, since each
/// locks a bond.
std::uint64_t most_kept_by_miner(const JobSpec& spec, std::uint64_t window, std::uint64_t claims);

}  // namespace assay::program
