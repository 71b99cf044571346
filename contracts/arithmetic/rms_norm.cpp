// SPDX-License-Identifier: Apache-2.0
#include "contracts/arithmetic/rms_norm.hpp"

#include <vector>

#include "contracts/arithmetic/elementary.hpp"
#include "contracts/arithmetic/reduce.hpp"
#include "contracts/base/check.hpp"

namespace assay::arithmetic {

void rms_norm_forward(float epsilon, std::span<const float> x, std::span<const float> gain,
                      std::span<float> y, std::span<float> rstd) {
    const std::size_t n = gain.size();
    ASSAY_CHECK(n > 0 && x.size() == rstd.size() * n && y.size() == x.size());
    const float r = 1.0F / static_cast<float>(n);
    for (std::size_t t = 0; t < rstd.size(); ++t) {
        const auto row = x.subspan(t * n, n);
        const float mean_square = lane_dot(row, row) * r;
        rstd[t] = rsqrt32(mean_square + epsilon);
        for (std::size_t i = 0; i < n; ++i) y[t * n + i] = (row[i] * rstd[t]) * gain[i];
    }
}

void rms_norm_input_gradient(std::span<const float> dy, std::span<const float> x, std::span<const float> gain,
                             std::span<const float> rstd, std::span<float> dx) {
    const std::size_t n = gain.size();
    ASSAY_CHECK(n > 0 && x.size() == rstd.size() * n && dy.size() == x.size() && dx.size() == x.size());
    const float r = 1.0F / static_cast<float>(n);
    std::vector<float> normal(n);
    std::vector<float> scaled(n);
    for (std::size_t t = 0; t < rstd.size(); ++t) {
        for (std::size_t i = 0; i < n; ++i) {
            normal[i] = x[t * n + i] * rstd[t];
            scaled[i] = dy[t * n + i] * gain[i];
        }
        const float c = lane_dot(scaled, normal) * r;
        for (std::size_t i = 0; i < n; ++i) dx[t * n + i] = (scaled[i] - normal[i] * c) * rstd[t];
    }
}

void rms_norm_parameter_gradient_carry(std::span<const float> dy, std::span<const float> x,
                                       std::span<const float> rstd, std::span<float> dgain) {
    const std::size_t n = dgain.size();
    ASSAY_CHECK(n > 0 && x.size() == rstd.size() * n && dy.size() == x.size());
    std::vector<float> gains(n, 0.0F);
    for (std::size_t t = 0; t < rstd.size(); ++t) {
        for (std::size_t i = 0; i < n; ++i) {
            gains[i] = fma32(dy[t * n + i], x[t * n + i] * rstd[t], gains[i]);
        }
    }
    for (std::size_t i = 0; i < n; ++i) dgain[i] = dgain[i] + gains[i];
}

}  // namespace assay::arithmetic
