// SPDX-License-Identifier: Apache-2.0
// What tests of products of profile i16 share: operands that are packed, and products beside the law's.
#pragma once

#include "contracts/arithmetic/exact_product.hpp"
#include "tests/trainer/cuda/cuda_support.hpp"
#include "trainer/cuda/kernels/product_i16_wide.hpp"
#include "trainer/cuda/launch/products.hpp"

namespace assay::trainer::cuda::test {

using arithmetic::ChainStart;
using arithmetic::MatrixView;

struct I16Shape {
    unsigned m, n, k, block;
};

// Of the card that is tested.
inline bool has_warpgroups() {
    test::use_test_card();
    return has_wgmma();
}
// An H100's, where there are products by warpgroups.
inline Processors all_processors() { return {.count = has_warpgroups() ? 132U : 0U}; }
// So few, whatever a cut costs.
inline Processors few(unsigned count) { return {.count = count, .weighs = false}; }

// Digits of one operand in memory that held other things.
struct PackedOperand {
    DigitPlace place;
    test::CardVector<std::uint32_t> words;
    test::CardVector<std::int32_t> exponents;
    PackedOperand(DigitPlace where, unsigned matrices)
        : place(where),
          words(where.words() * matrices, 0x55555555U),
          exponents(where.exponents() * matrices) {}
    [[nodiscard]] PackArgs into(OperandView from) {
        return {.from = from, .place = place, .digits = output(words), .exponents = output(exponents)};
    }
    [[nodiscard]] Digits digits(unsigned inner = 1, unsigned sharing = 1) const {
        return {words.data(), exponents.data(), place, inner, sharing};
    }
};

inline OperandPlace place_of(MatrixView view) { return {view.row_stride, view.col_stride}; }

struct ExactProductCase {
    I16Shape s;
    unsigned planes;
    CardFloats a, b, before, wanted, bias;
    MatrixView left, right;
    ChainStart start;
    ExactProductCase(std::mt19937& random, I16Shape shape, unsigned digits, bool turned_a, bool turned_b,
                     ChainStart from, Draw kind = Draw::kWild)
        : s(shape), planes(digits), start(from) {
        a = numbers(random, std::size_t{s.m} * s.k, kind);
        b = numbers(random, std::size_t{s.k} * s.n, kind);
        wanted = before = numbers(random, std::size_t{s.m} * s.n);
        left = turned_a ? MatrixView{a.data(), 1, s.m} : MatrixView{a.data(), s.k, 1};
        right = turned_b ? MatrixView{b.data(), 1, s.k} : MatrixView{b.data(), s.n, 1};
        compute();
    }
    // What the law makes of the operands.
    void compute() {
        wanted = before;
        arithmetic::exact_product({s.m, s.n, s.k}, {static_cast<std::uint8_t>(planes), 2, s.block}, left,
                                  right, start, wanted.data(), s.n);
        if (bias.empty()) return;
        for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] += bias[i % s.n];
    }
    // With digits packed by `pack` and multiplied by `multiply`.
    template <class PackWith, class MultiplyWith>
    bool is_right(const PackWith& pack, const MultiplyWith& multiply) const {
        PackedOperand packed_a({s.m, s.k, s.block, planes}, 1), packed_b({s.n, s.k, s.block, 2}, 1);
        pack(packed_a.into({a.data(), place_of(left)}));
        pack(packed_b.into({b.data(), {right.col_stride, right.row_stride}}));
        CardFloats c = before;
        multiply(ProductI16Args{.a = packed_a.digits(),
                                .b = packed_b.digits(),
                                .c = output(c),
                                .to = {.row_stride = s.n},
                                .bias = bias.empty() ? nullptr : bias.data(),
                                .carry = start == ChainStart::kCarry});
        return same(c, wanted);
    }
    bool is_right(TestStream& stream) const {
        return is_right(
            [&](const PackArgs& args) { pack_i16(stream, args, Mask::kNone, 1); },
            [&](const ProductI16Args& args) { product_i16(stream, args, Mask::kNone, 1, all_processors()); });
    }
};

template <class Kernel, class Args>
void start_one(TestStream& stream, const Args& args) {
    launch<Kernel>(Kernel::grid(args, 1), stream, args);
}

// Whether some order shows that one of the kernels is wrong.
template <class PackKernel, class Product>
bool is_found_with(const ExactProductCase& one, PackKernel, Product) {
    return is_found([&](TestStream& stream) {
        return one.is_right([&](const PackArgs& args) { start_one<PackKernel>(stream, args); },
                            [&](const ProductI16Args& args) { start_one<Product>(stream, args); });
    });
}

// Whether products of warpgroups can be tried; a card that has none says so.
inline bool can_try_warpgroups() {
    if (!has_warpgroups())
        WARN("this card, or this build, has no products of warpgroups: they are not tried");
    return has_warpgroups();
}

}  // namespace assay::trainer::cuda::test
