// SPDX-License-Identifier: Apache-2.0
#include "trainer/cpu/gemm_bench.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "contracts/arithmetic/philox.hpp"
#include "trainer/cpu/kernels/products.hpp"

namespace assay::trainer {

namespace {
// Standard normal, as the peers' numbers are: how large numbers are beside their row's largest decides how
// often some exact kernels move sums (integer/tile_runs-inl.hpp).
std::vector<float> noise(std::uint64_t count, std::uint32_t which) {
    std::vector<float> values(count);
    for (std::uint64_t i = 0; i < count; i += 4) {
        const auto four =
            arithmetic::normals(arithmetic::philox({static_cast<std::uint32_t>(i), which, 0, 0}, {1, 2}));
        std::copy_n(four.begin(), std::min<std::uint64_t>(4, count - i),
                    values.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return values;
}

// As the operator table has them (contracts/program/operator_table.hpp).
constexpr std::uint64_t kSequence = 256;  // tokens of one: the block of a weight gradient's sums
constexpr std::uint8_t kLogitsGradientDigits = 3;

// Matrices as a layer holds them: x [tokens,in], w [in,out], the head's [out,in], y [tokens,out].
struct GemmBench {
    GemmBench(Target target, int threads, program::Profile profile, GemmShape shape, GemmKind kind)
        : table(products(profile, target)), pool(threads) {
        const auto [t, in, out] = shape;
        const bool of_head = kind == GemmKind::kHeadInputGradient || kind == GemmKind::kHeadWeightGradient;
        const std::vector<float> x = noise(t * in, 1);
        const std::vector<float> w = noise(in * out, 2);
        const std::vector<float> dy = noise(t * out, 3);
        switch (kind) {
            case GemmKind::kForward:
                a = x, b = w;
                p = {t, out, in, {a.data(), in, 1}, {b.data(), out, 1}, nullptr, out};
                break;
            case GemmKind::kInputGradient:
            case GemmKind::kHeadInputGradient:
                a = dy, b = w;
                p = {t, in, out, {a.data(), out, 1}, {b.data(), 1, out}, nullptr, in};
                if (of_head) p.b = {b.data(), in, 1};
                break;
            case GemmKind::kWeightGradient:
                a = x, b = dy;
                p = {in, out, t, {a.data(), 1, in}, {b.data(), out, 1}, nullptr, out};
                break;
            case GemmKind::kHeadWeightGradient:
                a = dy, b = x;
                p = {out, in, t, {a.data(), 1, out}, {b.data(), in, 1}, nullptr, in};
                break;
        }
        if (of_head) p.rule.a_digits = kLogitsGradientDigits;
        if (kind == GemmKind::kWeightGradient || kind == GemmKind::kHeadWeightGradient) {
            p.rule.block = kSequence;
            p.start = ChainStart::kCarry;
        }
        c.resize(p.m * p.n);
        p.c = c.data();
    }
    void operator()() { table.product(p, pool); }
    const ProductKernels& table;
    ThreadPool pool;
    std::vector<float> a, b, c;
    Product p;
};
}  // namespace

std::function<void()> make_cpu_gemm(Target target, int threads, program::Profile profile, GemmShape shape,
                                    GemmKind kind) {
    return [bench = std::make_shared<GemmBench>(target, threads, profile, shape, kind)] { (*bench)(); };
}

}  // namespace assay::trainer
