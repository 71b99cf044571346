// SPDX-License-Identifier: Apache-2.0
// RMSNorm, SwiGLU, rotary positions and grouped queries: against plain formulas in binary64, against finite
// differences, and at their edges.
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "contracts/arithmetic/attention.hpp"
#include "contracts/arithmetic/elementary.hpp"
#include "contracts/arithmetic/rms_norm.hpp"
#include "contracts/arithmetic/rope.hpp"
#include "contracts/arithmetic/swiglu.hpp"
#include "tests/contracts/arithmetic/floats.hpp"
#include "tests/support/catch.hpp"

namespace {
using namespace assay::arithmetic;
using assay::test::random_floats;
using Doubles = std::vector<double>;
using Floats = std::vector<float>;

Doubles wide(const Floats& x) { return {x.begin(), x.end()}; }

double weighted(const Doubles& y, const Floats& weights) {
    double sum = 0;
    for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * static_cast<double>(weights[i]);
    return sum;
}

/// Each entry of `gradient` against the slope of sum(weights · f(x)) by central differences.
void check_slopes(const Floats& gradient, const Floats& x, const Floats& weights,
                  const std::function<Doubles(const Doubles&)>& f) {
    REQUIRE(gradient.size() == x.size());
    constexpr double kStep = 1e-5;
    for (std::size_t i = 0; i < x.size(); ++i) {
        Doubles moved = wide(x);
        moved[i] += kStep;
        const double above = weighted(f(moved), weights);
        moved[i] -= 2 * kStep;
        const double slope = (above - weighted(f(moved), weights)) / (2 * kStep);
        INFO(i);
        CHECK(static_cast<double>(gradient[i]) == Approx(slope).margin(3e-6).epsilon(2e-5));
    }
}

Doubles rms_norm(const Doubles& x, const Doubles& gain, double epsilon) {
    Doubles y(x.size());
    const std::size_t n = gain.size();
    for (std::size_t row = 0; row < x.size(); row += n) {
        double squares = 0;
        for (std::size_t i = 0; i < n; ++i) squares += x[row + i] * x[row + i];
        const double root = std::sqrt(squares / static_cast<double>(n) + epsilon);
        for (std::size_t i = 0; i < n; ++i) y[row + i] = x[row + i] / root * gain[i];
    }
    return y;
}

Doubles swiglu(std::size_t hidden, const Doubles& x) {
    Doubles y;
    for (std::size_t row = 0; row < x.size(); row += 2 * hidden) {
        for (std::size_t i = row; i < row + hidden; ++i) {
            y.push_back(x[i] / (1 + std::exp(-x[i])) * x[i + hidden]);
        }
    }
    return y;
}
}  // namespace

TEST_CASE("RMSNorm and its gradients are those of the formula") {
    std::mt19937_64 random(21);
    constexpr float kEpsilon = 1e-3F;
    for (const std::size_t n : {1U, 5U, 37U}) {
        const Floats x = random_floats(random, 3 * n);
        const Floats gain = random_floats(random, n, 2.0F);
        const Floats dy = random_floats(random, 3 * n);
        Floats y(3 * n);
        Floats rstd(3);
        Floats dx(3 * n);
        Floats dgain(n, 0.0F);
        rms_norm_forward(kEpsilon, x, gain, y, rstd);
        rms_norm_input_gradient(dy, x, gain, rstd, dx);
        rms_norm_parameter_gradient_carry(dy, x, rstd, dgain);
        const auto epsilon = static_cast<double>(kEpsilon);
        const Doubles wanted = rms_norm(wide(x), wide(gain), epsilon);
        for (std::size_t i = 0; i < y.size(); ++i) {
            CHECK(static_cast<double>(y[i]) == Approx(wanted[i]).epsilon(1e-6));
        }
        check_slopes(dx, x, dy, [&](const Doubles& moved) { return rms_norm(moved, wide(gain), epsilon); });
        check_slopes(dgain, gain, dy,
                     [&](const Doubles& moved) { return rms_norm(wide(x), moved, epsilon); });
    }
}

TEST_CASE("a row of zeros has the epsilon's deviation; rounding follows the definition") {
    Floats y(2);
    Floats rstd(1);
    rms_norm_forward(1e-5F, std::array{0.0F, -0.0F}, std::array{1.0F, 1.0F}, y, rstd);
    CHECK(rstd[0] == rsqrt32(1e-5F));
    CHECK(std::bit_cast<std::uint32_t>(y[1]) == 0x80000000U);
    // Three columns: the mean is a product with RN(1/3), not a division by 3.
    Floats three(3);
    rms_norm_forward(0.0F, std::array{3.0F, 0.0F, 0.0F}, std::array{1.0F, 1.0F, 1.0F}, three, rstd);
    CHECK(rstd[0] == rsqrt32(9.0F * (1.0F / 3.0F)));
    CHECK(three[0] == 3.0F * rstd[0]);
}

TEST_CASE("the gain gradient of RMSNorm chains over a sequence first and then over sequences") {
    Floats dgain{0.0F};
    const Floats one{1.0F};
    rms_norm_parameter_gradient_carry(std::array{16777216.0F}, one, one, dgain);
    rms_norm_parameter_gradient_carry(std::array{1.0F, 1.0F}, Floats{1.0F, 1.0F}, Floats{1.0F, 1.0F}, dgain);
    CHECK(dgain[0] == 16777218.0F);
}

TEST_CASE("SwiGLU and its gradients are those of the formula") {
    std::mt19937_64 random(22);
    for (const std::size_t hidden : {1U, 7U, 40U}) {
        const Floats x = random_floats(random, 2 * 2 * hidden, 4.0F);
        const Floats dy = random_floats(random, 2 * hidden);
        Floats y(2 * hidden);
        Floats dx(x.size());
        swiglu_forward(hidden, x, y);
        swiglu_backward(hidden, x, dy, dx);
        const Doubles wanted = swiglu(hidden, wide(x));
        for (std::size_t i = 0; i < y.size(); ++i) {
            CHECK(static_cast<double>(y[i]) == Approx(wanted[i]).epsilon(1e-6).margin(1e-7));
        }
        check_slopes(dx, x, dy, [&](const Doubles& moved) { return swiglu(hidden, moved); });
        Floats in_place = x;
        swiglu_backward(hidden, in_place, dy, in_place);
        CHECK(in_place == dx);
    }
}

TEST_CASE("SwiGLU stays finite and keeps its limits for gates of any size") {
    for (const float gate : {-3.4e38F, -1000.0F, -104.0F, -90.0F, -0.0F, 0.0F, 1e-45F, 90.0F, 3.4e38F}) {
        const std::array x{gate, 1.0F};
        Floats y(1);
        Floats dx(2);
        swiglu_forward(1, x, y);
        swiglu_backward(1, x, std::array{1.0F}, dx);
        INFO(gate);
        CHECK(y[0] == (gate > 1.0F ? gate : gate < -104.0F ? 0.0F : gate * sigmoid32(gate)));
        CHECK(dx[1] == y[0]);
        CHECK(dx[0] == Approx(gate > 1.0F ? 1.0 : gate < -80.0F ? 0.0 : 0.5).margin(1e-30));
    }
}

TEST_CASE("rotary positions turn pairs by their angle, and backward is the transpose") {
    std::mt19937_64 random(23);
    constexpr std::uint64_t kTokens = 9;
    constexpr std::uint64_t kHeads = 3;
    constexpr std::uint64_t kDim = 6;
    constexpr std::uint64_t kStride = kHeads * kDim + 5;
    Floats cos(kTokens * kDim / 2);
    Floats sin(cos.size());
    rope_table(kTokens, kDim, 100.0, cos, sin);
    const Floats x = random_floats(random, kTokens * kStride);
    const Floats dy = random_floats(random, kTokens * kStride);
    Floats y = x;
    Floats dx = dy;
    const RopeShape shape{kTokens, kHeads, kDim, kStride};
    rope_forward(shape, {cos, sin}, y.data());
    rope_backward(shape, {cos, sin}, dx.data());
    double forward = 0;
    double backward = 0;
    for (std::uint64_t t = 0; t < kTokens; ++t) {
        for (std::uint64_t column = 0; column < kStride; ++column) {
            const std::uint64_t at = t * kStride + column;
            forward += static_cast<double>(y[at]) * static_cast<double>(dy[at]);
            backward += static_cast<double>(x[at]) * static_cast<double>(dx[at]);
            if (column >= kHeads * kDim) {
                CHECK(y[at] == x[at]);  // the values are left alone
                continue;
            }
            const std::uint64_t i = column % kDim;
            const std::uint64_t pair = i % (kDim / 2);
            const double angle =
                static_cast<double>(t) * std::pow(100.0, -2.0 * static_cast<double>(pair) / kDim);
            const double other = static_cast<double>(x[i < kDim / 2 ? at + kDim / 2 : at - kDim / 2]);
            const double wanted = static_cast<double>(x[at]) * std::cos(angle) +
                                  (i < kDim / 2 ? -other : other) * std::sin(angle);
            CHECK(static_cast<double>(y[at]) == Approx(wanted).margin(2e-7));
        }
    }
    CHECK(forward == Approx(backward).epsilon(1e-6));
    Floats later(x.begin() + 4 * kStride, x.end());
    rope_forward({kTokens - 4, kHeads, kDim, kStride, 4}, {cos, sin}, later.data());
    CHECK(later == Floats(y.begin() + 4 * kStride, y.end()));
}

TEST_CASE("the scores of turned heads depend on how far apart two tokens are, not on where they are") {
    std::mt19937_64 random(24);
    constexpr std::uint64_t kTokens = 40;
    constexpr std::uint64_t kDim = 8;
    Floats cos(kTokens * kDim / 2);
    Floats sin(cos.size());
    rope_table(kTokens, kDim, 10000.0, cos, sin);
    const Floats q = random_floats(random, kDim);
    const Floats k = random_floats(random, kDim);
    const auto score = [&](std::uint64_t i, std::uint64_t j) {
        Floats a = q;
        Floats b = k;
        rope_forward({1, 1, kDim, kDim, i}, {cos, sin}, a.data());
        rope_forward({1, 1, kDim, kDim, j}, {cos, sin}, b.data());
        double sum = 0;
        for (std::size_t c = 0; c < kDim; ++c) sum += static_cast<double>(a[c]) * static_cast<double>(b[c]);
        return sum;
    };
    for (std::uint64_t i = 7; i < kTokens; ++i) CHECK(score(i, i - 7) == Approx(score(7, 0)).margin(2e-6));
}

TEST_CASE("gradients of shared keys and values chain over their query heads") {
    std::mt19937_64 random(25);
    constexpr HeadShape kShape{6, 3};
    const Floats m1 = random_floats(random, 36);
    const Floats m2 = random_floats(random, 36);
    const Floats x1 = random_floats(random, 18);
    const Floats x2 = random_floats(random, 18);
    const auto chain = [&](std::uint64_t j, std::uint64_t c) {
        float sum = 0.0F;
        for (std::uint64_t i = j; i < 6; ++i) sum = fma32(m1[i * 6 + j], x1[i * 3 + c], sum);
        for (std::uint64_t i = j; i < 6; ++i) sum = fma32(m2[i * 6 + j], x2[i * 3 + c], sum);
        return sum;
    };
    using Gradient = void (*)(HeadShape, std::span<const float>, HeadView, HeadOut, ChainStart);
    for (const Gradient gradient : {Gradient{attention_key_gradient}, Gradient{attention_value_gradient}}) {
        Floats out(18, 99.0F);
        gradient(kShape, m1, {x1.data(), 3}, {out.data(), 3}, ChainStart::kZero);
        gradient(kShape, m2, {x2.data(), 3}, {out.data(), 3}, ChainStart::kCarry);
        for (std::uint64_t j = 0; j < 6; ++j) {
            for (std::uint64_t c = 0; c < 3; ++c) CHECK(out[j * 3 + c] == chain(j, c));
        }
    }
}
