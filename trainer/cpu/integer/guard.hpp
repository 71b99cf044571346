// SPDX-License-Identifier: Apache-2.0
// ProductGuard finds faulty cores. From time to time it checks the integer sums S of a region of a product by
// Freivalds' method: S·x = A·(B·x) for a random vector x, at the cost of two products of a matrix and a
// vector. It computes A and B, the fixed point of the definition, again from the operands, so it checks
// packing, too. Everything is an exact integer of at most 128 bits: a sound processor never fails, and sums
// of which any is wrong pass with a probability of at most 2^-40.
//
// It is a local precaution. Its randomness and its clock choose what is checked; no result of a product
// depends on them.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "trainer/cpu/integer/machine.hpp"
#include "trainer/cpu/kernels/products.hpp"

namespace assay::trainer {

class ProductGuard {
public:
    /// Checks a product while the checks so far took at most one part in `parts` of the products' time, so
    /// always the first one. 0: checks every product. `seed` chooses regions, and x.
    ProductGuard(std::uint64_t parts, std::uint64_t seed);

    /// Whether the next product is to be checked.
    [[nodiscard]] bool is_due() const { return parts_ == 0 || spent_ns_ * parts_ <= worked_ns_; }
    /// A random number below `count`. REQUIRES count > 0.
    std::uint64_t pick(std::uint64_t count);
    /// Room for the sums of a region: kGroup rows of kGroup.
    [[nodiscard]] std::int64_t* sums() { return sums_.data(); }

    /// A region of a product: rows and columns from `row` and `col` on, over the k of one block.
    struct Region {
        std::uint64_t row = 0, rows = 0;
        std::uint64_t col = 0, cols = 0;
        std::uint64_t first_k = 0, depth = 0;
    };
    /// Checks that sums() are those of a region of p. A region whose operands are not finite passes.
    void judge(const Product& p, const Region& region);
    /// Adds the time that a product took, its check included.
    void took(std::chrono::nanoseconds time) { worked_ns_ += static_cast<std::uint64_t>(time.count()); }

    [[nodiscard]] std::uint64_t checked() const { return checked_; }
    /// Regions whose sums were wrong.
    [[nodiscard]] std::uint64_t wrong() const { return wrong_; }

private:
    [[nodiscard]] bool is_right(const Product& p, const Region& region);

    std::uint64_t parts_;
    std::uint64_t random_;
    std::uint64_t worked_ns_ = 0, spent_ns_ = 0;
    std::uint64_t checked_ = 0, wrong_ = 0;
    std::vector<std::int64_t> sums_;
    std::vector<std::int64_t> vector_;   // x, by column
    std::vector<std::int64_t> product_;  // B·x, by k
};

/// As training has it: at most one part in 256, chosen anew in each process. The variable
/// ASSAY_PRODUCT_CHECKS turns it off with the word "off", for measurements.
ProductGuard make_product_guard();
bool product_checks_are_on();

}  // namespace assay::trainer
