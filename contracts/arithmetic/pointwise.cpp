// SPDX-License-Identifier: Apache-2.0
#include "contracts/arithmetic/pointwise.hpp"

#include "contracts/base/check.hpp"

namespace assay::arithmetic {

namespace {
float inner_tanh(float x) { return tanh32((x * kGeluScale) * fma32(x * x, kGeluCubic, 1.0F)); }
}  // namespace

void gelu_forward(std::span<const float> x, std::span<float> y) {
    ASSAY_CHECK(x.size() == y.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        const float h = 0.5F * x[i];
        y[i] = fma32(h, inner_tanh(x[i]), h);
    }
}

void gelu_backward(std::span<const float> x, std::span<const float> dy, std::span<float> dx) {
    ASSAY_CHECK(x.size() == dy.size() && x.size() == dx.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        const float t = inner_tanh(x[i]);
        const float s = fma32(-t, t, 1.0F);
        const float q = fma32(x[i] * x[i], kGeluSlopeCubic, kGeluScale);
        const float a = fma32(0.5F, t, 0.5F);
        dx[i] = dy[i] * fma32((0.5F * x[i]) * s, q, a);
    }
}

void add(std::span<const float> a, std::span<const float> b, std::span<float> y) {
    ASSAY_CHECK(a.size() == b.size() && a.size() == y.size());
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = a[i] + b[i];
}

}  // namespace assay::arithmetic
