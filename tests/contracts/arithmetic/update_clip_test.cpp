// SPDX-License-Identifier: Apache-2.0
#include "contracts/arithmetic/update_clip.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "contracts/arithmetic/update.hpp"
#include "contracts/base/wide.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/properties.hpp"

namespace assay::arithmetic {

namespace {

std::uint32_t clip_of(float bound, const std::vector<std::int64_t>& update, int exponent = 0) {
    return update_clip(exponent, bound, update);
}

}  // namespace

TEST_CASE("an update up to the bound is left as it is, one beyond is scaled down to it") {
    CHECK(clip_of(5.0F, {3, -4}) == kWholeClip);
    CHECK(clip_of(4.0F, {3, -4}) == kWholeClip * 4 / 5);
    CHECK(clip_of(2.5F, {3, -4}) == kWholeClip * 2 / 5);  // limit 2: rounded down
    CHECK(clip_of(2.5F, {3 << 8, -4 * 256}, -8) == kWholeClip / 2);
    CHECK(clip_of(1.0F, {1, 1}) == kWholeClip / 2);  // norm 1.4…, rounded up to 2
    CHECK(clip_of(1.0F, {}) == kWholeClip);
    CHECK(clip_of(std::numeric_limits<float>::denorm_min(), {0, 0}) == kWholeClip);
    CHECK(clip_of(std::numeric_limits<float>::denorm_min(), {0, 1}) == 0);
    CHECK(clip_of(std::numeric_limits<float>::max(), {1LL << 61, 1LL << 61}, -64) == kWholeClip);
    CHECK(clip_of(1.0F, {1LL << 17}) == 0);
    CHECK(clip_of(1.0F, {1LL << 16}) == 1);
}

TEST_CASE("the largest numbers do not overflow the norm") {
    const std::int64_t most = (1LL << 62) - 1;
    // 4096 of them: norm = 64 · most, and the limit 2^62.
    const std::vector<std::int64_t> update(4096, -most);
    CHECK(clip_of(std::ldexp(1.0F, 62), update) == kWholeClip / 64);
    CHECK(clip_of(std::ldexp(1.0F, 68), update) == kWholeClip);
    CHECK(clip_of(std::ldexp(1.0F, 67), update) == kWholeClip / 2);
}

TEST_CASE("a clip is the largest with which the update is not longer than the bound") {
    assay::tests::check_property(2'000, [] {
        const auto update = *rc::gen::container<std::vector<std::int64_t>>(
            5, assay::tests::between<std::int64_t>(-1'000'000, 1'000'000));
        const auto limit = *assay::tests::between<std::uint32_t>(1, 3'000'000);
        base::Uint128 sum = 0;
        for (const std::int64_t x : update) sum += static_cast<base::Uint128>(x * x);
        const auto fits = [&](base::Uint128 norm) { return norm * norm >= sum; };
        auto norm = static_cast<base::Uint128>(std::sqrt(static_cast<double>(sum)));
        while (!fits(norm)) ++norm;
        while (norm > 0 && fits(norm - 1)) --norm;
        const std::uint32_t clip = update_clip(0, static_cast<float>(limit), update);
        if (norm <= limit) {
            RC_ASSERT(clip == kWholeClip);
        } else {
            RC_ASSERT(clip * norm <= base::Uint128{limit} * kWholeClip);
            RC_ASSERT((clip + 1U) * norm > base::Uint128{limit} * kWholeClip);
        }
    });
}

TEST_CASE("a merge scales what is clipped, and clips that change nothing change no bit") {
    const std::vector<std::int64_t> one = {1LL << 40, 3, -7}, two = {5, -(1LL << 41), 9};
    const std::vector<WeightedUpdate> plain = {{one, 1}, {two, 3}};
    std::vector<float> expected(3), found(3);
    merge_updates(-40, plain, expected);
    // The whole sum is over K slots, clipped or not: a clipped one counts.
    const std::vector<std::int64_t> doubled = {2LL << 40, 6, -14};
    const std::vector<WeightedUpdate> half = {{doubled, 1, kWholeClip / 2}, {two, 3}};
    merge_updates(-40, half, found);
    CHECK(found == expected);
    const std::vector<WeightedUpdate> nothing = {{one, 1, 0}, {two, 3, 0}};
    merge_updates(-40, nothing, found);
    CHECK(found == std::vector<float>(3, 0.0F));
}

}  // namespace assay::arithmetic
