// SPDX-License-Identifier: Apache-2.0
// Reason: why the rules did what they did. Every refused transaction, every zero payment, every loss and
// every end of a job carries one. Frozen numbers: they are stored, and scripts and `payout explain` rely on
// them. New ones are added at the end, never between.
#pragma once

#include <cstdint>
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
    kNotSequencer = 22,
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
    kPriceAboveCap = 38,
    kBadLink = 39,
    kBadTrace = 40,
    kNotDrawn = 41,
    kWrongClaims = 42,
    kNoSeal = 43,
    // Paid.
    kPaid = 44,
    kPaidDiverged = 45,
    kPaidAudit = 46,
    kPaidMerge = 47,
    // Not paid, nothing lost.
    kNotAssigned = 48,
    kNoCommit = 49,
    kUnresolved = 50,
    kUnavailable = 51,
    kAuditSilent = 52,
    kAuditUnavailable = 53,
    kAuditUndecided = 54,
    kMergeSilent = 55,
    kMergeUndecided = 56,
    kDropped = 57,
    // Part of a stake or deposit lost.
    kAskNotRevealed = 58,
    kLinkWithheld = 59,
    kAuditWrong = 60,
    kMergeWrong = 61,
    // The bond lost.
    kMismatch = 62,
    kSilentAfterDraw = 63,
    // A job's end.
    kJobComplete = 64,
    kJobCancelled = 65,
    kJobExhausted = 66,
    kJobDeadline = 67,
    kNoAsks = 68,
    kTooFewVerifiers = 69,
    kNoMiners = 70,
    kMergeUnresolved = 71,
};
inline constexpr Reason kLastReason = Reason::kMergeUnresolved;

Consequence consequence(Reason reason);
/// Short name in snake_case, stable: "silent_after_draw".
std::string_view to_text(Reason reason);
/// One sentence for a person.
std::string_view explain(Reason reason);

}  // namespace assay::contracts

namespace assay::base {
ASSAY_ENUM_RANGE(contracts::Reason, kNone, kMergeUnresolved);
}  // namespace assay::base
