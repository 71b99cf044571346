// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/held_out.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "contracts/program/job_spec.hpp"
#include "tests/support/catch.hpp"

namespace assay::program {

TEST_CASE("a beacon draws so many held-out sequences, each once, ascending; of fewer all") {
    const base::Hash256 beacon = base::hash("assay/test", base::as_bytes("beacon"));
    for (const std::uint64_t available : {0ULL, 1ULL, 63ULL, 64ULL}) {
        std::vector<std::uint64_t> all(available);
        std::iota(all.begin(), all.end(), std::uint64_t{0});
        CHECK(drawn_held_out(beacon, available) == all);
    }
    for (const std::uint64_t available : {65ULL, 1'000ULL, 1ULL << 40}) {
        const auto drawn = drawn_held_out(beacon, available);
        CHECK(drawn.size() == kHeldOutSequences);
        CHECK(std::is_sorted(drawn.begin(), drawn.end()));
        CHECK(std::adjacent_find(drawn.begin(), drawn.end()) == drawn.end());
        CHECK(drawn.back() < available);
        CHECK(drawn == drawn_held_out(beacon, available));
    }
}

TEST_CASE("every held-out sequence is drawn as often as any other") {
    constexpr std::uint64_t kAvailable = 80;
    constexpr int kBeacons = 2'000;
    std::map<std::uint64_t, int> times;
    for (int i = 0; i < kBeacons; ++i) {
        const auto beacon = base::hash("assay/test", base::as_bytes(std::to_string(i)));
        for (const std::uint64_t sequence : drawn_held_out(beacon, kAvailable)) ++times[sequence];
    }
    REQUIRE(times.size() == kAvailable);
    // Binomial, 0.8 of 2000: its deviation is 17.9.
    for (const auto& [sequence, count] : times) CHECK(std::abs(count - 1'600) < 90);
}

TEST_CASE("the draw is pinned") {
    const auto drawn = drawn_held_out(base::Hash256{}, 1'000'000);
    // As computed by other means, with Python's integers and hashlib.
    CHECK(drawn.front() == 36520);
    CHECK(drawn.back() == 985273);
    CHECK(std::accumulate(drawn.begin(), drawn.end(), std::uint64_t{0}) == 31828889);
}

}  // namespace assay::program
