// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/round/draws.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "tests/contracts/rules/env.hpp"
#include "tests/support/properties.hpp"

namespace assay::contracts::test {

namespace {

PublicKey key_of(const std::string& name) {
    PublicKey key;
    key.bytes = bytes_of(name).bytes;
    return key;
}

/// Five standard deviations of a binomial count: an honest draw leaves it once in three million times.
double tolerance(double trials, double rate) { return 5 * std::sqrt(trials * rate * (1 - rate)); }

}  // namespace

program::RoundPlan plan_of(std::uint32_t segments) {
    program::JobSpec spec;
    spec.train.inner_steps = segments;
    spec.security.segment_steps = 1;
    return program::RoundPlan(spec);
}

TEST_CASE("segments and finalise are drawn each at its own rate") {
    const int trials = 20'000;
    for (const auto& [rate, of_finalise] :
         std::vector<std::pair<double, double>>{{0.1, 1.0}, {0.5, 0.1}, {0.9, 0.5}}) {
        const auto threshold = [](double of) {
            return of < 1.0 ? static_cast<std::uint64_t>(std::ldexp(of, 64)) : UINT64_MAX;
        };
        int segments = 0, finalised = 0, both = 0;
        for (int i = 0; i < trials; ++i) {
            const auto units = draw_units(bytes_of("beacon " + std::to_string(i)), 3, plan_of(1),
                                          {threshold(rate), threshold(of_finalise)});
            const bool segment = !units.empty() && units.front() == 0;
            const bool finalise = !units.empty() && units.back() == 1;
            REQUIRE(units.size() == (segment ? 1U : 0U) + (finalise ? 1U : 0U));
            segments += segment ? 1 : 0;
            finalised += finalise ? 1 : 0;
            both += segment && finalise ? 1 : 0;
        }
        CHECK(std::abs(segments - rate * trials) < tolerance(trials, rate));
        if (of_finalise == 1.0) {
            CHECK(finalised == trials);
        } else {
            CHECK(std::abs(finalised - of_finalise * trials) < tolerance(trials, of_finalise));
        }
        // The draws are independent.
        CHECK(std::abs(both - rate * of_finalise * trials) < tolerance(trials, rate * of_finalise));
    }
    CHECK(draw_units(bytes_of("b"), 0, plan_of(3), {UINT64_MAX, UINT64_MAX}) ==
          std::vector<std::uint32_t>{0, 1, 2, 3});
    CHECK(draw_units(bytes_of("b"), 0, plan_of(3), {0, 0}).empty());
    program::SecurityConfig security;
    security.audit_threshold = 7;
    security.finalise_threshold = 5;
    CHECK(unit_rates(security, false).segment == 7);
    CHECK(unit_rates(security, false).finalise == 5);
    CHECK(unit_rates(security, true).segment == UINT64_MAX);
    CHECK(unit_rates(security, true).finalise == UINT64_MAX);
    CHECK(is_drawn(UINT64_MAX, UINT64_MAX));
    CHECK_FALSE(is_drawn(5, 5));
}

TEST_CASE("the unit of a claimed divergence is drawn in any case, and none behind it") {
    using Units = std::vector<std::uint32_t>;
    CHECK(with_divergence({}, 2) == Units{2});
    CHECK(with_divergence({0}, 1) == Units{0, 1});
    CHECK(with_divergence({0, 3}, 3) == Units{0, 3});
    CHECK(with_divergence({0, 2, 3}, 1) == Units{0, 1});
    CHECK(with_divergence({1, 2, 3}, 0) == Units{0});
}

TEST_CASE("verifiers are drawn by stake, without replacement, one per owner") {
    const std::vector<EligibleVerifier> candidates = {{key_of("a"), key_of("A"), 100},
                                                      {key_of("b"), key_of("B"), 300},
                                                      {key_of("c"), key_of("C"), 600},
                                                      {key_of("d"), key_of("D"), 0}};
    std::map<PublicKey, int> first;
    const int trials = 20'000;
    for (int i = 0; i < trials; ++i) {
        const auto drawn =
            draw_weighted(bytes_of("beacon " + std::to_string(i)), "verifiers", 0, candidates, 2);
        REQUIRE(drawn.size() == 2);
        REQUIRE(drawn[0] != drawn[1]);
        ++first[drawn[0]];
    }
    CHECK(std::abs(first[key_of("a")] - 0.1 * trials) < tolerance(trials, 0.1));
    CHECK(std::abs(first[key_of("b")] - 0.3 * trials) < tolerance(trials, 0.3));
    CHECK(std::abs(first[key_of("c")] - 0.6 * trials) < tolerance(trials, 0.6));
    CHECK(first[key_of("d")] == 0);
    auto of_one_owner = candidates;
    for (EligibleVerifier& candidate : of_one_owner) candidate.owner = key_of("A");
    CHECK(draw_weighted(bytes_of("x"), "verifiers", 0, of_one_owner, 2).size() == 1);
    CHECK(draw_weighted(bytes_of("x"), "verifiers", 0, {}, 2).empty());
}

TEST_CASE("an order is a permutation, and every one of them comes up") {
    std::map<std::vector<std::size_t>, int> seen;
    for (int i = 0; i < 6'000; ++i) ++seen[draw_order(bytes_of(std::to_string(i)), "deal", 3)];
    REQUIRE(seen.size() == 6);
    for (const auto& [order, count] : seen) CHECK(std::abs(count - 1'000) < tolerance(6'000, 1.0 / 6));
}

TEST_CASE("slots are shared in proportion, within caps, and all of them where caps allow") {
    CHECK(share(4, {6, 1}, {4, 4}) == std::vector<std::uint32_t>{3, 1});
    CHECK(share(5, {1, 1, 1}, {5, 5, 5}) == std::vector<std::uint32_t>{2, 2, 1});
    CHECK(share(5, {0, 0}, {5, 5}) == std::vector<std::uint32_t>{3, 2});
    CHECK(share(5, {1000, 1}, {2, 9}) == std::vector<std::uint32_t>{2, 3});
    CHECK(share(5, {}, {}).empty());
    tests::check_property(2'000, [] {
        std::vector<std::uint64_t> weights(*tests::between<std::size_t>(1, 6));
        std::vector<std::uint32_t> caps;
        for (auto& weight : weights) {
            weight = *tests::any_word() >> *tests::between(0, 63);
            caps.push_back(*tests::between<std::uint32_t>(0, 8));
        }
        const auto total = *tests::between<std::uint32_t>(0, 19);
        const auto shares = share(total, weights, caps);
        RC_ASSERT(shares.size() == caps.size());
        for (std::size_t k = 0; k < shares.size(); ++k) RC_ASSERT(shares[k] <= caps[k]);
        const auto room = std::accumulate(caps.begin(), caps.end(), 0U);
        RC_ASSERT(std::accumulate(shares.begin(), shares.end(), 0U) == std::min(total, room));
    });
}

TEST_CASE("a chain of links opens backwards from its tip") {
    const Hash256 secret = bytes_of("secret");
    Hash256 tip = chain_tip(secret, 5);
    for (std::uint32_t index = 0; index < chain_length(5); ++index) {
        const Hash256 link = chain_link(secret, 5, index);
        CHECK(next_link(link) == tip);
        tip = link;
    }
    CHECK(tip == secret);
}

}  // namespace assay::contracts::test
