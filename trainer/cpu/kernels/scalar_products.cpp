// SPDX-License-Identifier: Apache-2.0
#include "contracts/arithmetic/attention.hpp"
#include "contracts/arithmetic/reduce.hpp"
#include "trainer/cpu/kernels/scalar_kernels.hpp"

namespace assay::trainer {

namespace {
using arithmetic::HeadOut;
using arithmetic::HeadShape;
using arithmetic::HeadView;
using Floats = ProductKernels::Floats;
using View = ProductKernels::View;

// One k-chain per output, eight outputs side by side so that the chains hide each other's latency. Rows
// [first, last).
[[gnu::always_inline]] inline void product_rows(const Product& p, std::size_t first, std::size_t last) {
    constexpr std::uint64_t kWide = 8;
    for (std::uint64_t i = first; i < last; ++i) {
        for (std::uint64_t j0 = 0; j0 < p.n; j0 += kWide) {
            const std::uint64_t count = p.n - j0 < kWide ? p.n - j0 : kWide;
            float* c = p.c + i * p.c_stride + j0;
            float sums[kWide] = {};
            for (std::uint64_t j = 0; p.start == ChainStart::kCarry && j < count; ++j) sums[j] = c[j];
            for (std::uint64_t k = 0; k < p.k; ++k) {
                const float a = p.a.data[i * p.a.row_stride + k * p.a.col_stride];
                const float* b = p.b.data + k * p.b.row_stride + j0 * p.b.col_stride;
                if (count == kWide) {
                    for (std::uint64_t j = 0; j < kWide; ++j) {
                        sums[j] = __builtin_fmaf(a, b[j * p.b.col_stride], sums[j]);
                    }
                } else {
                    for (std::uint64_t j = 0; j < count; ++j) {
                        sums[j] = __builtin_fmaf(a, b[j * p.b.col_stride], sums[j]);
                    }
                }
            }
            for (std::uint64_t j = 0; j < count; ++j) {
                c[j] = p.bias == nullptr ? sums[j] : sums[j] + p.bias[j0 + j];
            }
        }
    }
}

void rows_by_definition(const Product& p, std::size_t first, std::size_t last) {
    product_rows(p, first, last);
}

#if defined(__x86_64__)
// The same loop with the fma instruction in place of the library's fmaf: IEEE-754 fixes the result.
[[gnu::target("fma")]] void rows_with_instruction(const Product& p, std::size_t first, std::size_t last) {
    product_rows(p, first, last);
}
bool has_instruction() { return __builtin_cpu_supports("fma") != 0; }
#else
void rows_with_instruction(const Product& p, std::size_t first, std::size_t last) {
    product_rows(p, first, last);
}
bool has_instruction() { return false; }
#endif

bool finite_rows(std::uint64_t rows, std::uint64_t cols, const float* data, std::uint64_t stride) {
    bool good = true;
    for (std::uint64_t i = 0; i < rows; ++i) good = arithmetic::all_finite({data + i * stride, cols}) && good;
    return good;
}
bool finite_triangle(std::uint64_t tokens, View square) {
    bool good = true;
    for (std::uint64_t i = 0; i < tokens; ++i) {
        good = arithmetic::all_finite(square.subspan(i * tokens, i + 1)) && good;
    }
    return good;
}
bool finite_head(HeadShape shape, HeadOut out) {
    return finite_rows(shape.tokens, shape.head_dim, out.data, out.stride);
}

bool product(const Product& p, ThreadPool& pool) {
    const auto rows = has_instruction() ? rows_with_instruction : rows_by_definition;
    pool.split(p.m, 1, [&](std::size_t first, std::size_t last) { rows(p, first, last); });
    return finite_rows(p.m, p.n, p.c, p.c_stride);
}

bool attention_scores(HeadShape shape, HeadView q, HeadView k, Floats scores) {
    arithmetic::attention_scores(shape, q, k, scores);
    return finite_triangle(shape.tokens, scores);
}
bool attention_values(HeadShape shape, View p, HeadView v, HeadOut o) {
    arithmetic::attention_values(shape, p, v, o);
    return finite_head(shape, o);
}
bool attention_probability_gradient(HeadShape shape, HeadView d_o, HeadView v, Floats dp) {
    arithmetic::attention_probability_gradient(shape, d_o, v, dp);
    return finite_triangle(shape.tokens, dp);
}
bool attention_query_gradient(HeadShape shape, View ds, HeadView k, HeadOut dq) {
    arithmetic::attention_query_gradient(shape, ds, k, dq);
    return finite_head(shape, dq);
}
bool attention_key_gradient(HeadShape shape, View ds, HeadView q, HeadOut dk, ChainStart start) {
    arithmetic::attention_key_gradient(shape, ds, q, dk, start);
    return finite_head(shape, dk);
}
bool attention_value_gradient(HeadShape shape, View p, HeadView d_o, HeadOut dv, ChainStart start) {
    arithmetic::attention_value_gradient(shape, p, d_o, dv, start);
    return finite_head(shape, dv);
}
// The definitions keep nothing between calls.
bool prepare_thread(HeadShape) { return true; }
std::uint64_t thread_bytes(HeadShape) { return 0; }
}  // namespace

const ProductKernels& scalar_products() {
    static const ProductKernels table = {
        .product = product,
        .attention_scores = attention_scores,
        .attention_values = attention_values,
        .attention_probability_gradient = attention_probability_gradient,
        .attention_query_gradient = attention_query_gradient,
        .attention_key_gradient = attention_key_gradient,
        .attention_value_gradient = attention_value_gradient,
        .prepare_thread = prepare_thread,
        .thread_bytes = thread_bytes,
    };
    return table;
}

}  // namespace assay::trainer
