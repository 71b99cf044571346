// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "contracts/program/round_plan.hpp"
#include "contracts/rules/job/history.hpp"
#include "contracts/rules/job/tables.hpp"
#include "contracts/rules/round/phases.hpp"
#include "contracts/rules/round/tables.hpp"

namespace assay::contracts {

namespace {

/// Whether the job runs, in this phase of this round.
Checked check_running(const Case& c, const Hash256& id, std::uint32_t number, RoundPhase phase) {
    const auto job = read_job_progress(c.state, id);
    if (!job) return failed(reason_of_absence(c.state, id));
    if (job->phase == JobPhase::kEnded) return failed(Reason::kJobOver);
    if (job->phase != JobPhase::kRounds) return failed(Reason::kWrongPhase);
    if (job->round != number) return failed(Reason::kWrongRound);
    const auto round = read_round_progress(c.state, id, number);
    ASSAY_CHECK(round.has_value());
    return round->phase == phase ? Checked{} : Checked(failed(Reason::kWrongPhase));
}

/// A slot of the running round that was dealt to the sender.
template <class Tx>
Result<SlotRound, Reason> own_slot(const Case& c, const Tx& tx) {
    auto slot = read_slot(c.state, tx.job, tx.round, tx.slot);
    if (!slot) return failed(Reason::kNoSuchSlot);
    if (!slot->assigned || slot->miner != c.sender) return failed(Reason::kNotYourSlot);
    return std::move(*slot);
}

template <class Tx>
Result<MergePosting, Reason> own_merge(const Case& c, const Tx& tx) {
    const auto posting = read_merge_posting(c.state, tx.job, tx.round, tx.stage, c.sender);
    if (!posting) return failed(Reason::kNotDrawn);
    return *posting;
}

bool are_assigned(const std::vector<UnitClaim>& claims, const std::vector<AssignedUnit>& units) {
    return std::equal(claims.begin(), claims.end(), units.begin(), units.end(),
                      [](const UnitClaim& claim, const AssignedUnit& unit) {
                          // An unavailable unit has one spelling.
                          return claim.slot == unit.slot && claim.unit == unit.unit &&
                                 (!claim.unavailable || claim.root.is_zero());
                      });
}

}  // namespace

Checked check(const Case& c, const RoundCommit& tx) {
    ASSAY_TRY(check_running(c, tx.job, tx.round, RoundPhase::kCommit));
    ASSAY_ASSIGN(const SlotRound slot, own_slot(c, tx));
    if (slot.committed) return failed(Reason::kAlreadyDone);
    return {};
}

Checked check(const Case& c, const BeaconOpen& tx) {
    ASSAY_TRY(check_running(c, tx.job, tx.round, RoundPhase::kBeacon));
    const auto link = read_beacon_link(c.state, tx.job, tx.round, c.sender);
    if (!link) return failed(Reason::kNotParticipant);
    if (link->opened) return failed(Reason::kAlreadyDone);
    const auto member = read_beacon_member(c.state, tx.job, c.sender);
    ASSAY_CHECK(member.has_value());
    // Links withheld before are stepped over: a chain that fell behind can go on.
    if (chain_tip(tx.link, member->behind + 1) != member->tip) return failed(Reason::kBadLink);
    return {};
}

Checked check(const Case& c, const RoundReveal& tx) {
    ASSAY_TRY(check_running(c, tx.job, tx.round, RoundPhase::kReveal));
    ASSAY_ASSIGN(const SlotRound slot, own_slot(c, tx));
    if (!slot.committed) return failed(Reason::kNoSeal);
    if (slot.revealed) return failed(Reason::kAlreadyDone);
    const auto terms = read_job_terms(c.state, tx.job);
    const auto round = read_round_progress(c.state, tx.job, tx.round);
    ASSAY_CHECK(terms.has_value() && round.has_value());
    const JobSpec& spec = terms->spec;
    const program::RoundPlan plan(spec);
    if (!program::is_well_formed(tx.trace, spec) || tx.boundary_blobs.size() != plan.last_boundary()) {
        return failed(Reason::kBadTrace);
    }
    // No name is no promise to serve: whoever merges would ask for nothing.
    if (!tx.trace.divergence && tx.update_blob.is_zero()) return failed(Reason::kBadTrace);
    const CarriedIn carried = carried_in(c.state, tx.job, tx.round, tx.slot);
    if (tx.trace.carried && tx.trace.carried->in != carried.root) return failed(Reason::kWrongCarried);
    CommitStatement statement;
    statement.job = tx.job;
    statement.round = tx.round;
    statement.slot = tx.slot;
    statement.miner = c.sender;
    statement.base_root = round->base_root;
    statement.segments = plan.segments();
    statement.trace_root = program::trace_root(tx.trace);
    statement.update_root = tx.trace.update;
    statement.salt = tx.salt;
    statement.carried = tx.trace.carried;
    if (commit_seal(c.block.chain_id, statement) != slot.seal) return failed(Reason::kSealMismatch);
    return {};
}

Checked check(const Case& c, const AuditSeal& tx) {
    const auto phase = tx.stage == Stage::kPair ? RoundPhase::kAuditSeal : RoundPhase::kThirdSeal;
    ASSAY_TRY(check_running(c, tx.job, tx.round, phase));
    const auto posting = read_audit(c.state, tx.job, tx.round, tx.stage, c.sender);
    if (!posting) return failed(Reason::kNotDrawn);
    if (posting->sealed) return failed(Reason::kAlreadyDone);
    return {};
}

Checked check(const Case& c, const AuditOpen& tx) {
    const auto phase = tx.stage == Stage::kPair ? RoundPhase::kAuditOpen : RoundPhase::kThirdOpen;
    ASSAY_TRY(check_running(c, tx.job, tx.round, phase));
    const auto posting = read_audit(c.state, tx.job, tx.round, tx.stage, c.sender);
    if (!posting) return failed(Reason::kNotDrawn);
    if (!posting->sealed) return failed(Reason::kNoSeal);
    if (posting->opened) return failed(Reason::kAlreadyDone);
    if (!are_assigned(tx.claims, assigned_units(c.state, tx.job, tx.round, tx.stage, c.sender))) {
        return failed(Reason::kWrongClaims);
    }
    const Hash256 seal =
        audit_seal(c.block.chain_id, tx.job, tx.round, tx.stage, c.sender, tx.claims, tx.salt);
    return seal == posting->seal ? Checked{} : failed(Reason::kSealMismatch);
}

Checked check(const Case& c, const MergeSeal& tx) {
    const auto phase = tx.stage == Stage::kPair ? RoundPhase::kMergeSeal : RoundPhase::kMergeThirdSeal;
    ASSAY_TRY(check_running(c, tx.job, tx.round, phase));
    ASSAY_ASSIGN(const MergePosting posting, own_merge(c, tx));
    return posting.sealed ? Checked(failed(Reason::kAlreadyDone)) : Checked{};
}

Checked check(const Case& c, const MergeOpen& tx) {
    const auto phase = tx.stage == Stage::kPair ? RoundPhase::kMergeOpen : RoundPhase::kMergeThirdOpen;
    ASSAY_TRY(check_running(c, tx.job, tx.round, phase));
    ASSAY_ASSIGN(const MergePosting posting, own_merge(c, tx));
    if (!posting.sealed) return failed(Reason::kNoSeal);
    if (posting.opened) return failed(Reason::kAlreadyDone);
    const Hash256 seal =
        merge_seal(c.block.chain_id, tx.job, tx.round, tx.stage, c.sender, tx.claim, tx.salt);
    return seal == posting.seal ? Checked{} : failed(Reason::kSealMismatch);
}

}  // namespace assay::contracts
