// SPDX-License-Identifier: Apache-2.0
// Gives CpuDevice the matrix products of a profile and a target as a table of functions, each with the
// bits of its definition in contracts/arithmetic. Everything that multiplies matrices is here; everything
// else, which both profiles share, is in kernels.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "contracts/arithmetic/attention.hpp"
#include "contracts/arithmetic/matrix.hpp"
#include "contracts/arithmetic/product_rule.hpp"
#include "contracts/program/job_spec.hpp"
#include "trainer/host/targets.hpp"
#include "trainer/host/thread_pool.hpp"

namespace assay::trainer {

class ProductGuard;

using arithmetic::ChainStart;
using arithmetic::MatrixView;

/// The largest magnitudes, as bits without the sign, of the lanes of an operand (rows of a, columns of b) in
/// each block of k: of lane l in block b at data[b · stride + l].
struct LaneMaxima {
    const std::int32_t* data = nullptr;  ///< null: nobody knows them
    std::uint64_t stride = 0;
};

/// c[m,n] = a[m,k] · b[k,n], from +0 or from what c holds; rows of c are c_stride >= n floats apart. Profile
/// f32: every output is the chain over k ascending of fma(a, b, ·). Profile i16: exact_product.hpp by `rule`.
struct Product {
    std::uint64_t m = 0;
    std::uint64_t n = 0;
    std::uint64_t k = 0;
    MatrixView a;
    MatrixView b;
    float* c = nullptr;
    std::uint64_t c_stride = 0;
    ChainStart start = ChainStart::kZero;
    arithmetic::ProductRule rule = {};
    const float* bias =
        nullptr;  ///< n numbers or none: c[i,j] + bias[j], one more rounding, is what is stored
    const std::byte* packed_b = nullptr;  ///< what pack_b() made of b for a product of this n, k and rule
    /// Profile i16: those of a and b where whoever wrote an operand has found them, so that nobody reads it
    /// again for them. REQUIRES what is there; of a packed b they are not looked at.
    LaneMaxima a_maxima = {};
    LaneMaxima b_maxima = {};
    /// Profile i16: checks some of the sums (integer/guard.hpp), for which b is there though it is packed.
    ProductGuard* guard = nullptr;
};

/// Each returns whether every number that it wrote is finite.
struct ProductKernels {
    using Floats = std::span<float>;
    using View = std::span<const float>;

    /// Splits its work over the pool.
    bool (*product)(const Product&, ThreadPool&);

    /// Bytes of b packed whole, for products of any m. nullptr, and pack_b too: b is not packed whole.
    std::uint64_t (*packed_b_bytes)(const Product&) = nullptr;
    /// Packs b into memory that is aligned to 64 bytes. Splits its work over the pool.
    void (*pack_b)(const Product&, ThreadPool&, std::byte* memory) = nullptr;

    /// Of ONE head of ONE sequence, on the calling thread. Entries above the diagonal are left alone.
    bool (*attention_scores)(arithmetic::HeadShape, arithmetic::HeadView q, arithmetic::HeadView k, Floats);
    bool (*attention_values)(arithmetic::HeadShape, View p, arithmetic::HeadView v, arithmetic::HeadOut o);
    bool (*attention_probability_gradient)(arithmetic::HeadShape, arithmetic::HeadView d_o,
                                           arithmetic::HeadView v, Floats dp);
    bool (*attention_query_gradient)(arithmetic::HeadShape, View ds, arithmetic::HeadView k,
                                     arithmetic::HeadOut dq);
    /// kCarry: of a group of query heads that share a key head, each after the first.
    bool (*attention_key_gradient)(arithmetic::HeadShape, View ds, arithmetic::HeadView q,
                                   arithmetic::HeadOut dk, ChainStart);
    bool (*attention_value_gradient)(arithmetic::HeadShape, View p, arithmetic::HeadView d_o,
                                     arithmetic::HeadOut dv, ChainStart);

    /// Takes what the calling thread keeps for such heads and, in profile f32, for products; false when there
    /// is no memory. After it these ask that thread for nothing more; a product in profile i16 keeps
    /// packed operands too, in the thread that calls it, and throws std::bad_alloc there.
    bool (*prepare_thread)(arithmetic::HeadShape);
    /// Bytes that prepare_thread() takes.
    std::uint64_t (*thread_bytes)(arithmetic::HeadShape);
};

/// The table of a profile and a target. REQUIRES a target that this machine has (targets.hpp).
const ProductKernels& products(program::Profile profile, Target target);

}  // namespace assay::trainer
