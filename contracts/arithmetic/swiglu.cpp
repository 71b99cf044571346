// SPDX-License-Identifier: Apache-2.0
#include "contracts/arithmetic/swiglu.hpp"

#include "contracts/arithmetic/elementary.hpp"
#include "contracts/base/check.hpp"

namespace assay::arithmetic {

void swiglu_forward(std::uint64_t hidden, std::span<const float> x, std::span<float> y) {
    ASSAY_CHECK(hidden > 0 && y.size() % hidden == 0 && x.size() == 2 * y.size());
    for (std::size_t row = 0; row < y.size() / hidden; ++row) {
        const auto gate = x.subspan(2 * row * hidden, hidden);
        const auto up = x.subspan((2 * row + 1) * hidden, hidden);
        for (std::size_t i = 0; i < hidden; ++i) {
            y[row * hidden + i] = (gate[i] * sigmoid32(gate[i])) * up[i];
        }
    }
}

void swiglu_backward(std::uint64_t hidden, std::span<const float> x, std::span<const float> dy,
                     std::span<float> dx) {
    ASSAY_CHECK(hidden > 0 && dy.size() % hidden == 0 && x.size() == 2 * dy.size() && dx.size() == x.size());
    for (std::size_t row = 0; row < dy.size() / hidden; ++row) {
        for (std::size_t i = 0; i < hidden; ++i) {
            const std::size_t at = 2 * row * hidden + i;
            const float gate = x[at];
            const float up = x[at + hidden];
            const float d = dy[row * hidden + i];
            const float s = sigmoid32(gate);
            dx[at] = (d * up) * silu_slope32(gate, s);
            dx[at + hidden] = d * (gate * s);
        }
    }
}

}  // namespace assay::arithmetic
