// SPDX-License-Identifier: Apache-2.0
// The order of a job's data: a keyed permutation of 0 … n−1, computed per element. It is a balanced Feistel
// network over the smallest even number of bits 2h with 2^(2h) >= n, walked along its cycle until it lands
// below n again.
#pragma once

#include <cstdint>

#include "contracts/arithmetic/philox.hpp"

namespace assay::arithmetic {

class Permutation {
public:
    /// Rounds of the network.
    static constexpr std::uint32_t kRounds = 6;

    /// The permutation of `size` elements that (seed, epoch) names. REQUIRES 1 <= size <= 2^62.
    Permutation(std::uint64_t seed, std::uint64_t epoch, std::uint64_t size);

    /// The image of `index`. REQUIRES index < size(). On average below 4 network evaluations.
    /// Round r (0…5): (left, right) → (right, left xor (F mod 2^h)), where F is the 64-bit number made of the
    /// first two words (first one low) of philox(counter = (right low, right high, r, 0), key = stream key),
    /// the stream key being the first two words of philox(counter = (kDataOrder, epoch low, epoch high, 0),
    /// key = seed).
    [[nodiscard]] std::uint64_t operator()(std::uint64_t index) const;
    [[nodiscard]] std::uint64_t size() const { return size_; }

private:
    PhiloxKey key_{};
    std::uint64_t size_ = 1;
    unsigned half_bits_ = 1;
};

}  // namespace assay::arithmetic
