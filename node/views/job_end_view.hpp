// SPDX-License-Identifier: Apache-2.0
// Gives buyers the view of a job's end: what it still waits for, and until when its claims hold money.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "contracts/rules/tables.hpp"
#include "node/views/json.hpp"

namespace assay::node {

/// Where a job stands whose end was asked for.
struct JobEndView {
    base::Hash256 job;
    contracts::JobPhase phase = contracts::JobPhase::kEnded;
    std::optional<std::uint32_t> running_round;  ///< finished before the end is decided
    std::uint64_t claim_window = 0;              ///< blocks, behind the settlement of a round
    std::uint64_t open_claims = 0;               ///< of settled rounds, whose windows are not over
    Units held;                                  ///< pay that these claims hold
    /// The block in which the last of these windows ends; nothing when there are none. A dispute about a
    /// claim can make it later.
    std::optional<std::uint64_t> windows_end;
    base::Amount escrow;                    ///< not spent yet
    std::optional<std::uint64_t> ended_at;  ///< nothing before the end
    std::optional<base::Amount> refunded;   ///< nothing before the end

    /// In sentences, for people.
    [[nodiscard]] std::string text() const;
    template <class Visit>
    void fields(Visit& visit) const {
        visit("phase", phase);
        visit("running_round", running_round);
        visit("claim_window", claim_window);
        visit("open_claims", open_claims);
        visit("held", held);
        visit("windows_end", windows_end);
        visit("escrow", escrow);
        visit("ended_at", ended_at);
        visit("refunded", refunded);
    }
};

/// Nothing when the ledger has no such job.
std::optional<JobEndView> job_end_view(const contracts::StateView& state, const base::Hash256& job);

}  // namespace assay::node
