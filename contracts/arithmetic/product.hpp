// SPDX-License-Identifier: Apache-2.0
// Defines the matrix products of profile f32 for reference machine and kernels: every output is the chain
// c = fma(a[k], b[k], c), k ascending, from +0 (or from a carried accumulator). Matrices are row-major and
// dense. Numbers of rows are free, so that a caller may compute any block of rows by passing the
// sub-spans.
#pragma once

#include <cstdint>
#include <span>

namespace assay::arithmetic {

/// Sizes of a product: the output has m rows and n columns, the chain k terms.
struct ProductShape {
    std::uint64_t m = 0;
    std::uint64_t n = 0;
    std::uint64_t k = 0;
};

/// c[m,n] = a[m,k] · b[k,n]. Forward of a linear layer (x·W), input gradient of the head (dlogits·wte).
void product_nn(ProductShape shape, std::span<const float> a, std::span<const float> b, std::span<float> c);

/// c[m,n] = a[m,k] · b[n,k]ᵀ. Input gradient of a linear layer (dY·Wᵀ), logits of the head (h·wteᵀ).
void product_nt(ProductShape shape, std::span<const float> a, std::span<const float> b, std::span<float> c);

/// c[m,n] carries on the chain over the rows k of a[k,m] and b[k,n] from the value that c holds. Weight
/// gradients: rows are tokens in order, c starts at +0 for a step and is carried across micro-batches, so
/// the split into micro-batches leaves the bits alone.
void product_tn_carry(ProductShape shape, std::span<const float> a, std::span<const float> b,
                      std::span<float> c);

/// y[t,j] = y[t,j] + bias[j] in place: one rounding after the product's.
void add_bias(std::span<const float> bias, std::span<float> y);

/// db[j] = db[j] + s[j], where s[j] is the chain over the tokens of ONE sequence of dy[t,j] from +0. Call
/// once per sequence, in order; db starts at +0 for a step.
void bias_gradient_carry(std::span<const float> dy, std::span<float> db);

}  // namespace assay::arithmetic
