// SPDX-License-Identifier: Apache-2.0
#include "contracts/arithmetic/layer_norm.hpp"

#include <vector>

#include "contracts/arithmetic/elementary.hpp"
#include "contracts/arithmetic/reduce.hpp"
#include "contracts/base/check.hpp"

namespace assay::arithmetic {

void layer_norm_forward(std::span<const float> x, std::span<const float> gain, std::span<const float> bias,
                        std::span<float> y, LayerNormRows rows) {
    const std::size_t n = gain.size();
    const std::size_t count = rows.mean.size();
    ASSAY_CHECK(n > 0 && bias.size() == n && x.size() == count * n && y.size() == x.size() &&
                rows.rstd.size() == count);
    const auto size = static_cast<float>(n);
    std::vector<float> centred(n);
    for (std::size_t t = 0; t < count; ++t) {
        const auto row = x.subspan(t * n, n);
        const float mean = lane_sum(row) / size;
        for (std::size_t i = 0; i < n; ++i) centred[i] = row[i] - mean;
        const float variance = lane_dot(centred, centred) / size;
        const float rstd = rsqrt32(variance + kLayerNormEpsilon);
        for (std::size_t i = 0; i < n; ++i) y[t * n + i] = fma32(centred[i] * rstd, gain[i], bias[i]);
        rows.mean[t] = mean;
        rows.rstd[t] = rstd;
    }
}

void layer_norm_input_gradient(std::span<const float> dy, std::span<const float> x,
                               std::span<const float> gain, LayerNormRowsView rows, std::span<float> dx) {
    const std::size_t n = gain.size();
    const std::size_t count = rows.mean.size();
    ASSAY_CHECK(n > 0 && x.size() == count * n && dy.size() == x.size() && dx.size() == x.size() &&
                rows.rstd.size() == count);
    const auto size = static_cast<float>(n);
    std::vector<float> normal(n);
    std::vector<float> scaled(n);
    for (std::size_t t = 0; t < count; ++t) {
        for (std::size_t i = 0; i < n; ++i) {
            normal[i] = (x[t * n + i] - rows.mean[t]) * rows.rstd[t];
            scaled[i] = dy[t * n + i] * gain[i];
        }
        const float a = lane_sum(scaled) / size;
        const float b = lane_dot(scaled, normal) / size;
        for (std::size_t i = 0; i < n; ++i) {
            dx[t * n + i] = rows.rstd[t] * fma32(-normal[i], b, scaled[i] - a);
        }
    }
}

void layer_norm_parameter_gradient_carry(std::span<const float> dy, std::span<const float> x,
                                         LayerNormRowsView rows, std::span<float> dgain,
                                         std::span<float> dbias) {
    const std::size_t n = dgain.size();
    const std::size_t count = rows.mean.size();
    ASSAY_CHECK(n > 0 && dbias.size() == n && x.size() == count * n && dy.size() == x.size() &&
                rows.rstd.size() == count);
    std::vector<float> gains(n, 0.0F);
    std::vector<float> biases(n, 0.0F);
    for (std::size_t t = 0; t < count; ++t) {
        for (std::size_t i = 0; i < n; ++i) {
            const float normal = (x[t * n + i] - rows.mean[t]) * rows.rstd[t];
            gains[i] = fma32(dy[t * n + i], normal, gains[i]);
            biases[i] = biases[i] + dy[t * n + i];
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        dgain[i] = dgain[i] + gains[i];
        dbias[i] = dbias[i] + biases[i];
    }
}

}  // namespace assay::arithmetic
