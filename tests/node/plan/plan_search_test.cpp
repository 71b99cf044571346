// SPDX-License-Identifier: Apache-2.0
// The cheapest of several plans: by a target, a budget, a deadline, and why the others are not taken.
#include "node/plan/plan_search.hpp"

#include <cmath>

#include "tests/support/catch.hpp"

using namespace assay;
using namespace assay::node;

namespace {

/// More slots lose a little: the fewest are the cheapest, and the slowest.
Interval80 loss_of(double tokens, std::uint32_t slots) {
    const double loss = 2 + 100 / std::sqrt(tokens) + 0.01 * slots;
    return {loss - 0.1, loss, loss + 0.1};
}

/// A round of `slots` slots of 1,000 tokens: each slot costs 10 units, and a round takes 100 heights.
SlotsChoice choice(std::uint32_t slots, std::uint32_t max_rounds = 1000) {
    return {.slots = slots,
            .max_rounds = max_rounds,
            .max_rounds_reason = "the limit of rounds",
            .round_tokens = 1000.0 * slots,
            .price =
                [slots](std::uint32_t rounds) {
                    const double price = 10.0 * slots * rounds;
                    return Interval80{5 + price * 0.8, 5 + price, 5 + price * 1.2};
                },
            .heights =
                [](std::uint32_t rounds) {
                    return Interval80{40.0 + 90 * rounds, 40.0 + 100 * rounds, 40.0 + 120 * rounds};
                },
            .loss = [slots](std::uint32_t rounds) { return loss_of(1000.0 * slots * rounds, slots); }};
}

const PlanOption* chosen(const std::vector<PlanOption>& options) {
    const PlanOption* found = nullptr;
    for (const PlanOption& option : options) {
        if (!option.chosen) continue;
        REQUIRE(found == nullptr);
        found = &option;
    }
    return found;
}

}  // namespace

TEST_CASE("a target alone: the cheapest option, with the fewest rounds that reach it") {
    const std::vector<SlotsChoice> choices = {choice(1), choice(4), choice(16)};
    const auto options = search_plans({.target_loss = 3.0}, choices);
    REQUIRE(options.size() == 3);
    const PlanOption* best = chosen(options);
    REQUIRE(best != nullptr);
    CHECK(best->slots == 1);
    for (const PlanOption& option : options) {
        CHECK(option.loss.high <= 3.0);
        CHECK(loss_of((option.rounds - 1) * 1000.0 * option.slots, option.slots).high > 3.0);
        CHECK(option.price.median == 5 + 10.0 * option.slots * option.rounds);
        if (!option.chosen) CHECK(option.reason.find("% more") != std::string::npos);
    }
}

TEST_CASE("a deadline rules out the slow, a budget the dear, and both can leave none") {
    const std::vector<SlotsChoice> choices = {choice(1), choice(4), choice(16)};
    const auto by_deadline = search_plans({.target_loss = 3.0, .deadline = 1000}, choices);
    REQUIRE(chosen(by_deadline) != nullptr);
    CHECK(chosen(by_deadline)->slots == 4);
    CHECK(chosen(by_deadline)->heights->high <= 1000);
    CHECK(by_deadline[0].reason == "may end after the deadline");
    const auto none = search_plans({.target_loss = 3.0, .budget = 60, .deadline = 400}, choices);
    CHECK(chosen(none) == nullptr);
    CHECK(none[0].reason == "may cost more than the budget, and end late");
    for (const PlanOption& option : none) CHECK_FALSE(option.reason.empty());
}

TEST_CASE("no target: the lowest loss that budget and deadline allow") {
    const std::vector<SlotsChoice> choices = {choice(1), choice(4), choice(16)};
    const auto options = search_plans({.budget = 1000, .deadline = 2000}, choices);
    const PlanOption* best = chosen(options);
    REQUIRE(best != nullptr);
    for (const PlanOption& option : options) {
        CHECK(option.price.high <= 1000);
        CHECK(option.heights.value().high <= 2000);
        CHECK(best->loss.median <= option.loss.median);
    }
    // Time binds one slot, money sixteen.
    CHECK(options[0].rounds == 16);
    CHECK(options[2].rounds == 5);
    CHECK(options[0].reason.find("loss higher by") == 0);
}

TEST_CASE("limits of the job bind, and what cannot have one round says why") {
    const std::vector<SlotsChoice> choices = {choice(1, 3), choice(4, 0)};
    const auto out_of_reach = search_plans({.target_loss = 2.2}, choices);
    CHECK(chosen(out_of_reach) == nullptr);
    CHECK(out_of_reach[0].rounds == 3);
    CHECK(out_of_reach[0].reason ==
          "its most rounds do not reach the loss: the limit of rounds allows no more");
    CHECK(out_of_reach[1].reason == "one round is beyond the limit of rounds");
    std::vector<SlotsChoice> timeless = {choice(1)};
    timeless[0].heights = nullptr;
    CHECK_FALSE(search_plans({.budget = 100}, timeless)[0].heights.has_value());
    const auto poor = search_plans({.budget = 1}, choices);
    CHECK(poor[0].reason == "one round is beyond the budget");
}
