// SPDX-License-Identifier: Apache-2.0
// Gives a miner's owner its earnings, from the settlements that the ledger holds: for each round, and summed
// over days or jobs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "contracts/base/error.hpp"
#include "contracts/rules/tables.hpp"
#include "node/views/json.hpp"

namespace assay::node {

enum class EarningsBy : std::uint8_t { kRound, kJob, kDay };
std::string_view to_text(EarningsBy by);

/// What a miner earned and lost in one round of a job, or in all rounds that the row sums.
struct EarningsRow {
    std::string day;                     ///< of the settlement, UTC: 2026-11-26; empty unless asked for
    std::optional<base::Hash256> job;    ///< none in a row of a day, and in the total
    std::optional<std::uint32_t> round;  ///< none when the row is not of a single round: for an ask, or a sum
    std::uint64_t slots = 0;             ///< settled slots
    std::uint64_t work_units = 0;        ///< of paid slots
    base::Amount earned;                 ///< as the ledger counts it (Miner::earned)
    base::Amount held;                   ///< pay that is set aside until its claim's window is over
    base::Amount returned;               ///< part of `earned` that went back because the claim lost a game
    base::Amount lost;                   ///< bonds and deposits (Miner::forfeited)
    std::optional<base::Amount> power_cost;  ///< of the paid work; nothing when its pace is not known

    template <class Visit>
    void fields(Visit& visit) const {
        visit("day", day);
        visit("job", job);
        visit("round", round);
        visit("slots", slots);
        visit("work_units", work_units);
        visit("earned", earned);
        visit("held", held);
        visit("returned", returned);
        visit("lost", lost);
        visit("power_cost", power_cost);
    }
};

struct Earnings {
    base::PublicKey miner;
    EarningsBy by = EarningsBy::kRound;
    std::vector<EarningsRow> rows;
    EarningsRow total;
    /// The amounts in the ledger's record of the miner. The total is equal, unless the history of ended jobs
    /// is missing.
    base::Amount ledger_earned, ledger_forfeited;

    [[nodiscard]] bool complete() const {
        return total.earned == ledger_earned && total.lost == ledger_forfeited;
    }

    template <class Visit>
    void fields(Visit& visit) const {
        visit("miner", miner);
        visit("by", by);
        visit("rows", rows);
        visit("total", total);
        visit("ledger_earned", ledger_earned);
        visit("ledger_forfeited", ledger_forfeited);
        visit("complete", complete());
    }
};

/// The UTC day of a block.
using DayOf = std::function<base::Outcome<std::string>(std::uint64_t height)>;

/// What the command adds to the ledger's records.
struct EarningsSources {
    DayOf day_of = nullptr;  ///< needed only for EarningsBy::kDay
    /// Cost of the power for so many work units; null or nothing: not known.
    std::function<std::optional<base::Amount>(const contracts::Job& job, std::uint64_t work_units)> power =
        nullptr;
};

/// Rows ascend by day, or by job and round. REQUIRES a registered miner. Fails when day_of fails.
base::Outcome<Earnings> miner_earnings(const contracts::StateView& state, const base::PublicKey& miner,
                                       EarningsBy by, const EarningsSources& sources);

}  // namespace assay::node
