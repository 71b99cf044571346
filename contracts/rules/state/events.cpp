// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/state/events.hpp"

namespace assay::contracts {

std::string_view to_text(EventKind kind) {
    switch (kind) {
        case EventKind::kTransfer: return "transfer";
        case EventKind::kRegistered: return "registered";
        case EventKind::kJobSubmitted: return "job_submitted";
        case EventKind::kJobPhase: return "job_phase";
        case EventKind::kAuctionCleared: return "auction_cleared";
        case EventKind::kEnlisted: return "enlisted";
        case EventKind::kRoundStarted: return "round_started";
        case EventKind::kRoundPhase: return "round_phase";
        case EventKind::kCommitted: return "committed";
        case EventKind::kBeaconDrawn: return "beacon_drawn";
        case EventKind::kRevealed: return "revealed";
        case EventKind::kAudited: return "audited";
        case EventKind::kRedrawn: return "redrawn";
        case EventKind::kVerdict: return "verdict";
        case EventKind::kMerged: return "merged";
        case EventKind::kSettled: return "settled";
        case EventKind::kLost: return "lost";
        case EventKind::kDropped: return "dropped";
        case EventKind::kRefunded: return "refunded";
        case EventKind::kJobEnded: return "job_ended";
        case EventKind::kUnbonded: return "unbonded";
        case EventKind::kServed: return "served";
        case EventKind::kStored: return "stored";
        case EventKind::kDisputeOpened: return "dispute_opened";
        case EventKind::kDisputeMoved: return "dispute_moved";
        case EventKind::kDisputeEnded: return "dispute_ended";
        case EventKind::kToppedUp: return "topped_up";
        case EventKind::kExtended: return "extended";
        case EventKind::kTeamChanged: return "team_changed";
        case EventKind::kEpochBegan: return "epoch_began";
        case EventKind::kMarketPhase: return "market_phase";
        case EventKind::kClassCleared: return "class_cleared";
        case EventKind::kLeased: return "leased";
        case EventKind::kBidLost: return "bid_lost";
        case EventKind::kLotsLost: return "lots_lost";
        case EventKind::kSealLost: return "seal_lost";
        case EventKind::kLotGone: return "lot_gone";
    }
    return "unknown";
}

}  // namespace assay::contracts
