// SPDX-License-Identifier: Apache-2.0
#include "contracts/arithmetic/update.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "tests/support/properties.hpp"

namespace {
using namespace assay::arithmetic;
using assay::base::Int128;

std::int64_t finalise_one(int exponent, float start, float end) {
    std::array<std::int64_t, 1> out{};
    REQUIRE(update_finalise(exponent, std::array{start}, std::array{end}, out));
    return out[0];
}
}  // namespace

TEST_CASE("finalise rounds to nearest even and refuses what does not fit") {
    CHECK(finalise_one(0, 2.5F, 0.0F) == 2);
    CHECK(finalise_one(0, 3.5F, 0.0F) == 4);
    CHECK(finalise_one(0, 0.0F, 2.5F) == -2);
    CHECK(finalise_one(0, 0.5F, 0.0F) == 0);
    CHECK(finalise_one(0, 1.5F, 0.0F) == 2);
    CHECK(finalise_one(-40, 1.0F, 0.0F) == 1LL << 40);
    CHECK(finalise_one(-40, 0.02F, 0.019999F) ==
          static_cast<std::int64_t>(std::nearbyint(std::ldexp(0.02F - double{0.019999F}, 40))));
    std::array<std::int64_t, 1> out{};
    CHECK(update_finalise(0, std::array{4611685743549480960.0F}, std::array{0.0F}, out));
    CHECK_FALSE(update_finalise(0, std::array{4611686018427387904.0F}, std::array{0.0F}, out));
    CHECK_FALSE(
        update_finalise(-40, std::array{std::numeric_limits<float>::infinity()}, std::array{0.0F}, out));
    CHECK_FALSE(
        update_finalise(-40, std::array{std::numeric_limits<float>::quiet_NaN()}, std::array{0.0F}, out));
}

TEST_CASE("a merged value is the exact quotient rounded once") {
    CHECK(merged_value(0, 3, -40) == 0.0F);
    CHECK(merged_value(1, 3, 0) == 1.0F / 3.0F);
    CHECK(merged_value(-2, 3, 0) == -2.0F / 3.0F);
    CHECK(merged_value((1 << 24) + 1, 1, 0) == 16777216.0F);    // a tie goes to even
    CHECK(merged_value((1 << 24) + 3, 1, 0) == 16777220.0F);    // a tie goes to even
    CHECK(merged_value((1LL << 25) + 3, 1, 0) == 33554436.0F);  // above a tie
    // One unit above a tie, far below binary64's precision: only an exact remainder sees it.
    const Int128 tie = ((Int128{1} << 24) + 1) << 60;
    CHECK(merged_value(tie, 1, -60) == 16777216.0F);
    CHECK(merged_value(tie + 1, 1, -60) == 16777218.0F);
    CHECK(merged_value(-(tie + 1), 1, -60) == -16777218.0F);
    assay::tests::check_property(20'000, [] {
        // Sums below 2^53 and weights below 2^11: the quotient in long double is exact enough to compare.
        const auto sum = *assay::tests::between<std::int64_t>(-(1LL << 52), (1LL << 52) - 1);
        const auto weight = *assay::tests::between<std::uint64_t>(1, 2000);
        const long double exact = static_cast<long double>(sum) / static_cast<long double>(weight);
        RC_ASSERT(merged_value(sum, weight, -40) == static_cast<float>(std::ldexp(exact, -40)));
    });
}

TEST_CASE("a merge does not depend on the order of the slots") {
    assay::tests::check_property(100, [] {
        const auto count = *assay::tests::between<std::size_t>(1, 6);
        std::vector<std::vector<std::int64_t>> updates(count);
        std::vector<WeightedUpdate> slots;
        for (std::size_t i = 0; i < count; ++i) {
            updates[i] = *rc::gen::container<std::vector<std::int64_t>>(
                33, assay::tests::between<std::int64_t>(-(1LL << 61), (1LL << 61) - 1));
            slots.push_back({updates[i], i + 1});
        }
        std::vector<float> merged(33);
        std::vector<float> again(33);
        merge_updates(-40, slots, merged);
        std::mt19937_64 random(*assay::tests::any_word());
        std::shuffle(slots.begin(), slots.end(), random);
        merge_updates(-40, slots, again);
        RC_ASSERT(merged == again);
    });
}

TEST_CASE("the outer step is Nesterov momentum with every operation rounded") {
    std::vector<float> w{1.0F};
    std::vector<float> m{0.5F};
    outer_nesterov({.learning_rate = 0.7F, .momentum = 0.9F}, std::array{0.25F}, w, m);
    const float momentum = 0.9F * 0.5F + 0.25F;
    CHECK(m[0] == momentum);
    const float nudge = 0.9F * momentum;
    const float direction = 0.25F + nudge;
    const float change = 0.7F * direction;
    CHECK(w[0] == 1.0F - change);
}
