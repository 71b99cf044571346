// SPDX-License-Identifier: Apache-2.0
// Gives `assay plan` search_plans(), which finds how many slots and rounds a job should have for a loss, a
// budget and a deadline. It is a pure function of the cost of a round and the forecast of the loss.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "node/plan/interval.hpp"

namespace assay::node {

/// What a buyer wants. An empty field is no goal.
struct PlanGoals {
    std::optional<double> target_loss;  ///< at most this, with a chance of 90 %
    std::optional<double> budget;       ///< base units
    std::optional<double> deadline;     ///< heights from the submission on
};

/// A number of slots that the job may have, with its results as functions of the number of rounds.
struct SlotsChoice {
    std::uint32_t slots = 0;
    std::uint32_t max_rounds = 0;   ///< the most that the limits of a job and its data allow; 0: none
    std::string max_rounds_reason;  ///< what allows no more: "the limit of rounds"
    double round_tokens = 0;
    std::function<Interval80(std::uint32_t rounds)> price;  ///< base units
    /// Heights from the submission to the end of the last round. Null: not known.
    std::function<Interval80(std::uint32_t rounds)> heights;
    std::function<Interval80(std::uint32_t rounds)> loss;
};

/// A number of slots and of rounds, with the predicted results.
struct PlanOption {
    std::uint32_t slots = 0;
    std::uint32_t rounds = 0;
    double tokens = 0;
    Interval80 price;
    std::optional<Interval80> heights;
    Interval80 loss;
    bool chosen = false;
    std::string reason;  ///< why it was chosen, or was not

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

/// Returns one option for each choice. With a target loss, an option has the fewest rounds that reach it, and
/// the option with the lowest median price is chosen among those that keep budget and deadline. Without a
/// target, an option has as many rounds as budget and deadline allow, and the one with the lowest median loss
/// is chosen, of equal ones the cheapest. Budget and deadline each hold with a chance of 90 %. None is chosen
/// when none keeps them. REQUIRES known heights if there is a deadline.
std::vector<PlanOption> search_plans(const PlanGoals& goals, std::span<const SlotsChoice> choices);

}  // namespace assay::node
