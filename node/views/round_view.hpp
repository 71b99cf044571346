// SPDX-License-Identifier: Apache-2.0
// Gives commands that follow a job the events of its rounds: verdicts, results of merges, and money spent.
#pragma once

#include <cstdint>
#include <optional>

#include "contracts/rules/state/events.hpp"
#include "contracts/rules/tables.hpp"
#include "node/views/runway_view.hpp"

namespace assay::node {

/// The losses of a round that was merged.
struct MergedLoss {
    std::optional<float> train;  ///< of audited steps; nothing when no step of a merged slot was drawn
    float held_out = 0;
};

/// An event of a job that is of interest to people.
struct JobEventView {
    contracts::EventKind event = contracts::EventKind::kRoundStarted;
    std::uint32_t round = 0;
    std::uint32_t slot = 0;
    contracts::Reason reason = contracts::Reason::kNone;
    base::Amount spent, escrow;
    std::optional<MergedLoss> loss;    ///< of kMerged
    base::PublicKey node;              ///< of kVerdict: whose slot
    std::uint64_t slots = 0;           ///< of kMerged: how many were merged
    base::Amount amount;               ///< of kToppedUp
    std::uint64_t deadline = 0;        ///< of kExtended: height
    std::optional<RunwayView> runway;  ///< of kRoundStarted and kToppedUp

    template <class Visit>
    void fields(Visit& visit) const {
        visit("event", event);
        visit("round", round);
        visit("slot", slot);
        visit("reason", reason);
        visit("spent", spent);
        visit("escrow", escrow);
        if (runway) visit("runway", *runway);
        if (event == contracts::EventKind::kToppedUp) visit("amount", amount);
        if (event == contracts::EventKind::kExtended) visit("deadline", deadline);
        if (!loss) return;
        visit("train_loss", loss->train);
        visit("held_out_loss", loss->held_out);
    }
};

/// `state` is the state after the event's block. Nothing for an event that only programs need.
std::optional<JobEventView> job_event_view(const contracts::StateView& state, const contracts::Event& event);

}  // namespace assay::node
