// SPDX-License-Identifier: Apache-2.0
// Names of enumerators, as tables, JSON and logs show them.
#include "contracts/rules/events.hpp"
#include "contracts/rules/job_records.hpp"
#include "contracts/rules/round_records.hpp"
#include "contracts/rules/transactions.hpp"

namespace assay::contracts {

std::string_view to_text(TxType type) {
    switch (type) {
        case TxType::kTransfer: return "transfer";
        case TxType::kNodeRegister: return "node_register";
        case TxType::kNodeRevoke: return "node_revoke";
        case TxType::kMinerRegister: return "miner_register";
        case TxType::kVerifierRegister: return "verifier_register";
        case TxType::kStakeDeposit: return "stake_deposit";
        case TxType::kStakeWithdraw: return "stake_withdraw";
        case TxType::kEndpointUpdate: return "endpoint_update";
        case TxType::kJobSubmit: return "job_submit";
        case TxType::kJobCancel: return "job_cancel";
        case TxType::kAskCommit: return "ask_commit";
        case TxType::kAskReveal: return "ask_reveal";
        case TxType::kVerifierEnlist: return "verifier_enlist";
        case TxType::kSequencerEnlist: return "sequencer_enlist";
        case TxType::kRoundCommit: return "round_commit";
        case TxType::kBeaconOpen: return "beacon_open";
        case TxType::kRoundReveal: return "round_reveal";
        case TxType::kAuditSeal: return "audit_seal";
        case TxType::kAuditOpen: return "audit_open";
        case TxType::kMergeSeal: return "merge_seal";
        case TxType::kMergeOpen: return "merge_open";
    }
    return "unknown";
}

std::string_view to_text(JobPhase phase) {
    switch (phase) {
        case JobPhase::kAskCommit: return "ask_commit";
        case JobPhase::kAskReveal: return "ask_reveal";
        case JobPhase::kRounds: return "rounds";
        case JobPhase::kEnded: return "ended";
    }
    return "unknown";
}

std::string_view to_text(RoundPhase phase) {
    switch (phase) {
        case RoundPhase::kCommit: return "train";
        case RoundPhase::kBeacon: return "beacon";
        case RoundPhase::kReveal: return "reveal";
        case RoundPhase::kAuditSeal: return "audit_seal";
        case RoundPhase::kAuditOpen: return "audit_open";
        case RoundPhase::kThirdSeal: return "third_seal";
        case RoundPhase::kThirdOpen: return "third_open";
        case RoundPhase::kMergeSeal: return "merge_seal";
        case RoundPhase::kMergeOpen: return "merge_open";
        case RoundPhase::kMergeThirdSeal: return "merge_third_seal";
        case RoundPhase::kMergeThirdOpen: return "merge_third_open";
        case RoundPhase::kSettled: return "settled";
    }
    return "unknown";
}

std::string_view to_text(LineKind kind) {
    switch (kind) {
        case LineKind::kSlot: return "slot";
        case LineKind::kAudit: return "audit";
        case LineKind::kMerge: return "merge";
        case LineKind::kLink: return "link";
    }
    return "unknown";
}

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
        case EventKind::kThirdDrawn: return "third_drawn";
        case EventKind::kVerdict: return "verdict";
        case EventKind::kMerged: return "merged";
        case EventKind::kSettled: return "settled";
        case EventKind::kLost: return "lost";
        case EventKind::kDropped: return "dropped";
        case EventKind::kRefunded: return "refunded";
        case EventKind::kJobEnded: return "job_ended";
        case EventKind::kUnbonded: return "unbonded";
    }
    return "unknown";
}

}  // namespace assay::contracts
