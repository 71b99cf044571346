// SPDX-License-Identifier: Apache-2.0
// Reason says why the rules did what they did. Every refused transaction, every zero payment, every loss and
// every end of a job carries one. The numbers are frozen: they are stored, and scripts and `payout explain`
// rely on them. New reasons are added at the end, never between; the number of a removed reason is not used
// again.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "contracts/base/codec.hpp"
#include "contracts/base/result.hpp"

namespace assay::contracts {

using base::failed;
using base::Result;

/// What follows from a reason for the party that it concerns.
enum class Consequence : std::uint8_t {
    kNothing = 0,   ///< none given (yet)
    kRefused = 1,   ///< the transaction changed nothing, not even its sender's nonce
    kPaid = 2,      ///< paid
    kUnpaid = 3,    ///< not paid, nothing lost
    kPenalty = 4,   ///< part of a stake or a deposit was lost
    kForfeit = 5,   ///< the whole bond was lost
    kJobEnded = 6,  ///< the job's end; what was not spent went back to the buyer
};

enum class Reason : std::uint16_t {
    kNone = 0,
    // Refused: the bytes (check_static).
    kMalformed = 1,
    kTooLarge = 2,
    kUnknownType = 3,
    kBadSignature = 4,
    kListTooLong = 5,
    kBadEndpoint = 6,
    kZeroAmount = 7,
    kBadSpec = 8,
    // Refused: who sent it (check_against, and all below).
    kUnknownSender = 9,
    kNeedsOwnerKey = 10,
    kNeedsNodeKey = 11,
    kKeyRevoked = 12,
    kNonceUsed = 13,
    kNonceGap = 14,
    kExpired = 15,
    kNotYours = 16,
    kKeyTaken = 17,
    kBadKeyProof = 18,
    kAlreadyRegistered = 19,
    kNotMiner = 20,
    kNotVerifier = 21,
    kNotValidator = 22,
    // Refused: money.
    kInsufficientBalance = 23,
    kInsufficientStake = 24,
    kAmountOverflow = 25,
    kBudgetTooSmall = 26,
    kTooManyJobs = 27,
    // Refused: a job's state.
    kUnknownJob = 28,
    kJobOver = 29,
    kWrongPhase = 30,
    kWrongRound = 31,
    kAlreadyDone = 32,
    kRosterFull = 33,
    kNotParticipant = 34,
    kNoSuchSlot = 35,
    kNotYourSlot = 36,
    kSealMismatch = 37,
    kBadLink = 38,
    kBadTrace = 39,
    kNotDrawn = 40,
    kWrongClaims = 41,
    kNoSeal = 42,
    // Paid.
    kPaid = 43,
    kPaidDiverged = 44,
    kPaidAudit = 45,
    kPaidMerge = 46,
    // Not paid, nothing lost.
    kNotAssigned = 47,
    kNoCommit = 48,
    kUnresolved = 49,
    kNotStored = 50,
    kAuditSilent = 51,
    kPaidUndecided = 52,  ///< paid
    kAuditUndecided = 53,
    kMergeSilent = 54,
    kMergeUndecided = 55,
    kDropped = 56,
    // Part of a stake or deposit lost.
    kAskNotRevealed = 57,
    kLinkWithheld = 58,
    // The bond lost.
    kSilentAfterDraw = 62,
    // A job's end.
    kJobComplete = 63,
    kJobCancelled = 64,
    kJobExhausted = 65,
    kJobDeadline = 66,
    kNoAsks = 67,
    kTooFewVerifiers = 68,
    kNoMiners = 69,
    kMergeUnresolved = 70,
    kMergeDiverged = 71,
    // Refused by a node's mempool, never in a block.
    kNonceWaiting = 72,
    kNodeBusy = 73,
    kSenderBusy = 74,
    // Part of a bond lost.
    kAuditUnopened = 75,
    kMergeUnopened = 76,
    // Refused: a job's terms, and what is locked for it.
    kGainBoundTooHigh = 77,
    kLockTooSmall = 78,
    // Refused: a block has no room for it.
    kTooCostly = 79,
    // Refused: a reveal, an opening, a bitmap.
    kWrongCarried = 80,
    kBadOpening = 81,
    kBadBitmap = 82,
    // Refused: a link.
    kVoidTry = 83,
    // Part of a bond lost.
    kNoCommitAgain = 84,
    // Refused: a merge.
    kBadMerge = 85,
    // Not paid, nothing lost.
    kMergeAttested = 86,
    kMergeFewerSlots = 87,
    // Refused: a game.
    kWindowClosed = 88,
    kClaimDead = 89,
    kOwnClaim = 90,
    kNoSuchUnit = 91,
    kNoSuchGame = 92,
    kNotYourTurn = 93,
    kBadMove = 94,
    // The bond lost: in a game.
    kDisputeLost = 95,
    kDisputeSilent = 96,
    kDisputeConceded = 97,
    kChallengeLost = 98,
    // A job's end.
    kJobVoid = 99,
    // Paid unless a game is lost.
    kPaidAccused = 100,
    // Not paid yet: a game decides.
    kAuditAccuses = 101,
    // Refused: a reveal.
    kBadStart = 102,
    kWrongStart = 103,
    // Not paid: a game decides.
    kMergeAccuses = 104,
    // Refused: a job's state.
    kJobLeases = 105,
    // Part of a deposit lost: of an ask.
    kAskAboveCap = 106,
    kAskWithoutBond = 107,
    // Refused: by the market between jobs.
    kWrongWindow = 120,
    kLotStands = 121,
    kNoSuchLot = 122,
    kBadClass = 123,
    kClassTooFast = 124,
    kWrongLots = 125,
    kPriceAboveCap = 126,
    kEscrowTooSmall = 127,
    kTooFewLots = 128,
    kMarketFull = 129,
    kNoMarketTerms = 130,
    // Part of a deposit lost.
    kSealNotOpened = 131,
    kClassNotMet = 132,
    // Not paid, nothing lost.
    kOutbid = 133,
    // Refused: by the market, or a bid set aside.
    kTooFewJudges = 134,
    // Refused: what is added to a job.
    kDeadlineTooFar = 140,
    // Refused: a team's member.
    kNotMember = 141,
    kCapPerJob = 142,
    kCapPerDay = 143,
    kCapTotal = 144,
    kBadCaps = 145,
};

/// Ascending.
std::span<const Reason> all_reasons();

Consequence consequence(Reason reason);
/// Short name in snake_case, stable: "silent_after_draw".
std::string_view to_text(Reason reason);
/// One sentence for a person.
std::string_view explain(Reason reason);

}  // namespace assay::contracts

namespace assay::base {
// 59 to 61 were of votes, before games decided. 108 to 119 and 135 to 139 are not given yet.
ASSAY_ENUM_RANGE_WITHOUT(contracts::Reason, kNone, kBadCaps, 59, 60, 61, 108, 109, 110, 111, 112, 113, 114,
                         115, 116, 117, 118, 119, 135, 136, 137, 138, 139);
}  // namespace assay::base
