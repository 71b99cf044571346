// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/state/transaction_type.hpp"

#include "contracts/base/check.hpp"

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
        case TxType::kValidatorEnlist: return "sequencer_enlist";
        case TxType::kRoundCommit: return "round_commit";
        case TxType::kBeaconOpen: return "beacon_open";
        case TxType::kRoundReveal: return "round_reveal";
        case TxType::kAuditSeal: return "audit_seal";
        case TxType::kAuditOpen: return "audit_open";
        case TxType::kMergeSeal: return "merge_seal";
        case TxType::kMergeOpen: return "merge_open";
        case TxType::kRoundServe: return "round_serve";
        case TxType::kStorageBitmap: return "storage_bitmap";
        case TxType::kJobJoin: return "job_join";
        case TxType::kDisputeOpen: return "dispute_open";
        case TxType::kDisputePost: return "dispute_post";
        case TxType::kDisputePick: return "dispute_pick";
        case TxType::kDisputeProve: return "dispute_prove";
        case TxType::kDisputeConcede: return "dispute_concede";
        case TxType::kDisputeCall: return "dispute_call";
        case TxType::kJobTopUp: return "job_top_up";
        case TxType::kJobExtend: return "job_extend";
        case TxType::kTeamGrant: return "team_grant";
        case TxType::kTeamRevoke: return "team_revoke";
        case TxType::kTeamSubmit: return "team_submit";
        case TxType::kLotSeal: return "lot_seal";
        case TxType::kLotOpen: return "lot_open";
        case TxType::kLotWithdraw: return "lot_withdraw";
        case TxType::kBidSeal: return "bid_seal";
        case TxType::kBidOpen: return "bid_open";
        case TxType::kLeaseTake: return "lease_take";
    }
    return "unknown";
}

Signer signer_of(TxType type) {
    switch (type) {
        case TxType::kTransfer:
        case TxType::kNodeRegister:
        case TxType::kNodeRevoke:
        case TxType::kMinerRegister:
        case TxType::kVerifierRegister:
        case TxType::kStakeDeposit:
        case TxType::kStakeWithdraw:
        case TxType::kJobSubmit:
        case TxType::kJobCancel:
        case TxType::kJobTopUp:
        case TxType::kJobExtend:
        case TxType::kTeamGrant:
        case TxType::kTeamRevoke:
        case TxType::kTeamSubmit: return Signer::kOwner;
        case TxType::kEndpointUpdate:
        case TxType::kAskCommit:
        case TxType::kAskReveal:
        case TxType::kVerifierEnlist:
        case TxType::kValidatorEnlist:
        case TxType::kRoundCommit:
        case TxType::kBeaconOpen:
        case TxType::kRoundReveal:
        case TxType::kAuditSeal:
        case TxType::kAuditOpen:
        case TxType::kMergeSeal:
        case TxType::kMergeOpen:
        case TxType::kRoundServe:
        case TxType::kStorageBitmap:
        case TxType::kJobJoin:
        case TxType::kDisputeOpen:
        case TxType::kDisputePost:
        case TxType::kDisputePick:
        case TxType::kDisputeProve:
        case TxType::kDisputeConcede:
        case TxType::kDisputeCall:
        case TxType::kLotSeal:
        case TxType::kLotOpen:
        case TxType::kLotWithdraw:
        case TxType::kBidSeal:
        case TxType::kBidOpen:
        case TxType::kLeaseTake: return Signer::kNode;
    }
    ASSAY_CHECK(false);
}

}  // namespace assay::contracts
