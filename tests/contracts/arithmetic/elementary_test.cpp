// SPDX-License-Identifier: Apache-2.0
#include "contracts/arithmetic/elementary.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>

#include "tests/support/catch.hpp"

namespace {

using namespace assay::arithmetic;

// Distance from the binary64 value in units of the last place of its binary32 rounding.
double ulps(float got, double wanted) {
    int exponent = 0;
    std::frexp(wanted, &exponent);
    const double ulp = std::ldexp(1.0, std::max(exponent - 24, -149));
    return std::fabs(static_cast<double>(got) - wanted) / ulp;
}

struct Worst {
    double error = 0;
    float at = 0;
    std::uint64_t samples = 0;
};

// Every `stride`-th bit pattern between two numbers of one sign.
template <class Got, class Wanted>
Worst sweep(float from, float to, std::uint32_t stride, Got got, Wanted wanted) {
    Worst worst;
    const auto last = std::bit_cast<std::uint32_t>(to);
    for (std::uint64_t bits = std::bit_cast<std::uint32_t>(from); bits <= last; bits += stride) {
        const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
        const double error = ulps(got(x), wanted(static_cast<double>(x)));
        if (!(error <= worst.error)) worst = {error, x, worst.samples};
        ++worst.samples;
    }
    return worst;
}

void report(const char* name, const Worst& worst) {
    std::printf("%-24s %.4f ulp at %.9g (%llu samples)\n", name, worst.error, static_cast<double>(worst.at),
                static_cast<unsigned long long>(worst.samples));
}

const auto kExp = [](double x) { return std::exp(x); };
const auto kTanh = [](double x) { return std::tanh(x); };
const auto kSigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
const auto kLog = [](double x) { return std::log(x); };
const auto kSin = [](double x) { return std::sin(x); };
const auto kCos = [](double x) { return std::cos(x); };

}  // namespace

TEST_CASE("exp32 stays within its stated error and its limits are exact") {
    const Worst positive = sweep(1e-10F, 88.72283F, 331, exp32, kExp);
    const Worst negative = sweep(-1e-10F, -103.9F, 331, exp32, kExp);
    report("exp32, x > 0", positive);
    report("exp32, x < 0", negative);
    CHECK(positive.error < 1.011);  // the largest over all inputs (make exhaustive)
    CHECK(negative.error < 1.011);
    CHECK(exp32(0.0F) == 1.0F);
    CHECK(exp32(-0.0F) == 1.0F);
    CHECK(exp32(89.0F) == std::numeric_limits<float>::infinity());
    CHECK(exp32(3e38F) == std::numeric_limits<float>::infinity());
    CHECK(std::bit_cast<std::uint32_t>(exp32(-104.0F)) == 0);
    CHECK(std::bit_cast<std::uint32_t>(exp32(-3e38F)) == 0);
    CHECK(exp32(-100.0F) > 0.0F);  // a denormal
}

TEST_CASE("tanh32 stays within its stated error, is odd to the bit and saturates at one") {
    const Worst worst = sweep(1e-10F, 12.0F, 331, tanh32, kTanh);
    report("tanh32", worst);
    CHECK(worst.error < 1.331);
    for (std::uint32_t bits = 0; bits < 0x7f800000U; bits += 100'003) {
        const auto x = std::bit_cast<float>(bits);
        const float y = tanh32(x);
        REQUIRE(std::bit_cast<std::uint32_t>(tanh32(-x)) == (std::bit_cast<std::uint32_t>(y) ^ 0x80000000U));
        REQUIRE(y >= 0.0F);
        REQUIRE(y <= 1.0F);
    }
    CHECK(tanh32(3e38F) == 1.0F);
    CHECK(std::bit_cast<std::uint32_t>(tanh32(-0.0F)) == 0x80000000U);
}

TEST_CASE("sigmoid32 stays within its stated error on both sides and in [0, 1]") {
    const Worst positive = sweep(1e-10F, 110.0F, 331, sigmoid32, kSigmoid);
    const Worst negative = sweep(-1e-10F, -103.0F, 331, sigmoid32, kSigmoid);
    report("sigmoid32, x > 0", positive);
    report("sigmoid32, x < 0", negative);
    CHECK(positive.error < 1.5);
    CHECK(negative.error < 2.35);
    CHECK(sigmoid32(0.0F) == 0.5F);
    CHECK(sigmoid32(-0.0F) == 0.5F);
    CHECK(sigmoid32(3e38F) == 1.0F);
    CHECK(std::bit_cast<std::uint32_t>(sigmoid32(-3e38F)) == 0);
    // s(x) + s(-x) = 1 up to the two roundings.
    for (float x = 0.0F; x < 30.0F; x += 0.01F)
        CHECK(sigmoid32(x) + sigmoid32(-x) == Approx(1.0).margin(2e-7));
}

TEST_CASE("log32 stays within its stated error on the domain that operators use") {
    const Worst below = sweep(0x1p-24F, 1.0F, 61, log32, kLog);
    const Worst above = sweep(1.0F, 0x1p24F, 61, log32, kLog);
    report("log32, x <= 1", below);
    report("log32, x >= 1", above);
    CHECK(below.error < 0.827);
    CHECK(above.error < 0.827);
    CHECK(std::bit_cast<std::uint32_t>(log32(1.0F)) == 0);
}

TEST_CASE("sin32 and cos32 stay within their stated error on the angles of Box-Muller") {
    // Near a multiple of pi/2 the relative error of a binary32 reduction grows; what Box-Muller needs is an
    // absolute error of the order of half an ulp of 1.
    double worst_sin = 0;
    double worst_cos = 0;
    for (std::uint32_t i = 0; i < (1U << 24); i += 5) {
        const float angle = 6.283185307179586F * (static_cast<float>(i) * 0x1p-24F);
        const auto wide = static_cast<double>(angle);
        worst_sin = std::max(worst_sin, std::fabs(static_cast<double>(sin32(angle)) - std::sin(wide)));
        worst_cos = std::max(worst_cos, std::fabs(static_cast<double>(cos32(angle)) - std::cos(wide)));
    }
    std::printf("sin32 on [0, 2pi): largest absolute error %.3g; cos32 %.3g\n", worst_sin, worst_cos);
    CHECK(worst_sin < 9.3e-8);
    CHECK(worst_cos < 9.3e-8);
    const Worst small = sweep(1e-10F, 0.78F, 331, sin32, kSin);
    const Worst small_cos = sweep(1e-10F, 0.78F, 331, cos32, kCos);
    report("sin32, x < pi/4", small);
    report("cos32, x < pi/4", small_cos);
    CHECK(small.error < 0.731);
    CHECK(small_cos.error < 1.237);
    CHECK(sin32(0.0F) == 0.0F);
    CHECK(cos32(0.0F) == 1.0F);
}
