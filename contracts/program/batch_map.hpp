// SPDX-License-Identifier: Apache-2.0
// The sequences on which a slot trains at each step, for training and replay. The token stream is cut into n
// sequences of T+1 tokens at stride T (the last token of one is the first of the next). Every epoch visits
// each sequence once, in an order of its own.
#pragma once

#include <cstdint>

#include "contracts/arithmetic/permutation.hpp"
#include "contracts/program/job_spec.hpp"

namespace assay::program {

/// n = (tokens − 1) / T rounded down; 0 when there is not even one sequence.
std::uint64_t sequence_count(std::uint64_t tokens, std::uint32_t context);

/// Place of a sequence in the job.
struct BatchPlace {
    std::uint64_t round = 0;
    std::uint32_t step = 0;  ///< inner step of the round
    std::uint32_t slot = 0;
    std::uint32_t index = 0;  ///< 0 … batch−1
};

/// counter = ((round·inner_steps + step)·slots + slot)·batch + index; epoch = counter div n; the sequence is
/// Permutation(seed, epoch, n)[counter mod n].
class BatchMap {
public:
    /// REQUIRES a spec that check_spec accepts.
    explicit BatchMap(const JobSpec& spec);

    /// Number of the sequence; its tokens are stream[number·T … number·T + T].
    [[nodiscard]] std::uint64_t sequence(const BatchPlace& place) const;
    [[nodiscard]] std::uint64_t first_token(const BatchPlace& place) const {
        return sequence(place) * context_;
    }

private:
    std::uint64_t seed_, sequences_, inner_steps_, slots_, batch_, context_;
};

}  // namespace assay::program
