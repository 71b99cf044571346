// SPDX-License-Identifier: Apache-2.0
// The table of transactions. Number, name and signer are the code's own; names of fields are checked against
// the members, in the order in which they are signed; reasons are enumerators.
#include "contracts/rules/transactions.hpp"

#include <map>

#include "contracts/base/check.hpp"
#include "contracts/rules/state/transaction_cost.hpp"
#include "tests/tools/reference_tables.hpp"

namespace assay::docs {

namespace {

using contracts::Reason;
using contracts::TxType;
using enum contracts::Reason;

template <class Tx>
struct Field {
    std::string_view name;
    const void* (*place)(const Tx&);
};

template <class Tx, auto kMember>
const void* place(const Tx& tx) {
    return &(tx.*kMember);
}

#define ASSAY_FIELD(type, member) \
    Field<contracts::type> { #member, place < contracts::type, &contracts::type::member> }

using Rows = std::map<TxType, std::string>;

template <class Tx>
void add(Rows& rows, const std::vector<Field<Tx>>& fields, const std::string& when,
         const std::vector<Reason>& reasons) {
    const Tx tx;
    std::vector<const void*> signed_members;
    const auto collect = [&](const auto&... members) { (signed_members.push_back(&members), ...); };
    Tx::fields(tx, collect);
    std::string names, refusals;
    std::vector<const void*> named_members;
    for (const Field<Tx>& field : fields) {
        named_members.push_back(field.place(tx));
        names += (names.empty() ? "" : ", ") + std::string(field.name);
    }
    ASSAY_CHECK(named_members == signed_members);  // the fields named below are not the code's
    for (const Reason reason : reasons) {
        refusals += (refusals.empty() ? "" : ", ") + std::string(to_text(reason));
    }
    const bool owner = signer_of(Tx::kType) == contracts::Signer::kOwner;
    const contracts::TypeCost& row = contracts::cost_of_type(Tx::kType);
    std::string cost = grouped(row.units);
    if (row.per_byte != contracts::kCostPerByte) cost += ", " + grouped(row.per_byte) + " a byte";
    rows[Tx::kType] = line({std::to_string(static_cast<int>(Tx::kType)), code(to_text(Tx::kType)), names,
                            owner ? "owner" : "node", cost, when, refusals});
}

void add_identities(Rows& rows) {
    add<contracts::Transfer>(rows, {ASSAY_FIELD(Transfer, to), ASSAY_FIELD(Transfer, amount)}, "any time",
                             {kZeroAmount, kKeyTaken, kInsufficientBalance});
    add<contracts::NodeRegister>(rows, {ASSAY_FIELD(NodeRegister, node), ASSAY_FIELD(NodeRegister, proof)},
                                 "any time, once per key", {kKeyTaken, kBadKeyProof});
    add<contracts::NodeRevoke>(rows, {ASSAY_FIELD(NodeRevoke, node)}, "any time", {kNotYours, kKeyRevoked});
    add<contracts::MinerRegister>(
        rows, {ASSAY_FIELD(MinerRegister, node), ASSAY_FIELD(MinerRegister, endpoint)}, "any time, once",
        {kBadEndpoint, kNotYours, kKeyRevoked, kAlreadyRegistered, kInsufficientBalance});
    add<contracts::VerifierRegister>(
        rows, {ASSAY_FIELD(VerifierRegister, node), ASSAY_FIELD(VerifierRegister, endpoint)},
        "any time, once", {kBadEndpoint, kNotYours, kKeyRevoked, kAlreadyRegistered, kInsufficientBalance});
    add<contracts::StakeDeposit>(rows, {ASSAY_FIELD(StakeDeposit, node), ASSAY_FIELD(StakeDeposit, amount)},
                                 "any time", {kZeroAmount, kNotYours, kKeyRevoked, kInsufficientBalance});
    add<contracts::StakeWithdraw>(
        rows, {ASSAY_FIELD(StakeWithdraw, node), ASSAY_FIELD(StakeWithdraw, amount)},
        "any time, even for a revoked key", {kZeroAmount, kNotYours, kInsufficientStake});
    add<contracts::EndpointUpdate>(rows,
                                   {ASSAY_FIELD(EndpointUpdate, endpoint), ASSAY_FIELD(EndpointUpdate, job)},
                                   "any time", {kBadEndpoint, kNotMiner, kUnknownJob, kJobOver, kNotYours});
}

void add_bidding(Rows& rows) {
    add<contracts::JobSubmit>(rows,
                              {ASSAY_FIELD(JobSubmit, spec), ASSAY_FIELD(JobSubmit, node),
                               ASSAY_FIELD(JobSubmit, endpoint), ASSAY_FIELD(JobSubmit, beacon_tip)},
                              "any time",
                              {kBadSpec, kBadEndpoint, kNotYours, kKeyRevoked, kTooManyJobs,
                               kInsufficientBalance, kAmountOverflow, kGainBoundTooHigh, kBudgetTooSmall});
    add<contracts::JobCancel>(rows, {ASSAY_FIELD(JobCancel, job)},
                              "until the job ends; takes effect once the running round is settled",
                              {kUnknownJob, kJobOver, kNotYours, kNotMember, kAlreadyDone});
    add<contracts::AskCommit>(rows, {ASSAY_FIELD(AskCommit, job), ASSAY_FIELD(AskCommit, seal)},
                              "job phase `ask_commit`",
                              {kUnknownJob, kJobOver, kJobLeases, kWrongPhase, kNotMiner, kAlreadyDone,
                               kRosterFull, kInsufficientStake});
    add<contracts::AskReveal>(
        rows, {ASSAY_FIELD(AskReveal, job), ASSAY_FIELD(AskReveal, price), ASSAY_FIELD(AskReveal, salt)},
        "job phase `ask_reveal`",
        {kUnknownJob, kJobOver, kJobLeases, kWrongPhase, kNoSeal, kAlreadyDone, kSealMismatch});
    add<contracts::VerifierEnlist>(rows,
                                   {ASSAY_FIELD(VerifierEnlist, job), ASSAY_FIELD(VerifierEnlist, beacon_tip),
                                    ASSAY_FIELD(VerifierEnlist, stake)},
                                   "bidding, or `waiting` for the first round",
                                   {kUnknownJob, kJobOver, kWrongPhase, kNotVerifier, kNotParticipant,
                                    kAlreadyDone, kRosterFull, kLockTooSmall, kInsufficientStake});
    add<contracts::ValidatorEnlist>(
        rows, {ASSAY_FIELD(ValidatorEnlist, job), ASSAY_FIELD(ValidatorEnlist, beacon_tip)},
        "bidding, or `waiting` for the first round",
        {kUnknownJob, kJobOver, kWrongPhase, kNotValidator, kAlreadyDone, kInsufficientStake});
    add<contracts::JobJoin>(rows, {ASSAY_FIELD(JobJoin, job)},
                            "job phases `rounds` and `refill`, a place is open",
                            {kUnknownJob, kJobOver, kJobLeases, kWrongPhase, kNotMiner, kAlreadyDone,
                             kRosterFull, kInsufficientStake});
}

void add_additions(Rows& rows) {
    add<contracts::JobTopUp>(rows, {ASSAY_FIELD(JobTopUp, job), ASSAY_FIELD(JobTopUp, amount)},
                             "until the job's end is decided",
                             {kZeroAmount, kUnknownJob, kJobOver, kNotYours, kNotMember, kCapPerJob,
                              kCapPerDay, kCapTotal, kAmountOverflow, kInsufficientBalance});
    add<contracts::JobExtend>(rows, {ASSAY_FIELD(JobExtend, job), ASSAY_FIELD(JobExtend, blocks)},
                              "until the job's end is decided",
                              {kZeroAmount, kUnknownJob, kJobOver, kNotYours, kNotMember, kDeadlineTooFar});
}

void add_teams(Rows& rows) {
    add<contracts::TeamGrant>(rows, {ASSAY_FIELD(TeamGrant, member), ASSAY_FIELD(TeamGrant, caps)},
                              "any time", {kBadCaps, kKeyTaken});
    add<contracts::TeamRevoke>(rows, {ASSAY_FIELD(TeamRevoke, member)}, "any time", {kNotMember});
    add<contracts::TeamSubmit>(
        rows,
        {ASSAY_FIELD(TeamSubmit, sponsor), ASSAY_FIELD(TeamSubmit, spec), ASSAY_FIELD(TeamSubmit, node),
         ASSAY_FIELD(TeamSubmit, endpoint), ASSAY_FIELD(TeamSubmit, beacon_tip)},
        "any time",
        {kBadSpec, kBadEndpoint, kNotMember, kCapPerJob, kCapPerDay, kCapTotal, kNotYours, kKeyRevoked,
         kTooManyJobs, kInsufficientBalance, kAmountOverflow, kGainBoundTooHigh, kBudgetTooSmall});
}

// What every transaction of a round can be refused with, and `own`.
std::vector<Reason> in_round(std::vector<Reason> own) {
    own.insert(own.begin(), {kUnknownJob, kJobOver, kWrongPhase, kWrongRound});
    return own;
}

std::vector<Reason> with_list(std::vector<Reason> others) {
    others.insert(others.begin(), kListTooLong);
    return others;
}

void add_slots(Rows& rows) {
    add<contracts::RoundCommit>(rows,
                                {ASSAY_FIELD(RoundCommit, job), ASSAY_FIELD(RoundCommit, round),
                                 ASSAY_FIELD(RoundCommit, slot), ASSAY_FIELD(RoundCommit, seal)},
                                "round phase `train`", in_round({kNoSuchSlot, kNotYourSlot, kAlreadyDone}));
    add<contracts::BeaconOpen>(rows,
                               {ASSAY_FIELD(BeaconOpen, job), ASSAY_FIELD(BeaconOpen, round),
                                ASSAY_FIELD(BeaconOpen, link), ASSAY_FIELD(BeaconOpen, index)},
                               "`beacon`", in_round({kNotParticipant, kAlreadyDone, kVoidTry, kBadLink}));
    add<contracts::RoundServe>(
        rows,
        {ASSAY_FIELD(RoundServe, job), ASSAY_FIELD(RoundServe, round), ASSAY_FIELD(RoundServe, slot),
         ASSAY_FIELD(RoundServe, trace_root), ASSAY_FIELD(RoundServe, salt),
         ASSAY_FIELD(RoundServe, diverged_unit), ASSAY_FIELD(RoundServe, starts)},
        "`serve`",
        with_list(in_round({kNoSuchSlot, kNotYourSlot, kNoSeal, kAlreadyDone, kSealMismatch, kBadOpening})));
    add<contracts::RoundReveal>(
        rows,
        {ASSAY_FIELD(RoundReveal, job), ASSAY_FIELD(RoundReveal, round), ASSAY_FIELD(RoundReveal, slot),
         ASSAY_FIELD(RoundReveal, trace), ASSAY_FIELD(RoundReveal, salt),
         ASSAY_FIELD(RoundReveal, update_blob), ASSAY_FIELD(RoundReveal, carried_blob),
         ASSAY_FIELD(RoundReveal, start)},
        "`reveal`",
        with_list(in_round({kNoSuchSlot, kNotYourSlot, kNoSeal, kAlreadyDone, kBadTrace, kWrongCarried,
                            kSealMismatch, kBadStart, kWrongStart})));
    add<contracts::StorageBitmap>(rows,
                                  {ASSAY_FIELD(StorageBitmap, job), ASSAY_FIELD(StorageBitmap, round),
                                   ASSAY_FIELD(StorageBitmap, bits)},
                                  "`store`", in_round({kNotParticipant, kAlreadyDone, kBadBitmap}));
}

void add_audits(Rows& rows) {
    add<contracts::AuditSeal>(
        rows,
        {ASSAY_FIELD(AuditSeal, job), ASSAY_FIELD(AuditSeal, round), ASSAY_FIELD(AuditSeal, stage),
         ASSAY_FIELD(AuditSeal, seal), ASSAY_FIELD(AuditSeal, replayed)},
        "`audit_seal`, `confirm_seal`, `redraw_seal`", in_round({kNotDrawn, kAlreadyDone, kBadBitmap}));
    add<contracts::AuditOpen>(
        rows,
        {ASSAY_FIELD(AuditOpen, job), ASSAY_FIELD(AuditOpen, round), ASSAY_FIELD(AuditOpen, stage),
         ASSAY_FIELD(AuditOpen, claims), ASSAY_FIELD(AuditOpen, salt)},
        "`audit_open`, `redraw_open`",
        with_list(in_round({kNotDrawn, kNoSeal, kAlreadyDone, kWrongClaims, kSealMismatch})));
    add<contracts::MergeSeal>(
        rows, {ASSAY_FIELD(MergeSeal, job), ASSAY_FIELD(MergeSeal, round), ASSAY_FIELD(MergeSeal, seal)},
        "`merge_seal`", in_round({kNotParticipant, kAlreadyDone}));
    add<contracts::MergeOpen>(
        rows,
        {ASSAY_FIELD(MergeOpen, job), ASSAY_FIELD(MergeOpen, round), ASSAY_FIELD(MergeOpen, claim),
         ASSAY_FIELD(MergeOpen, salt)},
        "`merge_open`",
        with_list(in_round({kNotParticipant, kNoSeal, kAlreadyDone, kBadMerge, kSealMismatch})));
}

void add_games(Rows& rows) {
    const std::string open = "while the claim's window is open, its round settled";
    add<contracts::DisputeOpen>(
        rows,
        {ASSAY_FIELD(DisputeOpen, job), ASSAY_FIELD(DisputeOpen, round), ASSAY_FIELD(DisputeOpen, kind),
         ASSAY_FIELD(DisputeOpen, number), ASSAY_FIELD(DisputeOpen, unit), ASSAY_FIELD(DisputeOpen, part)},
        open,
        {kUnknownJob, kWindowClosed, kClaimDead, kWrongPhase, kOwnClaim, kNoSuchUnit, kAmountOverflow,
         kInsufficientStake});
    const std::vector<Reason> in_game = {kUnknownJob, kNoSuchGame, kWrongPhase, kNotYours};
    const auto with = [&](std::vector<Reason> own) {
        own.insert(own.begin(), in_game.begin(), in_game.end());
        return own;
    };
    add<contracts::DisputePost>(
        rows,
        {ASSAY_FIELD(DisputePost, job), ASSAY_FIELD(DisputePost, game), ASSAY_FIELD(DisputePost, hashes)},
        "the claimant's turn", with_list(with({kNotYourTurn, kBadMove})));
    add<contracts::DisputePick>(
        rows, {ASSAY_FIELD(DisputePick, job), ASSAY_FIELD(DisputePick, game), ASSAY_FIELD(DisputePick, pick)},
        "the challenger's turn", with({kNotYourTurn, kBadMove}));
    add<contracts::DisputeProve>(
        rows,
        {ASSAY_FIELD(DisputeProve, job), ASSAY_FIELD(DisputeProve, game), ASSAY_FIELD(DisputeProve, witness)},
        "nothing is left to pick", with_list(with({kBadMove})));
    add<contracts::DisputeConcede>(rows,
                                   {ASSAY_FIELD(DisputeConcede, job), ASSAY_FIELD(DisputeConcede, game)},
                                   "the game runs", in_game);
    add<contracts::DisputeCall>(
        rows,
        {ASSAY_FIELD(DisputeCall, job), ASSAY_FIELD(DisputeCall, game), ASSAY_FIELD(DisputeCall, unit),
         ASSAY_FIELD(DisputeCall, part), ASSAY_FIELD(DisputeCall, verifier)},
        "the claim died in the game, and its window is open for calls",
        {kUnknownJob, kNoSuchGame, kWrongPhase, kWindowClosed, kNoSuchUnit, kNotDrawn, kOwnClaim,
         kAlreadyDone, kAmountOverflow, kInsufficientStake});
}

void add_market(Rows& rows) {
    const std::string sealing = "the market is `sealing`, or `stopped`";
    add<contracts::LotSeal>(rows, {ASSAY_FIELD(LotSeal, seal)}, sealing,
                            {kWrongWindow, kNotMiner, kLotStands, kMarketFull, kInsufficientStake});
    add<contracts::LotOpen>(rows,
                            {ASSAY_FIELD(LotOpen, kind), ASSAY_FIELD(LotOpen, price),
                             ASSAY_FIELD(LotOpen, epochs), ASSAY_FIELD(LotOpen, salt)},
                            "`opening`", {kBadClass, kWrongWindow, kNoSeal, kAlreadyDone, kSealMismatch});
    add<contracts::LotWithdraw>(rows, {}, "any time", {kNoSuchLot});
    add<contracts::BidSeal>(rows, {ASSAY_FIELD(BidSeal, job), ASSAY_FIELD(BidSeal, seal)}, sealing,
                            {kUnknownJob, kJobOver, kNotYours, kNotMember, kNoMarketTerms, kWrongWindow,
                             kAlreadyDone, kMarketFull, kEscrowTooSmall});
    add<contracts::BidOpen>(
        rows,
        {ASSAY_FIELD(BidOpen, job), ASSAY_FIELD(BidOpen, kind), ASSAY_FIELD(BidOpen, lots),
         ASSAY_FIELD(BidOpen, price), ASSAY_FIELD(BidOpen, salt)},
        "`opening`",
        {kBadClass, kWrongLots, kUnknownJob, kJobOver, kNotYours, kNotMember, kNoMarketTerms, kWrongWindow,
         kNoSeal, kAlreadyDone, kSealMismatch, kPriceAboveCap});
    add<contracts::LeaseTake>(
        rows,
        {ASSAY_FIELD(LeaseTake, job), ASSAY_FIELD(LeaseTake, kind), ASSAY_FIELD(LeaseTake, lots),
         ASSAY_FIELD(LeaseTake, wait)},
        "any time",
        {kBadClass, kWrongLots, kUnknownJob, kJobOver, kNotYours, kNotMember, kNoMarketTerms, kPriceAboveCap,
         kEscrowTooSmall, kTooFewJudges, kTooFewLots, kAlreadyDone});
}

}  // namespace

std::string transactions_table() {
    Rows rows;
    add_identities(rows);
    add_bidding(rows);
    add_slots(rows);
    add_audits(rows);
    add_games(rows);
    add_additions(rows);
    add_teams(rows);
    add_market(rows);
    ASSAY_CHECK(rows.size() == std::variant_size_v<contracts::Payload>);  // a type has no row above
    std::string text = head({"number", "name", "fields", "signer", "cost", "when", "refused with"});
    for (const auto& [type, row] : rows) text += row;
    return text;
}

}  // namespace assay::docs
