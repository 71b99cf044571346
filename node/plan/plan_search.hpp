// SPDX-License-Identifier: Apache-2.0
// Gives `assay plan` the cheapest of several plans: how many slots and rounds a job should have for a loss, a
// budget and a deadline. A pure function of what a round costs and of the forecast of the loss.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "node/plan/interval.hpp"

namespace assay::node {

/// What a buyer wants. Something that is not there is not asked for.
struct PlanGoals {
    std::optional<double> target_loss;  ///< at most this, with a chance of 90 %
    std::optional<double> budget;       ///< base units
    std::optional<double> deadline;     ///< heights from the submission on
};

/// A number of slots that the job may have. What its rounds come to grows with their number.
struct SlotsChoice {
    std::uint32_t slots = 0;
    std::uint32_t max_rounds = 0;   ///< that the limits of a job and its data allow; 0: none
    std::string max_rounds_reason;  ///< what allows no more: "the limit of rounds"
    double round_tokens = 0;
    std::function<Interval80(std::uint32_t rounds)> price;  ///< base units
    /// From the submission to the end of the last round. Null: not known.
    std::function<Interval80(std::uint32_t rounds)> heights;
    std::function<Interval80(std::uint32_t rounds)> loss;
};

/// A number of slots and of rounds, and what they come to.
struct PlanOption {
    std::uint32_t slots = 0;
    std::uint32_t rounds = 0;
    double tokens = 0;
    Interval80 price;
    std::optional<Interval80> heights;
    Interval80 loss;
    bool chosen = false;
    std::string reason;  ///< why another one is taken, or why this one is

    template <class Visit>
    void fields(Visit& visit) const {
        visit("slots", slots);
        visit("rounds", rounds);
        visit("tokens", tokens);
        visit("price", price);
        visit("heights", heights);
        visit("loss", loss);
        visit("chosen", chosen);
        visit("reason", reason);
    }
};

/// One option for each choice. With a target: the fewest rounds that reach it; the cheapest of those that
/// keep budget and deadline is chosen, by the median of its price. Without: as many rounds as budget and
/// deadline leave, and the lowest median of the loss is chosen, of equal ones the cheapest. Budget and
/// deadline hold with a chance of 90 % each. None is chosen where none keeps them. REQUIRES heights that are
/// known, for a deadline.
std::vector<PlanOption> search_plans(const PlanGoals& goals, std::span<const SlotsChoice> choices);

}  // namespace assay::node
