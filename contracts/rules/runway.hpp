// SPDX-License-Identifier: Apache-2.0
// How long the escrow of a job lasts, so that buyers and views see when it must be topped up before a round
// cannot begin.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "contracts/rules/escrow.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/market/tables.hpp"

namespace assay::contracts {

/// The rounds that can still begin before the escrow runs out and ends the job. A round begins only when the
/// escrow covers its dearest course, whatever the rounds before it cost.
struct Runway {
    std::uint64_t rounds_left = 0;         ///< that have not begun
    Amount dearest_round;                  ///< the most that one can take from the escrow
    std::uint64_t at_dearest = 0;          ///< of rounds_left, if each takes that
    std::optional<Amount> mean_round;      ///< what settled rounds took; nothing before the first
    std::optional<std::uint64_t> at_mean;  ///< of rounds_left, if each takes that

    /// The escrow ends the job before its last round, if rounds go on to cost what they did.
    [[nodiscard]] bool is_low() const { return at_mean.value_or(at_dearest) < rounds_left; }
    /// "covers 2 of 5 further rounds at their dearest, 3 as the past ones cost".
    [[nodiscard]] std::string text() const {
        std::string words = "covers " + std::to_string(at_dearest) + " of " + std::to_string(rounds_left) +
                            " further rounds at their dearest";
        if (at_mean) words += ", " + std::to_string(*at_mean) + " as the past ones cost";
        return words;
    }
};

/// How many of `left` rounds can begin when each takes `cost`: one begins while `escrow` still covers
/// `dearest`.
inline std::uint64_t rounds_from(Amount escrow, Amount dearest, Amount cost, std::uint64_t left) {
    if (escrow < dearest) return 0;
    if (cost.is_zero()) return left;
    return std::min(left, (escrow.units() - dearest.units()) / cost.units() + 1);
}

/// Returns nothing for a job that is over. A running round counts as taking its dearest course for
/// at_dearest, and the mean for at_mean. Before the auction the price is the cap.
inline std::optional<Runway> runway_of(const StateView& state, const Job& job) {
    if (is_over(job.phase)) return std::nullopt;
    const Amount price =
        job.auction.clearing_price.is_zero() ? job.spec.market.max_price : job.auction.clearing_price;
    const auto dearest = round_cost(params_of(state, job), job.spec, price, job.slot_work);
    if (!dearest) return std::nullopt;  // the ledger takes no such job
    const auto round = read_round_progress(state, job.id, job.round);
    const bool running = job.phase == JobPhase::kRounds && round && round->phase != RoundPhase::kSettled;
    const std::uint64_t begun = job.round + (running ? 1U : 0U);
    Runway runway;
    runway.rounds_left = job.spec.rounds > begun ? job.spec.rounds - begun : 0;
    runway.dearest_round = *dearest;
    const Amount escrow = escrow_of(state, job);
    const auto after_running = [&](Amount cost) {
        return running ? escrow.minus(cost).value_or(Amount{}) : escrow;
    };
    runway.at_dearest = rounds_from(after_running(*dearest), *dearest, *dearest, runway.rounds_left);
    if (job.round == 0) return runway;
    // The deposit of a bid that is sealed, or was burned, counts as spent, and no round cost it.
    const Amount paid = job.spent.minus(read_seal_cost(state, job.id)).value_or(Amount{});
    runway.mean_round = paid.times(1, job.round, base::Rounding::kUp);
    if (runway.mean_round)
        runway.at_mean =
            rounds_from(after_running(*runway.mean_round), *dearest, *runway.mean_round, runway.rounds_left);
    return runway;
}

}  // namespace assay::contracts
