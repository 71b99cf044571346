// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/state/refusals.hpp"

namespace assay::contracts {

std::optional<Retry> retry(Reason reason) {
    // No default: the compiler asks for the answer of a new reason.
    switch (reason) {
        // The bytes, the spec and the seals stay what they are.
        case Reason::kMalformed:
        case Reason::kTooLarge:
        case Reason::kUnknownType:
        case Reason::kBadSignature:
        case Reason::kListTooLong:
        case Reason::kBadEndpoint:
        case Reason::kZeroAmount:
        case Reason::kBadSpec:
        case Reason::kAmountOverflow:
        case Reason::kBudgetTooSmall:
        case Reason::kGainBoundTooHigh:
        case Reason::kLockTooSmall:
        case Reason::kTooCostly:
        case Reason::kBadKeyProof:
        case Reason::kSealMismatch:
        case Reason::kBadLink:
        case Reason::kVoidTry:
        case Reason::kBadTrace:
        case Reason::kWrongCarried:
        case Reason::kBadStart:
        case Reason::kWrongStart:
        case Reason::kBadOpening:
        case Reason::kBadBitmap:
        case Reason::kBadMerge:
        case Reason::kWrongClaims:
        // A key is registered, and revoked, once and for ever; the validators are the genesis file's.
        case Reason::kNeedsOwnerKey:
        case Reason::kKeyRevoked:
        case Reason::kKeyTaken:
        case Reason::kAlreadyRegistered:
        case Reason::kNotValidator:
        case Reason::kJobLeases:
        // What is over or done stays so. Draws and slots are fixed before the phase in which these are said,
        // and the phase is looked at first; so is the time for a seal that was not set.
        case Reason::kJobOver:
        case Reason::kAlreadyDone:
        case Reason::kNotParticipant:
        case Reason::kNoSuchSlot:
        case Reason::kNotYourSlot:
        case Reason::kNotDrawn:
        case Reason::kNoSeal:
        case Reason::kWindowClosed:
        case Reason::kClaimDead:
        case Reason::kOwnClaim:
        case Reason::kNoSuchUnit:
        case Reason::kDeadlineTooFar:
        case Reason::kBadCaps:
        case Reason::kBadClass:
        case Reason::kNoMarketTerms: return Retry::kNever;

        // An account, a node key or a role can be registered later.
        case Reason::kUnknownSender:
        case Reason::kNeedsNodeKey:
        case Reason::kNotYours:
        case Reason::kNotMiner:
        case Reason::kNotVerifier:
        // Money can arrive, a bond can come free, a job can end.
        case Reason::kInsufficientBalance:
        case Reason::kInsufficientStake:
        case Reason::kTooManyJobs:
        // A member of a roster can lose its place.
        case Reason::kRosterFull:
        // A sponsor can grant more, a job's end gives room back, a day passes.
        case Reason::kNotMember:
        case Reason::kCapPerJob:
        case Reason::kCapPerDay:
        case Reason::kCapTotal:
        // The node may be behind the sender, and phases and rounds come.
        case Reason::kUnknownJob:
        case Reason::kWrongPhase:
        case Reason::kWrongRound:
        case Reason::kNoSuchGame:
        case Reason::kNotYourTurn:
        // Windows come and go, lots are freed, escrow and measured speed change.
        case Reason::kWrongWindow:
        case Reason::kLotStands:
        case Reason::kNoSuchLot:
        case Reason::kClassTooFast:
        case Reason::kPriceAboveCap:
        case Reason::kEscrowTooSmall:
        case Reason::kTooFewLots:
        case Reason::kTooFewJudges:
        case Reason::kWrongLots:
        case Reason::kMarketFull:
        case Reason::kBadMove: return Retry::kWhenChanged;

        case Reason::kNonceUsed:
        case Reason::kNonceGap:
        case Reason::kExpired:
        case Reason::kNonceWaiting:
        case Reason::kNodeBusy:
        case Reason::kSenderBusy: return Retry::kSoon;

        case Reason::kNone:
        case Reason::kPaid:
        case Reason::kPaidDiverged:
        case Reason::kPaidAudit:
        case Reason::kPaidMerge:
        case Reason::kNotAssigned:
        case Reason::kNoCommit:
        case Reason::kNoCommitAgain:
        case Reason::kUnresolved:
        case Reason::kNotStored:
        case Reason::kAuditSilent:
        case Reason::kPaidUndecided:
        case Reason::kAuditUndecided:
        case Reason::kMergeSilent:
        case Reason::kMergeUndecided:
        case Reason::kMergeAttested:
        case Reason::kMergeFewerSlots:
        case Reason::kDropped:
        case Reason::kAskNotRevealed:
        case Reason::kAskAboveCap:
        case Reason::kAskWithoutBond:
        case Reason::kLinkWithheld:
        case Reason::kAuditUnopened:
        case Reason::kMergeUnopened:
        case Reason::kSilentAfterDraw:
        case Reason::kJobComplete:
        case Reason::kJobCancelled:
        case Reason::kJobExhausted:
        case Reason::kJobDeadline:
        case Reason::kNoAsks:
        case Reason::kTooFewVerifiers:
        case Reason::kNoMiners:
        case Reason::kMergeUnresolved:
        case Reason::kMergeDiverged:
        case Reason::kDisputeLost:
        case Reason::kDisputeSilent:
        case Reason::kDisputeConceded:
        case Reason::kChallengeLost:
        case Reason::kJobVoid:
        case Reason::kPaidAccused:
        case Reason::kAuditAccuses:
        case Reason::kSealNotOpened:
        case Reason::kClassNotMet:
        case Reason::kOutbid:
        case Reason::kMergeAccuses: return std::nullopt;
    }
    return std::nullopt;
}

std::optional<Reason> refusal_of(std::uint32_t number) {
    if (number > UINT16_MAX || !base::is_enumerator<Reason>(static_cast<std::uint16_t>(number)))
        return std::nullopt;
    const auto reason = static_cast<Reason>(number);
    if (!retry(reason)) return std::nullopt;
    return reason;
}

}  // namespace assay::contracts
