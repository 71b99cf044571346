// SPDX-License-Identifier: Apache-2.0
// ProductKernels is the table of the matrix products of a profile and a target, each with the bits of its
// definition in contracts/arithmetic. The kernels that both profiles share are in kernels.hpp.
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

/// The largest magnitudes, as bits without the sign, of an operand's lanes (rows of a, columns of b) in each
/// block of k. That of lane l in block b is data[b · stride + l].
struct LaneMaxima {
    const std::int32_t* data = nullptr;  ///< null: not known
    std::uint64_t stride = 0;
};

/// c[m,n] = a[m,k] · b[k,n], starting from +0 or from what c holds; rows of c are c_stride >= n floats apart.
/// Profile f32: every output is the chain of fma(a, b, ·) over ascending k. Profile i16: exact_product.hpp by
/// `rule`.
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
    const float* bias = nullptr;  ///< n numbers or null: stores c[i,j] + bias[j], with one more rounding
    const std::byte* packed_b = nullptr;  ///< null, or pack_b()'s result for a product of this n, k and rule
    /// Profile i16: maxima of a and b, if they are known; saves reading the operand
    /// for them. REQUIRES right values where set. Those of a packed b are ignored.
    LaneMaxima a_maxima = {};
    LaneMaxima b_maxima = {};
    /// Profile i16: checks some of the sums (integer/guard.hpp). It reads b even when packed_b is set.
    ProductGuard* guard = nullptr;
};

/// Each returns whether every number that it wrote is finite.
struct ProductKernels {
    using Floats = std::span<float>;
    using View = std::span<const float>;

    /// Splits its work over the pool.
    bool (*product)(const Product&, ThreadPool&);

    /// Bytes of b packed as a whole, for products of any m. This and pack_b are null in tables that cannot
    /// pack b as a whole.
    std::uint64_t (*packed_b_bytes)(const Product&) = nullptr;
    /// Packs b into memory that is aligned to 64 bytes. Splits its work over the pool.
    void (*pack_b)(const Product&, ThreadPool&, std::byte* memory) = nullptr;

    /// Products of ONE head of ONE sequence, on the calling thread. Entries above the diagonal do not change.
    bool (*attention_scores)(arithmetic::HeadShape, arithmetic::HeadView q, arithmetic::HeadView k, Floats);
    bool (*attention_values)(arithmetic::HeadShape, View p, arithmetic::HeadView v, arithmetic::HeadOut o);
    bool (*attention_probability_gradient)(arithmetic::HeadShape, arithmetic::HeadView d_o,
                                           arithmetic::HeadView v, Floats dp);
    bool (*attention_query_gradient)(arithmetic::HeadShape, View ds, arithmetic::HeadView k,
                                     arithmetic::HeadOut dq);
    /// kCarry: for each query head after the first of a group that shares a key head.
    bool (*attention_key_gradient)(arithmetic::HeadShape, View ds, arithmetic::HeadView q,
                                   arithmetic::HeadOut dk, ChainStart);
    bool (*attention_value_gradient)(arithmetic::HeadShape, View p, arithmetic::HeadView d_o,
                                     arithmetic::HeadOut dv, ChainStart);

    /// Allocates the memory that the calling thread keeps for such heads and, in profile f32, for products;
    /// false when there is none. These then allocate nothing more in that thread. A product in profile i16
    /// also keeps packed operands, in the thread that calls it, and throws std::bad_alloc there.
    bool (*prepare_thread)(arithmetic::HeadShape);
    /// Bytes that prepare_thread() allocates.
    std::uint64_t (*thread_bytes)(arithmetic::HeadShape);
};

/// The table of a profile and a target. REQUIRES a target that this machine has (targets.hpp).
const ProductKernels& products(program::Profile profile, Target target);

}  // namespace assay::trainer
