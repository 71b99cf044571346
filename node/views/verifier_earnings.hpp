// SPDX-License-Identifier: Apache-2.0
// Gives a verifier's owner its earnings, from the settlements and games that the ledger holds: for each
// round, and summed over days or jobs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "node/views/earnings_view.hpp"

namespace assay::node {

/// What a verifier earned and lost in one round of a job, or in all rounds that the row sums.
struct VerifierEarningsRow {
    std::string day;                     ///< of the settlement, UTC: 2026-11-26; empty unless asked for
    std::optional<base::Hash256> job;    ///< none in a row of a day, and in the total
    std::optional<std::uint32_t> round;  ///< none when the row is a sum
    std::uint64_t audits = 0;            ///< slots for which it was drawn, paid or not
    std::uint64_t merges = 0;            ///< merges that it owed, paid or not
    std::uint64_t work_units = 0;        ///< recomputed in paid audits
    base::Amount earned;                 ///< as the ledger counts it (Verifier::earned)
    base::Amount held;      ///< set aside until a claim's window is over: pay of merges, fees of accusations
    base::Amount returned;  ///< part of `earned` that went back because its merge lost a game
    base::Amount won;   ///< what losers of games paid to its owner; the ledger does not count it as earned
    base::Amount lost;  ///< penalties, link bonds and what it locked (Verifier::penalised)
    base::Amount lost_bonds;  ///< of challenges that it lost; the ledger does not count them as penalties

    template <class Visit>
    void fields(Visit& visit) const {
        visit("day", day);
        visit("job", job);
        visit("round", round);
        visit("audits", audits);
        visit("merges", merges);
        visit("work_units", work_units);
        visit("earned", earned);
        visit("held", held);
        visit("returned", returned);
        visit("won", won);
        visit("lost", lost);
        visit("lost_bonds", lost_bonds);
    }
};

struct VerifierEarnings {
    base::PublicKey verifier;
    EarningsBy by = EarningsBy::kRound;
    std::vector<VerifierEarningsRow> rows;
    VerifierEarningsRow total;
    /// The amounts in the ledger's record of the verifier. The total is equal, unless the history of ended
    /// jobs is missing, or the ledger tells the fees of one game's accusers only together.
    base::Amount ledger_earned, ledger_penalised;

    [[nodiscard]] bool complete() const {
        return total.earned == ledger_earned && total.lost == ledger_penalised;
    }

    template <class Visit>
    void fields(Visit& visit) const {
        visit("verifier", verifier);
        visit("by", by);
        visit("rows", rows);
        visit("total", total);
        visit("ledger_earned", ledger_earned);
        visit("ledger_penalised", ledger_penalised);
        visit("complete", complete());
    }
};

/// Rows ascend by day, or by job and round. `day_of` is needed only for EarningsBy::kDay. REQUIRES a
/// registered verifier. Fails when day_of fails.
base::Outcome<VerifierEarnings> verifier_earnings(const contracts::StateView& state,
                                                  const base::PublicKey& verifier, EarningsBy by,
                                                  const DayOf& day_of = nullptr);

}  // namespace assay::node
