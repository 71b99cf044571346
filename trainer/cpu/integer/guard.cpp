// SPDX-License-Identifier: Apache-2.0
#include "trainer/cpu/integer/guard.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <random>
#include <string_view>

#include "contracts/arithmetic/exact_product.hpp"
#include "contracts/base/check.hpp"
#include "contracts/base/wide.hpp"

namespace assay::trainer {

namespace {
using integer::kGroup;

constexpr std::uint64_t kParts = 256;
constexpr int kVectorBits = 40;
// B·x in 64 bits; A·(B·x) and S·x in 128.
static_assert((kGroup << kVectorBits) * 32'639 < (1ULL << 63U));

// The fixed point of one row of A or column of B in a block. Numbers that are not finite have none: products
// after a divergence still run, but are meaningless.
struct Lane {
    const float* data;
    std::uint64_t stride;
    std::int32_t exponent;
    bool finite;
    Lane(const float* first, std::uint64_t step, std::uint64_t depth, int digits)
        : data(first), stride(step), exponent(0), finite(false) {
        std::uint32_t most = 0;
        for (std::uint64_t k = 0; k < depth; ++k) {
            most = std::max(most, std::bit_cast<std::uint32_t>(data[k * stride]) & 0x7fffffffU);
        }
        finite = most < 0x7f800000U;
        if (finite) exponent = arithmetic::row_exponent(most, digits);
    }
    [[nodiscard]] std::int64_t at(std::uint64_t k) const {
        return arithmetic::quantise(data[k * stride], exponent);
    }
};
}  // namespace

ProductGuard::ProductGuard(std::uint64_t parts, std::uint64_t seed)
    : parts_(parts),
      random_(seed),
      sums_(kGroup * kGroup),
      vector_(kGroup),
      product_(arithmetic::kMaxProductBlock) {}

// SplitMix64.
std::uint64_t ProductGuard::pick(std::uint64_t count) {
    random_ += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = random_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
    return (z ^ (z >> 31U)) % count;
}

bool ProductGuard::is_right(const Product& p, const Region& region) {
    ASSAY_CHECK(region.rows <= kGroup && region.cols <= kGroup && region.depth <= product_.size());
    std::fill_n(product_.begin(), region.depth, 0);
    for (std::uint64_t j = 0; j < region.cols; ++j) {
        vector_[j] = static_cast<std::int64_t>(1 + pick((1ULL << kVectorBits) - 1));
        const float* data = p.b.data + region.first_k * p.b.row_stride + (region.col + j) * p.b.col_stride;
        const Lane column(data, p.b.row_stride, region.depth, p.rule.b_digits);
        if (!column.finite) return true;
        for (std::uint64_t k = 0; k < region.depth; ++k) product_[k] += column.at(k) * vector_[j];
    }
    for (std::uint64_t i = 0; i < region.rows; ++i) {
        const float* data = p.a.data + (region.row + i) * p.a.row_stride + region.first_k * p.a.col_stride;
        const Lane row(data, p.a.col_stride, region.depth, p.rule.a_digits);
        if (!row.finite) return true;
        base::Int128 expected = 0, found = 0;
        for (std::uint64_t k = 0; k < region.depth; ++k) {
            expected += base::Int128{row.at(k)} * product_[k];
        }
        for (std::uint64_t j = 0; j < region.cols; ++j) {
            found += base::Int128{sums_[i * kGroup + j]} * vector_[j];
        }
        if (expected != found) return false;
    }
    return true;
}

void ProductGuard::judge(const Product& p, const Region& region) {
    const auto start = std::chrono::steady_clock::now();
    ++checked_;
    if (!is_right(p, region)) ++wrong_;
    const auto time = std::chrono::steady_clock::now() - start;
    spent_ns_ +=
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
}

bool product_checks_are_on() {
    const char* word = std::getenv("ASSAY_PRODUCT_CHECKS");
    return word == nullptr || std::string_view(word) != "off";
}

ProductGuard make_product_guard() {
    std::random_device device;
    return {kParts, (std::uint64_t{device()} << 32U) | device()};
}

}  // namespace assay::trainer
