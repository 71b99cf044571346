// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include "contracts/program/round_plan.hpp"
#include "contracts/program/step_program.hpp"
#include "contracts/rules/job/history.hpp"
#include "contracts/rules/job/tables.hpp"
#include "contracts/rules/round/draws.hpp"
#include "contracts/rules/round/merge.hpp"
#include "contracts/rules/round/panel_rule.hpp"
#include "contracts/rules/round/phases.hpp"
#include "contracts/rules/round/tables.hpp"

namespace assay::contracts {

namespace {

/// Whether the job runs, in this phase of this round.
Checked check_running(const Case& c, const Hash256& id, std::uint32_t number, RoundPhase phase) {
    const auto job = read_job_progress(c.state, id);
    if (!job) return failed(reason_of_absence(c.state, id));
    if (is_over(job->phase)) return failed(Reason::kJobOver);
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
    const auto posting = read_merge_posting(c.state, tx.job, tx.round, c.sender);
    if (!posting) return failed(Reason::kNotParticipant);
    return *posting;
}

/// Whether the bitmap is canonical and says of each slot what it can: without an opened start nobody begins
/// there; without a need for one, nobody replays.
bool are_flags(const Bytes& replayed, std::uint32_t slots, const std::vector<AssignedSlot>& assigned) {
    std::vector<std::uint32_t> named;
    for (const AssignedSlot& slot : assigned) {
        const bool flag = has_bit(replayed, slot.slot);
        if (flag) named.push_back(slot.slot);
        if (flag ? !slot.needs_start : slot.needs_start && !slot.served) return false;
    }
    return replayed == storage_bits(slots, named);
}

/// Whether the claims are about some of these slots, in their order, each as its seal's flags say and with
/// its units' roots.
bool are_assigned(const std::vector<SlotClaim>& claims, const std::vector<AssignedSlot>& slots,
                  const Bytes& replayed) {
    auto slot = slots.begin();
    for (const SlotClaim& claim : claims) {
        slot = std::find_if(slot, slots.end(),
                            [&](const AssignedSlot& assigned) { return assigned.slot == claim.slot; });
        if (slot == slots.end() || claim.replayed != has_bit(replayed, claim.slot)) return false;
        if (claim.roots.size() != claimed_units(slot->units, claim.replayed).size()) return false;
        ++slot;
    }
    return !claims.empty();
}

CommitStatement statement_of(const Case& c, const Hash256& job, std::uint32_t number, std::uint32_t slot,
                             const Hash256& trace_root, const Hash256& salt) {
    const auto round = read_round_progress(c.state, job, number);
    ASSAY_CHECK(round.has_value());
    return {job, number, slot, c.sender, round->base_root, trace_root, salt};
}

/// Whether the openings are the starts of the slot's runs under this trace root, in order.
bool are_starts(const RoundServe& tx, const SlotRound& slot, const JobSpec& spec) {
    const auto units =
        tx.diverged_unit ? with_divergence(slot.drawn_units, *tx.diverged_unit) : slot.drawn_units;
    auto next = tx.starts.begin();
    for (const program::UnitRun& run : program::runs_of(units)) {
        if (run.from_base()) continue;
        if (next == tx.starts.end() || next->blob.is_zero()) return false;
        const program::LeafName name = program::start_leaf(spec, run.first);
        const program::TraceLeaf& leaf = next->start.leaf;
        if (leaf.kind != name.kind || leaf.place != name.place) return false;
        if (!program::opened_state(next->start)) return false;
        if (!program::verify_leaf(tx.trace_root, spec, next->start)) return false;
        ++next;
    }
    return next == tx.starts.end();
}

/// Whether a divergence names an operator of the step, or behind the last step the number that stands for
/// `finalise`.
bool names_operator(const program::Divergence& divergence, const JobSpec& spec) {
    const std::size_t operators = program::step_program(spec)->operators.size();
    return divergence.step < spec.train.inner_steps ? divergence.operator_index < operators
                                                    : divergence.operator_index == operators;
}

/// Whether trace and names of files have the shape that the job and what the slot served give.
bool has_shape(const RoundReveal& tx, const SlotRound& slot, const JobSpec& spec) {
    if (!program::is_well_formed(tx.trace, spec)) return false;
    if (tx.trace.divergence && !names_operator(*tx.trace.divergence, spec)) return false;
    const auto& divergence = tx.trace.divergence;
    // No name is no promise to serve: whoever stores would ask for nothing.
    if (tx.update_blob.is_zero() != divergence.has_value()) return false;
    const bool hands_on = tx.trace.carried && !divergence;
    if (tx.carried_blob.is_zero() == hands_on) return false;
    if (!slot.served) return true;
    std::optional<std::uint32_t> unit;
    if (divergence) unit = program::RoundPlan(spec).unit_of(divergence->step);
    return unit == slot.diverged_unit;
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
    if (link->opened && tx.index == link->index) return failed(Reason::kAlreadyDone);
    // Too late for the try that waited for this link. Whoever let it pass is no member any more.
    if (link->withheld || tx.index < link->index) return failed(Reason::kVoidTry);
    const auto member = read_beacon_member(c.state, tx.job, c.sender);
    ASSAY_CHECK(member.has_value());
    if (tx.index != link->index || next_link(tx.link) != member->tip) return failed(Reason::kBadLink);
    return {};
}

Checked check(const Case& c, const RoundServe& tx) {
    ASSAY_TRY(check_running(c, tx.job, tx.round, RoundPhase::kServe));
    ASSAY_ASSIGN(const SlotRound slot, own_slot(c, tx));
    if (!slot.committed) return failed(Reason::kNoSeal);
    if (slot.served) return failed(Reason::kAlreadyDone);
    const auto terms = read_job_terms(c.state, tx.job);
    ASSAY_CHECK(terms.has_value());
    const auto statement = statement_of(c, tx.job, tx.round, tx.slot, tx.trace_root, tx.salt);
    if (commit_seal(c.block.chain_id, statement) != slot.seal) return failed(Reason::kSealMismatch);
    if (tx.diverged_unit && *tx.diverged_unit >= program::RoundPlan(terms->spec).units()) {
        return failed(Reason::kBadOpening);
    }
    return are_starts(tx, slot, terms->spec) ? Checked{} : failed(Reason::kBadOpening);
}

Checked check(const Case& c, const RoundReveal& tx) {
    ASSAY_TRY(check_running(c, tx.job, tx.round, RoundPhase::kReveal));
    ASSAY_ASSIGN(const SlotRound slot, own_slot(c, tx));
    if (!slot.committed) return failed(Reason::kNoSeal);
    if (slot.revealed) return failed(Reason::kAlreadyDone);
    const auto terms = read_job_terms(c.state, tx.job);
    ASSAY_CHECK(terms.has_value());
    const JobSpec& spec = terms->spec;
    if (!has_shape(tx, slot, spec)) return failed(Reason::kBadTrace);
    const CarriedIn carried = carried_in(c.state, tx.job, tx.round, tx.slot);
    if (tx.trace.carried && tx.trace.carried->in != carried.root) return failed(Reason::kWrongCarried);
    const Hash256 root = program::trace_root(tx.trace, spec, tx.salt);
    const auto statement = statement_of(c, tx.job, tx.round, tx.slot, root, commit_salt(tx.salt));
    if (commit_seal(c.block.chain_id, statement) != slot.seal) return failed(Reason::kSealMismatch);
    const program::FirstStatePlace place{tx.round, statement.base_root, carried.root};
    const auto first = program::first_state_root(spec, place, tx.start);
    if (!first) return failed(Reason::kBadStart);
    return *first == tx.trace.boundaries.front() ? Checked{} : failed(Reason::kWrongStart);
}

Checked check(const Case& c, const StorageBitmap& tx) {
    ASSAY_TRY(check_running(c, tx.job, tx.round, RoundPhase::kStore));
    const auto storable = storable_slots(c.state, tx.job, tx.round, c.sender);
    if (!storable) return failed(Reason::kNotParticipant);
    if (read_storage(c.state, tx.job, tx.round, c.sender)) return failed(Reason::kAlreadyDone);
    const auto terms = read_job_terms(c.state, tx.job);
    ASSAY_CHECK(terms.has_value());
    std::vector<std::uint32_t> held;
    std::copy_if(storable->begin(), storable->end(), std::back_inserter(held),
                 [&](std::uint32_t slot) { return has_bit(tx.bits, slot); });
    // Its canonical form again: neither another length nor a bit of another slot.
    return tx.bits == storage_bits(terms->spec.slots, held) ? Checked{} : failed(Reason::kBadBitmap);
}

Checked check(const Case& c, const AuditSeal& tx) {
    ASSAY_TRY(check_running(c, tx.job, tx.round, sealing_phase(tx.stage)));
    const auto posting = read_audit(c.state, tx.job, tx.round, tx.stage, c.sender);
    if (!posting) return failed(Reason::kNotDrawn);
    if (posting->sealed) return failed(Reason::kAlreadyDone);
    const auto terms = read_job_terms(c.state, tx.job);
    ASSAY_CHECK(terms.has_value());
    const auto assigned = assigned_slots(c.state, tx.job, tx.round, tx.stage, c.sender);
    return are_flags(tx.replayed, terms->spec.slots, assigned) ? Checked{} : failed(Reason::kBadBitmap);
}

Checked check(const Case& c, const AuditOpen& tx) {
    ASSAY_TRY(check_running(c, tx.job, tx.round, opening_phase(tx.stage)));
    const auto posting = read_audit(c.state, tx.job, tx.round, tx.stage, c.sender);
    if (!posting) return failed(Reason::kNotDrawn);
    if (!posting->sealed) return failed(Reason::kNoSeal);
    if (posting->opened) return failed(Reason::kAlreadyDone);
    const auto assigned = assigned_slots(c.state, tx.job, tx.round, tx.stage, c.sender);
    if (!are_assigned(tx.claims, assigned, posting->replayed)) return failed(Reason::kWrongClaims);
    const Hash256 seal =
        audit_seal(c.block.chain_id, tx.job, tx.round, tx.stage, c.sender, tx.claims, tx.salt);
    return seal == posting->seal ? Checked{} : failed(Reason::kSealMismatch);
}

Checked check(const Case& c, const MergeSeal& tx) {
    ASSAY_TRY(check_running(c, tx.job, tx.round, RoundPhase::kMergeSeal));
    ASSAY_ASSIGN(const MergePosting posting, own_merge(c, tx));
    return posting.sealed ? Checked(failed(Reason::kAlreadyDone)) : Checked{};
}

Checked check(const Case& c, const MergeOpen& tx) {
    ASSAY_TRY(check_running(c, tx.job, tx.round, RoundPhase::kMergeOpen));
    ASSAY_ASSIGN(const MergePosting posting, own_merge(c, tx));
    if (!posting.sealed) return failed(Reason::kNoSeal);
    if (posting.opened) return failed(Reason::kAlreadyDone);
    const auto terms = read_job_terms(c.state, tx.job);
    ASSAY_CHECK(terms.has_value());
    if (!may_claim(c.state, terms->spec, tx)) return failed(Reason::kBadMerge);
    const Hash256 seal = merge_seal(c.block.chain_id, tx.job, tx.round, c.sender, tx.claim, tx.salt);
    return seal == posting.seal ? Checked{} : failed(Reason::kSealMismatch);
}

}  // namespace assay::contracts
