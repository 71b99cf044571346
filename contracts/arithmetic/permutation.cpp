// SPDX-License-Identifier: Apache-2.0
#include "contracts/arithmetic/permutation.hpp"

#include <algorithm>
#include <bit>

#include "contracts/base/check.hpp"

namespace assay::arithmetic {

Permutation::Permutation(std::uint64_t seed, std::uint64_t epoch, std::uint64_t size) : size_(size) {
    ASSAY_CHECK(size >= 1 && size <= (1ULL << 62));
    const auto bits = static_cast<unsigned>(std::bit_width(size - 1));
    half_bits_ = std::max(1U, (bits + 1) / 2);
    const PhiloxBlock block =
        philox({static_cast<std::uint32_t>(Purpose::kDataOrder), static_cast<std::uint32_t>(epoch),
                static_cast<std::uint32_t>(epoch >> 32), 0},
               {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
    key_ = {block[0], block[1]};
}

std::uint64_t Permutation::operator()(std::uint64_t index) const {
    ASSAY_CHECK(index < size_);
    const std::uint64_t mask = (1ULL << half_bits_) - 1;
    do {
        std::uint64_t left = index >> half_bits_;
        std::uint64_t right = index & mask;
        for (std::uint32_t round = 0; round < kRounds; ++round) {
            const PhiloxBlock block = philox(
                {static_cast<std::uint32_t>(right), static_cast<std::uint32_t>(right >> 32), round, 0}, key_);
            const std::uint64_t f = std::uint64_t{block[1]} << 32 | block[0];
            const std::uint64_t next = left ^ (f & mask);
            left = right;
            right = next;
        }
        index = left << half_bits_ | right;
    } while (index >= size_);
    return index;
}

}  // namespace assay::arithmetic
