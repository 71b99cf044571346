// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/state/reasons.hpp"

#include <algorithm>
#include <array>

namespace assay::contracts {

namespace {

struct Row {
    Reason reason;
    Consequence consequence;
    std::string_view name;
    std::string_view sentence;
};

constexpr auto kNothing = Consequence::kNothing;
constexpr auto kRefused = Consequence::kRefused;
constexpr auto kPaid = Consequence::kPaid;
constexpr auto kUnpaid = Consequence::kUnpaid;
constexpr auto kPenalty = Consequence::kPenalty;
constexpr auto kForfeit = Consequence::kForfeit;
constexpr auto kJobEnded = Consequence::kJobEnded;

constexpr std::array kRows = {
    Row{Reason::kNone, kNothing, "none", "No reason is given."},
    Row{Reason::kMalformed, kRefused, "malformed", "The bytes are not the canonical form of a transaction."},
    Row{Reason::kTooLarge, kRefused, "too_large",
        "The transaction has more bytes than a transaction may have."},
    Row{Reason::kUnknownType, kRefused, "unknown_type", "There is no such type of transaction."},
    Row{Reason::kBadSignature, kRefused, "bad_signature",
        "The signature is not the sender's over these bytes on this chain."},
    Row{Reason::kListTooLong, kRefused, "list_too_long",
        "A list in the transaction is longer than its limit."},
    Row{Reason::kBadEndpoint, kRefused, "bad_endpoint", "The endpoint is not of the form host:port."},
    Row{Reason::kZeroAmount, kRefused, "zero_amount", "The amount must be above zero."},
    Row{Reason::kBadSpec, kRefused, "bad_spec",
        "The job specification breaks a rule or asks for what is not supported."},
    Row{Reason::kUnknownSender, kRefused, "unknown_sender", "The sender's key holds no account here."},
    Row{Reason::kNeedsOwnerKey, kRefused, "needs_owner_key",
        "This must be signed by an owner key, not a node key."},
    Row{Reason::kNeedsNodeKey, kRefused, "needs_node_key", "This must be signed by a registered node key."},
    Row{Reason::kKeyRevoked, kRefused, "key_revoked", "The owner has revoked this node key."},
    Row{Reason::kNonceUsed, kRefused, "nonce_used", "A transaction with this nonce was already applied."},
    Row{Reason::kNonceGap, kRefused, "nonce_gap", "An earlier nonce of this key has not been applied yet."},
    Row{Reason::kExpired, kRefused, "expired", "The transaction's last height has passed."},
    Row{Reason::kNotYours, kRefused, "not_yours", "The sender does not own what the transaction is about."},
    Row{Reason::kKeyTaken, kRefused, "key_taken",
        "This key is already registered as a node key or used as an account."},
    Row{Reason::kBadKeyProof, kRefused, "bad_key_proof",
        "The node key did not sign that it belongs to this owner."},
    Row{Reason::kAlreadyRegistered, kRefused, "already_registered", "This node key already has that role."},
    Row{Reason::kNotMiner, kRefused, "not_miner", "The node key is not registered as a miner."},
    Row{Reason::kNotVerifier, kRefused, "not_verifier", "The node key is not registered as a verifier."},
    Row{Reason::kNotValidator, kRefused, "not_sequencer", "The node key is no validator's."},
    Row{Reason::kInsufficientBalance, kRefused, "insufficient_balance",
        "The owner's balance does not cover the amount."},
    Row{Reason::kInsufficientStake, kRefused, "insufficient_stake",
        "The node key's free stake does not cover the amount."},
    Row{Reason::kAmountOverflow, kRefused, "amount_overflow",
        "A sum in this transaction is above the largest amount."},
    Row{Reason::kBudgetTooSmall, kRefused, "budget_too_small",
        "The budget does not cover one round with its audits at the highest price."},
    Row{Reason::kTooManyJobs, kRefused, "too_many_jobs", "As many jobs are running as the ledger allows."},
    Row{Reason::kUnknownJob, kRefused, "unknown_job", "There is no job with this id."},
    Row{Reason::kJobOver, kRefused, "job_over", "The job has ended."},
    Row{Reason::kWrongPhase, kRefused, "wrong_phase", "The job or round is not in the phase for this."},
    Row{Reason::kWrongRound, kRefused, "wrong_round", "This is not the job's running round."},
    Row{Reason::kAlreadyDone, kRefused, "already_done", "This was done before and is done once."},
    Row{Reason::kRosterFull, kRefused, "roster_full", "The job takes no more asks, miners or verifiers."},
    Row{Reason::kNotParticipant, kRefused, "not_participant", "The node key takes no part in this job."},
    Row{Reason::kNoSuchSlot, kRefused, "no_such_slot", "The job has no slot with this number."},
    Row{Reason::kNotYourSlot, kRefused, "not_your_slot", "The slot was dealt to someone else, or to nobody."},
    Row{Reason::kSealMismatch, kRefused, "seal_mismatch", "What was opened is not what was sealed."},
    Row{Reason::kBadLink, kRefused, "bad_link", "The link does not lead to the registered tip of the chain."},
    Row{Reason::kBadTrace, kRefused, "bad_trace",
        "The trace does not have the shape that the job's program gives."},
    Row{Reason::kNotDrawn, kRefused, "not_drawn",
        "The verifier was not drawn for this, or did not vouch for it."},
    Row{Reason::kWrongClaims, kRefused, "wrong_claims",
        "The claims are not exactly the drawn units, in their order, or replays where the seal said "
        "otherwise."},
    Row{Reason::kNoSeal, kRefused, "no_seal", "There is no seal to open."},
    Row{Reason::kPaid, kPaid, "paid", "The work was found right and paid."},
    Row{Reason::kPaidDiverged, kPaid, "paid_diverged",
        "The training diverged as claimed; the work was right and paid, its update is left out."},
    Row{Reason::kPaidAudit, kPaid, "paid_audit", "The recomputation was right and paid."},
    Row{Reason::kPaidMerge, kPaid, "paid_merge", "The merge stands and was opened first: paid."},
    Row{Reason::kNotAssigned, kUnpaid, "not_assigned", "Nobody could be dealt this slot."},
    Row{Reason::kNoCommit, kUnpaid, "no_commit",
        "No seal arrived before the beacon, for the first time in a row: unpaid without loss, the slot is "
        "dealt "
        "again."},
    Row{Reason::kUnresolved, kUnpaid, "unresolved",
        "No drawn verifier recomputed the unit in which the training is said to have diverged: unpaid "
        "without forfeit."},
    Row{Reason::kNotStored, kUnpaid, "not_stored",
        "No majority of the locked stake holds the slot's bytes: unpaid without forfeit, its update stays "
        "out."},
    Row{Reason::kAuditSilent, kPenalty, "audit_silent",
        "The drawn verifier sealed no audit of the slot in time: it costs what a lost accusation costs."},
    Row{Reason::kPaidUndecided, kPaid, "paid_undecided",
        "No drawn verifier recomputed one of the drawn units, and nothing was shown wrong: paid."},
    Row{Reason::kAuditUndecided, kUnpaid, "audit_undecided",
        "The miner opened no trace, and no other verifier computed the same: nobody can say that the audit "
        "was right."},
    Row{Reason::kMergeSilent, kUnpaid, "merge_silent", "The verifier posted no merge in time."},
    Row{Reason::kMergeUndecided, kUnpaid, "merge_undecided",
        "No merge stands that a game could decide against this one: it is not paid, and loses nothing."},
    Row{Reason::kDropped, kUnpaid, "dropped",
        "It was absent too often, or holds too little stake, and takes no further part in the job."},
    Row{Reason::kAskNotRevealed, kPenalty, "ask_not_revealed",
        "A sealed ask was not opened: its deposit is burned."},
    Row{Reason::kLinkWithheld, kPenalty, "link_withheld",
        "A beacon link was withheld: the link bond is lost, and pays what the round's audits at rate 1 cost "
        "more; "
        "the rest is burned."},
    Row{Reason::kSilentAfterDraw, kForfeit, "silent_after_draw",
        "After the draw the sealed work was not opened, or only to a trace that is refused: unpaid, the bond "
        "is forfeited, a part to the buyer and the rest burned."},
    Row{Reason::kJobComplete, kJobEnded, "job_complete", "All rounds were done."},
    Row{Reason::kJobCancelled, kJobEnded, "job_cancelled", "The buyer cancelled the job."},
    Row{Reason::kJobExhausted, kJobEnded, "job_exhausted", "The budget does not cover a further round."},
    Row{Reason::kJobDeadline, kJobEnded, "job_deadline", "The job's deadline passed."},
    Row{Reason::kNoAsks, kJobEnded, "no_asks",
        "No miner asked a price within the job's cap and its own stake."},
    Row{Reason::kTooFewVerifiers, kJobEnded, "too_few_verifiers",
        "Fewer owners of verifiers are left for the job than panel_owners_least asks for."},
    Row{Reason::kNoMiners, kJobEnded, "no_miners", "No miner is left that can hold a slot."},
    Row{Reason::kMergeUnresolved, kJobEnded, "merge_unresolved", "In two rounds in a row no merge stood."},
    Row{Reason::kMergeDiverged, kJobEnded, "merge_diverged",
        "The merged model is not finite: verified slots were paid, no further round can start from it."},
    Row{Reason::kNonceWaiting, kRefused, "nonce_waiting",
        "A transaction with this nonce is waiting for a block already."},
    Row{Reason::kNodeBusy, kRefused, "node_busy",
        "The node has as many transactions waiting for a block as it takes."},
    Row{Reason::kSenderBusy, kRefused, "sender_busy",
        "The sender has as many transactions waiting for a block as the node takes of one."},
    Row{Reason::kAuditUnopened, kPenalty, "audit_unopened",
        "A sealed audit was not opened: it costs what a lost accusation costs."},
    Row{Reason::kMergeUnopened, kPenalty, "merge_unopened",
        "A sealed merge was not opened: a part of what the verifier locked is burned."},
    Row{Reason::kGainBoundTooHigh, kRefused, "gain_bound_too_high",
        "The gain bound is too high for a slot's pay at the cap: miners would lock far more than they can "
        "earn."},
    Row{Reason::kLockTooSmall, kRefused, "lock_too_small",
        "The verifier offers to lock less than the job asks at least."},
    Row{Reason::kTooCostly, kRefused, "too_costly",
        "The transaction alone costs more than a block may hold."},
    Row{Reason::kWrongCarried, kRefused, "wrong_carried",
        "The slot goes on with another state than its last accepted round handed on."},
    Row{Reason::kBadOpening, kRefused, "bad_opening",
        "The openings are not the starts of the drawn runs under the sealed trace root."},
    Row{Reason::kBadBitmap, kRefused, "bad_bitmap",
        "The bitmap has another length, names a slot that this verifier may not name, or lacks one that it "
        "must."},
    Row{Reason::kVoidTry, kRefused, "void_try",
        "The link comes too late: the try that waited for it is void."},
    Row{Reason::kNoCommitAgain, kPenalty, "no_commit_again",
        "No seal arrived before the beacon, again or right after joining: unpaid, and a part of the bond is "
        "burned."},
    Row{Reason::kBadMerge, kRefused, "bad_merge",
        "The merge names no slot, one that may not be merged, or clips that the job does not have."},
    Row{Reason::kMergeAttested, kUnpaid, "merge_attested",
        "The merge is the one that stands; the first who opened it is paid."},
    Row{Reason::kMergeFewerSlots, kUnpaid, "merge_fewer_slots",
        "The merge names fewer slots than another, and loses nothing."},
    Row{Reason::kWindowClosed, kRefused, "window_closed", "Nothing can be said against this claim any more."},
    Row{Reason::kClaimDead, kRefused, "claim_dead", "The claim has lost a game already."},
    Row{Reason::kOwnClaim, kRefused, "own_claim",
        "Nobody challenges a claim, or calls a verifier, of its own owner."},
    Row{Reason::kNoSuchUnit, kRefused, "no_such_unit",
        "The claim has no such unit, or nothing to dispute in it."},
    Row{Reason::kNoSuchGame, kRefused, "no_such_game", "The job has no game of this number."},
    Row{Reason::kNotYourTurn, kRefused, "not_your_turn", "It is the other player's turn."},
    Row{Reason::kBadMove, kRefused, "bad_move",
        "The hashes do not fold into what is fixed, or there is no such thing to pick or to open."},
    Row{Reason::kDisputeLost, kForfeit, "dispute_lost",
        "In a game the claimant's own inputs did not give its own output."},
    Row{Reason::kDisputeSilent, kForfeit, "dispute_silent", "In a game it let its clock run out."},
    Row{Reason::kDisputeConceded, kForfeit, "dispute_conceded", "It conceded a game."},
    Row{Reason::kChallengeLost, kForfeit, "challenge_lost",
        "In a game the claimant's inputs gave its output: the challenge was wrong."},
    Row{Reason::kJobVoid, kJobEnded, "job_void", "The job's own data are at fault."},
    Row{Reason::kPaidAccused, kPaid, "paid_accused",
        "A drawn verifier's root differs from the claim: its update stays out, and it is paid unless it "
        "loses a "
        "game."},
    Row{Reason::kAuditAccuses, kUnpaid, "audit_accuses",
        "The audit's root differs from the claim: a game decides who is paid."},
    Row{Reason::kBadStart, kRefused, "bad_start",
        "What the reveal shows is not the round's base, or not what the slot carries."},
    Row{Reason::kWrongStart, kRefused, "wrong_start",
        "The trace begins with another state than the round's base with what the slot carries."},
    Row{Reason::kMergeAccuses, kUnpaid, "merge_accuses",
        "The merge that stands came to another state of the same slots: a game decides which of the two "
        "loses."},
    Row{Reason::kJobLeases, kRefused, "job_leases",
        "The job leases its machines in the market: it takes no asks, and nobody joins it."},
    Row{Reason::kAskAboveCap, kPenalty, "ask_above_cap",
        "The ask was above what the job pays at most: its deposit is burned."},
    Row{Reason::kAskWithoutBond, kPenalty, "ask_without_bond",
        "The stake for the bond of one slot was not there when the auction was held: the ask's deposit "
        "is burned."},
    Row{Reason::kWrongWindow, kRefused, "wrong_window",
        "The market between jobs takes such a message in another part of its epoch."},
    Row{Reason::kLotStands, kRefused, "lot_stands",
        "The machine is offered already: one lot of a node an epoch."},
    Row{Reason::kNoSuchLot, kRefused, "no_such_lot", "No lot of this node stands."},
    Row{Reason::kBadClass, kRefused, "bad_class",
        "There is no such class of lots, or the job does not take it."},
    Row{Reason::kClassTooFast, kRefused, "class_too_fast",
        "The class is faster than what was measured of this node."},
    Row{Reason::kWrongLots, kRefused, "wrong_lots",
        "The number of lots is below the gang of the job, or above the most that it may use or lease."},
    Row{Reason::kPriceAboveCap, kRefused, "price_above_cap", "The price is above what the job pays at most."},
    Row{Reason::kEscrowTooSmall, kRefused, "escrow_too_small",
        "The escrow does not cover the deposit, or the dearest course of a round at this price."},
    Row{Reason::kTooFewLots, kRefused, "too_few_lots",
        "Not so many lots of the class are left at the base price."},
    Row{Reason::kMarketFull, kRefused, "market_full", "The market holds as many lots or bids as it can."},
    Row{Reason::kNoMarketTerms, kRefused, "no_market_terms",
        "The job has no terms of the market: it holds an auction of its own."},
    Row{Reason::kSealNotOpened, kPenalty, "seal_not_opened", "Its sealed lot or bid was not opened."},
    Row{Reason::kClassNotMet, kPenalty, "class_not_met",
        "Two or more bits slower than the class that it offered before it was measured."},
    Row{Reason::kOutbid, kUnpaid, "outbid", "Others bid more for the lots, or too few asked so little."},
    Row{Reason::kTooFewJudges, kRefused, "too_few_judges",
        "Verifiers of too few owners are enlisted for the job: nobody could judge what its machines do."},
    Row{Reason::kDeadlineTooFar, kRefused, "deadline_too_far",
        "The deadline would come later after the submission than that of any job may."},
    Row{Reason::kNotMember, kRefused, "not_member",
        "The sponsor's team has no such member, or has it no longer."},
    Row{Reason::kCapPerJob, kRefused, "cap_per_job",
        "The job would take more from the sponsor than the member may take for one."},
    Row{Reason::kCapPerDay, kRefused, "cap_per_day",
        "The member would take more from the sponsor than it may in its day's heights."},
    Row{Reason::kCapTotal, kRefused, "cap_total",
        "The member would take more from the sponsor than it may in all."},
    Row{Reason::kBadCaps, kRefused, "bad_caps", "A member's day must have at least one height."},
};

constexpr auto kReasons = [] {
    std::array<Reason, kRows.size()> reasons{};
    for (std::size_t i = 0; i < kRows.size(); ++i) reasons[i] = kRows[i].reason;
    return reasons;
}();

constexpr bool has_a_row_for_each() {
    using Number = std::underlying_type_t<Reason>;
    std::size_t next = 0;
    for (Number number = 0; number <= static_cast<Number>(base::EnumRange<Reason>::last); ++number) {
        if (!base::is_enumerator<Reason>(number)) continue;
        if (next == kReasons.size() || kReasons[next++] != static_cast<Reason>(number)) return false;
    }
    return next == kReasons.size();
}
static_assert(has_a_row_for_each());

const Row& row(Reason reason) {
    const auto found = std::lower_bound(kReasons.begin(), kReasons.end(), reason);
    ASSAY_CHECK(found != kReasons.end() && *found == reason);
    return kRows[static_cast<std::size_t>(found - kReasons.begin())];
}

}  // namespace

std::span<const Reason> all_reasons() { return kReasons; }

Consequence consequence(Reason reason) { return row(reason).consequence; }

std::string_view to_text(Reason reason) { return row(reason).name; }

std::string_view explain(Reason reason) { return row(reason).sentence; }

}  // namespace assay::contracts
