// SPDX-License-Identifier: Apache-2.0
// The draws of an audit by sample, and the chances that it states.
#include "node/audit/sampling.hpp"

#include <cmath>
#include <functional>
#include <numeric>
#include <set>

#include "tests/support/catch.hpp"

using namespace assay;
using namespace assay::node;

namespace {

base::Hash256 number(std::uint32_t n) { return base::hash("assay/test", base::as_bytes(std::to_string(n))); }

/// C(of, some) by lgamma would round: a product of ratios does not matter at these sizes.
double choose(std::uint64_t of, std::uint64_t some) {
    double ways = 1;
    for (std::uint64_t i = 0; i < some; ++i)
        ways *= static_cast<double>(of - i) / static_cast<double>(some - i);
    return ways;
}

/// The chance that `draws` sequential draws by weight miss all of `forged`, over every order.
double missed(const std::vector<std::uint64_t>& weights, const std::set<std::size_t>& forged,
              std::size_t draws) {
    std::set<std::size_t> drawn;
    const std::function<double(std::size_t)> walk = [&](std::size_t left) -> double {
        if (left == 0) return 1;
        std::uint64_t rest = 0;
        for (std::size_t i = 0; i < weights.size(); ++i)
            if (!drawn.contains(i)) rest += weights[i];
        double sum = 0;
        for (std::size_t i = 0; i < weights.size(); ++i) {
            if (drawn.contains(i) || forged.contains(i)) continue;
            drawn.insert(i);
            sum += static_cast<double>(weights[i]) / static_cast<double>(rest) * walk(left - 1);
            drawn.erase(i);
        }
        return sum;
    };
    return walk(draws);
}

}  // namespace

TEST_CASE("a weighted draw gives every item once, and the first one by its weight") {
    const std::vector<std::uint64_t> weights{1, 2, 0, 4, 1};
    std::vector<int> firsts(weights.size());
    constexpr int kDraws = 8000;
    for (int n = 0; n < kDraws; ++n) {
        WeightedDraw draw(weights, DrawStream(number(static_cast<std::uint32_t>(n)), "test"));
        std::set<std::size_t> seen;
        std::optional<std::size_t> first;
        while (const auto item = draw.next()) {
            if (!first) first = item;
            CHECK(seen.insert(*item).second);
        }
        CHECK(seen == std::set<std::size_t>{0, 1, 3, 4});
        ++firsts[*first];
    }
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const double share = static_cast<double>(weights[i]) / 8;
        const double spread = std::sqrt(kDraws * share * (1 - share));
        CHECK(std::abs(firsts[i] - kDraws * share) <= 4 * spread);
    }
}

TEST_CASE("an even draw gives every item once, in another order for another number") {
    std::set<std::vector<std::uint64_t>> orders;
    for (std::uint32_t n = 0; n < 200; ++n) {
        EvenDraw draw(4, DrawStream(number(n), "test"));
        std::vector<std::uint64_t> order;
        while (const auto item = draw.next()) order.push_back(*item);
        CHECK(std::set<std::uint64_t>(order.begin(), order.end()) == std::set<std::uint64_t>{0, 1, 2, 3});
        CHECK(order.size() == 4);
        orders.insert(order);
    }
    CHECK(orders.size() == 24);
    EvenDraw huge(UINT64_MAX, DrawStream(number(0), "test"));
    CHECK(huge.next() != huge.next());
    CHECK_FALSE(EvenDraw(0, DrawStream(number(0), "test")).next());
}

TEST_CASE("draws follow from the number and the label alone") {
    const auto first_of = [](const base::Hash256& n, std::string_view label) {
        return DrawStream(n, label).below(1'000'000);
    };
    CHECK(first_of(number(1), "a") == first_of(number(1), "a"));
    CHECK(first_of(number(1), "a") != first_of(number(1), "b"));
    CHECK(first_of(number(1), "a") != first_of(number(2), "a"));
}

TEST_CASE("where weights are equal the stated chance is the hypergeometric one") {
    const Population items(std::vector<std::uint64_t>(40, 2));
    const Population even = Population::even(40);
    for (const std::uint64_t draws : {0U, 1U, 7U, 20U, 39U, 40U}) {
        for (const auto& [parts, forged] : std::vector<std::pair<std::uint32_t, std::uint64_t>>{
                 {10'000, 1}, {50'000, 2}, {100'000, 4}, {500'000, 20}}) {
            const double right =
                draws + forged > 40 ? 1.0 : 1.0 - choose(40 - forged, draws) / choose(40, draws);
            CHECK(items.chance_of_share(draws, parts) == Approx(right).margin(1e-12));
            CHECK(even.chance_of_share(draws, parts) == Approx(right).margin(1e-12));
        }
        CHECK(items.chance_of_one(draws) == Approx(static_cast<double>(draws) / 40).margin(1e-12));
    }
    // 38 of 40 for a single one: 95 %.
    CHECK(items.draws_for(0.95, 10'000) == 38);
    CHECK(items.draws_for(1.0, 500'000) == 21);
    CHECK(Population::even(1).draws_for(0.95, 10'000) == 1);
    CHECK(Population(std::vector<std::uint64_t>{}).chance_of_one(3) == 0);
}

TEST_CASE("where weights differ the stated chance is reached whatever a forger chose") {
    const std::vector<std::uint64_t> weights{1, 3, 3, 1, 3, 2};
    const Population items(weights);
    constexpr std::uint64_t kTotal = 13;
    for (std::uint32_t chosen = 1; chosen < 64; ++chosen) {
        std::set<std::size_t> forged;
        std::uint64_t weight = 0;
        for (std::size_t i = 0; i < 6; ++i) {
            if (((chosen >> i) & 1U) == 0) continue;
            forged.insert(i);
            weight += weights[i];
        }
        const auto parts = static_cast<std::uint32_t>(weight * kWholeShare / kTotal);
        for (std::size_t draws = 0; draws <= 6; ++draws) {
            const double met = 1 - missed(weights, forged, draws);
            CHECK(items.chance_of_share(draws, parts) <= met + 1e-12);
            CHECK(items.chance_of_one(draws) <= met + 1e-12);
        }
    }
    CHECK(items.chance_of_share(6, 10'000) == 1);
}
