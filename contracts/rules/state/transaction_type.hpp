// SPDX-License-Identifier: Apache-2.0
// The types of transactions and who signs each, for senders, rules and documentation. This is the only list
// of their numbers, which are frozen. What a type carries is in the transactions.hpp of its subject.
//
//   signer "owner": an account key, pays and decides; "node": a hot key that its owner registered.
#pragma once

#include <cstdint>
#include <string_view>

#include "contracts/base/codec.hpp"

namespace assay::contracts {

enum class TxType : std::uint16_t {
    kTransfer = 1,
    kNodeRegister = 2,
    kNodeRevoke = 3,
    kMinerRegister = 4,
    kVerifierRegister = 5,
    kStakeDeposit = 6,
    kStakeWithdraw = 7,
    kEndpointUpdate = 8,
    kJobSubmit = 9,
    kJobCancel = 10,
    kAskCommit = 11,
    kAskReveal = 12,
    kVerifierEnlist = 13,
    kValidatorEnlist = 14,
    kRoundCommit = 15,
    kBeaconOpen = 16,
    kRoundReveal = 17,
    kAuditSeal = 18,
    kAuditOpen = 19,
    kMergeSeal = 20,
    kMergeOpen = 21,
    kRoundServe = 22,
    kStorageBitmap = 23,
    kJobJoin = 24,
    kDisputeOpen = 25,
    kDisputePost = 26,
    kDisputePick = 27,
    kDisputeProve = 28,
    kDisputeConcede = 29,
    kDisputeCall = 30,
    kJobTopUp = 31,
    kJobExtend = 32,
    kTeamGrant = 33,
    kTeamRevoke = 34,
    kTeamSubmit = 35,
    kLotSeal = 36,
    kLotOpen = 37,
    kLotWithdraw = 38,
    kBidSeal = 39,
    kBidOpen = 40,
    kLeaseTake = 41,
};
std::string_view to_text(TxType type);

/// Which kind of key must sign.
enum class Signer : std::uint8_t { kOwner = 1, kNode = 2 };
Signer signer_of(TxType type);

}  // namespace assay::contracts

namespace assay::base {
ASSAY_ENUM_RANGE(contracts::TxType, kTransfer, kLeaseTake);
}  // namespace assay::base
