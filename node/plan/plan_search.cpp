// SPDX-License-Identifier: Apache-2.0
#include "node/plan/plan_search.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace assay::node {

namespace {

/// The largest number of rounds up to `most` for which `holds`, which no larger one does again; 0: none.
std::uint32_t last_that(std::uint32_t most, const std::function<bool(std::uint32_t)>& holds) {
    if (holds(most)) return most;
    std::uint32_t good = 0;
    std::uint32_t bad = most;
    while (bad - good > 1) {
        const std::uint32_t middle = good + (bad - good) / 2;
        (holds(middle) ? good : bad) = middle;
    }
    return good;
}

std::string number_text(double number, const char* format) {
    char text[48];
    std::snprintf(text, sizeof text, format, number);
    return text;
}

/// One choice on its way to an option.
class ConsideredSlots {
public:
    ConsideredSlots(const PlanGoals& goals, const SlotsChoice& choice) : goals_(goals), choice_(choice) {
        option_.slots = choice.slots;
        if (choice.max_rounds == 0)
            refuse("one round is beyond " + choice.max_rounds_reason);
        else if (goals.target_loss)
            for_target();
        else
            for_money_and_time();
    }

    [[nodiscard]] PlanOption take() { return std::move(option_); }
    [[nodiscard]] bool possible() const { return possible_; }

private:
    void refuse(std::string why) {
        possible_ = false;
        option_.reason = std::move(why);
    }

    void fill(std::uint32_t rounds) {
        option_.rounds = rounds;
        option_.tokens = choice_.round_tokens * rounds;
        option_.price = choice_.price(rounds);
        if (choice_.heights) option_.heights = choice_.heights(rounds);
        option_.loss = choice_.loss(rounds);
    }

    [[nodiscard]] bool too_dear(std::uint32_t rounds) const {
        return goals_.budget && choice_.price(rounds).high > *goals_.budget;
    }
    [[nodiscard]] bool too_late(std::uint32_t rounds) const {
        return goals_.deadline && choice_.heights(rounds).high > *goals_.deadline;
    }

    void for_target() {
        const auto misses = [this](std::uint32_t rounds) {
            return choice_.loss(rounds).high > *goals_.target_loss;
        };
        const std::uint32_t too_few = last_that(choice_.max_rounds, misses);
        if (too_few == choice_.max_rounds) {
            fill(choice_.max_rounds);
            refuse("its most rounds do not reach the loss: " + choice_.max_rounds_reason + " allows no more");
            return;
        }
        fill(too_few + 1);
        const bool dear = too_dear(option_.rounds);
        const bool late = too_late(option_.rounds);
        if (dear) refuse(std::string("may cost more than the budget") + (late ? ", and end late" : ""));
        if (late && !dear) refuse("may end after the deadline");
    }

    void for_money_and_time() {
        std::uint32_t rounds = choice_.max_rounds;
        std::string bound = choice_.max_rounds_reason;
        const auto at_most = [&](std::uint32_t allowed, const char* why) {
            if (allowed >= rounds) return;
            rounds = allowed;
            bound = why;
        };
        at_most(last_that(choice_.max_rounds, [this](std::uint32_t count) { return !too_dear(count); }),
                "the budget");
        at_most(last_that(choice_.max_rounds, [this](std::uint32_t count) { return !too_late(count); }),
                "the deadline");
        fill(std::max(1U, rounds));
        if (rounds == 0)
            refuse("one round is beyond " + bound);
        else
            option_.reason = "as many rounds as " + bound + " allows";
    }

    const PlanGoals& goals_;
    const SlotsChoice& choice_;
    PlanOption option_;
    bool possible_ = true;
};

std::string why_not(const PlanGoals& goals, const PlanOption& option, const PlanOption& best) {
    if (goals.target_loss)
        return "costs " + number_text((option.price.median / best.price.median - 1) * 100, "%.0f") +
               " % more";
    const double more = option.loss.median - best.loss.median;
    return more > 0 ? number_text(more, "loss higher by %.3f") : "the same loss for more money";
}

}  // namespace

std::vector<PlanOption> search_plans(const PlanGoals& goals, std::span<const SlotsChoice> choices) {
    std::vector<PlanOption> options;
    std::optional<std::size_t> best;
    const auto better = [&](const PlanOption& a, const PlanOption& b) {
        if (!goals.target_loss && a.loss.median != b.loss.median) return a.loss.median < b.loss.median;
        return a.price.median < b.price.median;
    };
    std::vector<bool> possible;
    for (const SlotsChoice& choice : choices) {
        ConsideredSlots evaluated(goals, choice);
        possible.push_back(evaluated.possible());
        options.push_back(evaluated.take());
        if (possible.back() && (!best || better(options.back(), options[*best]))) best = options.size() - 1;
    }
    if (!best) return options;
    for (std::size_t i = 0; i < options.size(); ++i) {
        if (i == *best) {
            options[i].chosen = true;
            options[i].reason =
                goals.target_loss ? "the cheapest that reaches it" : "the lowest loss; " + options[i].reason;
        } else if (possible[i]) {
            options[i].reason = why_not(goals, options[i], options[*best]);
        }
    }
    return options;
}

}  // namespace assay::node
