// SPDX-License-Identifier: Apache-2.0
#include "contracts/arithmetic/product.hpp"

#include <vector>

#include "contracts/arithmetic/elementary.hpp"
#include "contracts/base/check.hpp"

namespace assay::arithmetic {

void product_nn(ProductShape shape, std::span<const float> a, std::span<const float> b, std::span<float> c) {
    ASSAY_CHECK(a.size() == shape.m * shape.k && b.size() == shape.k * shape.n &&
                c.size() == shape.m * shape.n);
    for (std::uint64_t i = 0; i < shape.m; ++i) {
        for (std::uint64_t j = 0; j < shape.n; ++j) {
            float sum = 0.0F;
            for (std::uint64_t k = 0; k < shape.k; ++k) {
                sum = fma32(a[i * shape.k + k], b[k * shape.n + j], sum);
            }
            c[i * shape.n + j] = sum;
        }
    }
}

void product_nt(ProductShape shape, std::span<const float> a, std::span<const float> b, std::span<float> c) {
    ASSAY_CHECK(a.size() == shape.m * shape.k && b.size() == shape.n * shape.k &&
                c.size() == shape.m * shape.n);
    for (std::uint64_t i = 0; i < shape.m; ++i) {
        for (std::uint64_t j = 0; j < shape.n; ++j) {
            float sum = 0.0F;
            for (std::uint64_t k = 0; k < shape.k; ++k) {
                sum = fma32(a[i * shape.k + k], b[j * shape.k + k], sum);
            }
            c[i * shape.n + j] = sum;
        }
    }
}

void product_tn_carry(ProductShape shape, std::span<const float> a, std::span<const float> b,
                      std::span<float> c) {
    ASSAY_CHECK(a.size() == shape.k * shape.m && b.size() == shape.k * shape.n &&
                c.size() == shape.m * shape.n);
    for (std::uint64_t i = 0; i < shape.m; ++i) {
        for (std::uint64_t j = 0; j < shape.n; ++j) {
            float sum = c[i * shape.n + j];
            for (std::uint64_t k = 0; k < shape.k; ++k) {
                sum = fma32(a[k * shape.m + i], b[k * shape.n + j], sum);
            }
            c[i * shape.n + j] = sum;
        }
    }
}

void add_bias(std::span<const float> bias, std::span<float> y) {
    ASSAY_CHECK(!bias.empty() && y.size() % bias.size() == 0);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = y[i] + bias[i % bias.size()];
}

void bias_gradient_carry(std::span<const float> dy, std::span<float> db) {
    ASSAY_CHECK(!db.empty() && dy.size() % db.size() == 0);
    std::vector<float> sums(db.size(), 0.0F);
    for (std::size_t i = 0; i < dy.size(); ++i) sums[i % db.size()] = sums[i % db.size()] + dy[i];
    for (std::size_t j = 0; j < db.size(); ++j) db[j] = db[j] + sums[j];
}

}  // namespace assay::arithmetic
