// SPDX-License-Identifier: Apache-2.0
#include "trainer/cpu/gemm_bench.hpp"

#include <algorithm>
#include <memory>

#include "contracts/arithmetic/philox.hpp"
#include "trainer/cpu/kernels/products.hpp"
#include "trainer/host/arena.hpp"

namespace assay::trainer {

namespace {
// Standard normal, as the peers' numbers are: how large numbers are beside their row's largest decides how
// often some exact kernels move sums (integer/tile_runs-inl.hpp).
const float* noise(Arena& arena, std::uint64_t count, std::uint32_t which) {
    float* values = arena.allocate(count);
    for (std::uint64_t i = 0; i < count; i += 4) {
        const auto four =
            arithmetic::normals(arithmetic::philox({static_cast<std::uint32_t>(i), which, 0, 0}, {1, 2}));
        std::copy_n(four.begin(), std::min<std::uint64_t>(4, count - i), values + i);
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
        const float* x = noise(*arena, t * in, 1);
        const float* w = noise(*arena, in * out, 2);
        const float* dy = noise(*arena, t * out, 3);
        switch (kind) {
            case GemmKind::kForward: p = {t, out, in, {x, in, 1}, {w, out, 1}, nullptr, out}; break;
            case GemmKind::kInputGradient:
            case GemmKind::kHeadInputGradient:
                p = {t, in, out, {dy, out, 1}, {w, 1, out}, nullptr, in};
                if (of_head) p.b = {w, in, 1};
                break;
            case GemmKind::kWeightGradient: p = {in, out, t, {x, 1, in}, {dy, out, 1}, nullptr, out}; break;
            case GemmKind::kHeadWeightGradient:
                p = {out, in, t, {dy, 1, out}, {x, in, 1}, nullptr, in};
                break;
        }
        if (of_head) p.rule.a_digits = kLogitsGradientDigits;
        if (kind == GemmKind::kWeightGradient || kind == GemmKind::kHeadWeightGradient) {
            p.rule.block = kSequence;
            p.start = ChainStart::kCarry;
        }
        p.c = arena->allocate(p.m * p.n);
        std::fill_n(p.c, p.m * p.n, 0.0F);
    }
    void operator()() { table.product(p, pool); }
    const ProductKernels& table;
    ThreadPool pool;
    std::unique_ptr<Arena> arena = make_heap_arena();  // as a step has its tensors
    Product p;
};
}  // namespace

std::function<void()> make_cpu_gemm(Target target, int threads, program::Profile profile, GemmShape shape,
                                    GemmKind kind) {
    return [bench = std::make_shared<GemmBench>(target, threads, profile, shape, kind)] { (*bench)(); };
}

}  // namespace assay::trainer
