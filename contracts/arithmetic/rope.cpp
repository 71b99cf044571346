// SPDX-License-Identifier: Apache-2.0
#include "contracts/arithmetic/rope.hpp"

#include "contracts/arithmetic/elementary.hpp"
#include "contracts/base/check.hpp"

namespace assay::arithmetic {

namespace {
// Turns every pair by the table's angle; `turn` is called with cos, sin and both numbers.
template <class Turn>
void rotate(RopeShape shape, RopeTableView table, float* x, Turn turn) {
    const std::uint64_t half = shape.head_dim / 2;
    ASSAY_CHECK(shape.head_dim % 2 == 0 && shape.stride >= shape.heads * shape.head_dim);
    ASSAY_CHECK(table.cos.size() >= (shape.first + shape.tokens) * half &&
                table.sin.size() == table.cos.size());
    for (std::uint64_t t = 0; t < shape.tokens; ++t) {
        for (std::uint64_t h = 0; h < shape.heads; ++h) {
            float* head = x + t * shape.stride + h * shape.head_dim;
            for (std::uint64_t i = 0; i < half; ++i) {
                const std::uint64_t at = (shape.first + t) * half + i;
                turn(table.cos[at], table.sin[at], head[i], head[i + half]);
            }
        }
    }
}
}  // namespace

DoubleWord rope_frequency(double theta, std::uint64_t i, std::uint64_t half) {
    return inverse_power(theta, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(half));
}

RopeAngle rope_angle(DoubleWord frequency, std::uint64_t token) {
    const SinCos both = sin_cos(multiply(frequency, {static_cast<double>(token), 0.0}));
    return {static_cast<float>(both.cos), static_cast<float>(both.sin)};
}

void rope_table(std::uint64_t tokens, std::uint64_t head_dim, double theta, std::span<float> cos,
                std::span<float> sin) {
    const std::uint64_t half = head_dim / 2;
    ASSAY_CHECK(half > 0 && head_dim % 2 == 0 && tokens <= 0x80000000U);
    ASSAY_CHECK(cos.size() == tokens * half && sin.size() == tokens * half);
    for (std::uint64_t i = 0; i < half; ++i) {
        const DoubleWord frequency = rope_frequency(theta, i, half);
        for (std::uint64_t t = 0; t < tokens; ++t) {
            const RopeAngle angle = rope_angle(frequency, t);
            cos[t * half + i] = angle.cos;
            sin[t * half + i] = angle.sin;
        }
    }
}

void rope_forward(RopeShape shape, RopeTableView table, float* x) {
    rotate(shape, table, x, [](float cos, float sin, float& first, float& second) {
        const float a = first;
        const float b = second;
        first = fma32(a, cos, -(b * sin));
        second = fma32(b, cos, a * sin);
    });
}

void rope_backward(RopeShape shape, RopeTableView table, float* dx) {
    rotate(shape, table, dx, [](float cos, float sin, float& first, float& second) {
        const float a = first;
        const float b = second;
        first = fma32(a, cos, b * sin);
        second = fma32(b, cos, -(a * sin));
    });
}

}  // namespace assay::arithmetic
