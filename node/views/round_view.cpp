// SPDX-License-Identifier: Apache-2.0
#include "node/views/round_view.hpp"

#include <bit>

#include "contracts/rules/escrow.hpp"

namespace assay::node {

namespace {

bool is_told(contracts::EventKind kind) {
    using contracts::EventKind;
    return kind == EventKind::kRoundStarted || kind == EventKind::kVerdict || kind == EventKind::kMerged ||
           kind == EventKind::kJobEnded || kind == EventKind::kAuctionCleared ||
           kind == EventKind::kToppedUp || kind == EventKind::kExtended;
}

}  // namespace

std::optional<JobEventView> job_event_view(const contracts::StateView& state, const contracts::Event& event) {
    const auto job = contracts::read_job(state, event.job);
    if (!job || !is_told(event.kind)) return std::nullopt;
    JobEventView view{.event = event.kind,
                      .round = event.round,
                      .slot = event.slot,
                      .reason = event.reason,
                      .spent = job->spent,
                      .escrow = contracts::escrow_of(state, *job),
                      .node = event.node};
    using contracts::EventKind;
    if (event.kind == EventKind::kRoundStarted || event.kind == EventKind::kToppedUp)
        view.runway = runway_view(state, *job);
    if (event.kind == EventKind::kToppedUp) view.amount = event.amount;
    if (event.kind == EventKind::kExtended) view.deadline = event.number;
    const auto round = contracts::read_round(state, event.job, event.round);
    if (event.kind != contracts::EventKind::kMerged || !round) return view;
    view.slots = event.number;
    view.loss = MergedLoss{.held_out = std::bit_cast<float>(round->result.held_out_loss)};
    if (round->train_steps > 0) view.loss->train = std::bit_cast<float>(round->train_loss);
    return view;
}

}  // namespace assay::node
