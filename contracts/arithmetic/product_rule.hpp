// SPDX-License-Identifier: Apache-2.0
// The settings of a product of profile i16 besides its operands (exact_product.hpp), for the operator table
// and the products.
#pragma once

#include <cstdint>

namespace assay::arithmetic {

/// Longest block of k: integer sums of it stay below 2^52.
inline constexpr std::uint64_t kMaxProductBlock = 16'384;

/// Rows of k in an attention product's block, when k counts tokens.
inline constexpr std::uint64_t kAttentionBlock = 128;

struct ProductRule {
    std::uint8_t a_digits = 2;  ///< 2: 16-bit fixed point; 3: 24-bit
    std::uint8_t b_digits = 2;
    /// k is cut into blocks of this length, the last one shorter; each has scales of its own.
    std::uint64_t block = kMaxProductBlock;
    friend bool operator==(const ProductRule&, const ProductRule&) = default;
};

}  // namespace assay::arithmetic
