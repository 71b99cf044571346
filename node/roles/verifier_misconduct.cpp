// SPDX-License-Identifier: Apache-2.0
// The verifier's misconduct on a devnet (misconduct.hpp): what it says of slots without computing them, and
// what it leaves out.
#include "node/roles/miner.hpp"
#include "node/roles/verifier.hpp"

namespace assay::node {

namespace {

// Of as many units as the slot's verdict needs, all the same.
contracts::SlotClaim claim_of(const contracts::AssignedSlot& slot, const base::Hash256& root) {
    contracts::SlotClaim claim{.slot = slot.slot, .replayed = slot.needs_start && !slot.served, .roots = {}};
    claim.roots.assign(contracts::claimed_units(slot.units, claim.replayed).size(), root);
    return claim;
}

}  // namespace

std::optional<contracts::SlotClaim> VerifierRole::said_without_work(const contracts::Job& job,
                                                                    const contracts::AssignedSlot& slot,
                                                                    bool heads) const {
    if (conducts(Misconduct::kCopy)) return copied(job, slot);
    if (conducts(Misconduct::kRubberStamp) || (conducts(Misconduct::kCoinFlip) && heads))
        return made_up(job, slot);
    if (conducts(Misconduct::kColludingPanel)) return told_by_accomplice(job, slot);
    return std::nullopt;
}

bool VerifierRole::leaves_out(const contracts::Job& job, const Audit& audit) const {
    if (conducts(Misconduct::kLeftOut)) return !audit.found.claims.empty();
    if (!conducts(Misconduct::kLeftOutForAccomplice)) return false;
    const auto slot = contracts::read_slot(state(), job.id, job.round, audit.slot().slot);
    return slot && slot->miner == options_.accomplice;
}

contracts::SlotClaim VerifierRole::copied(const contracts::Job& job,
                                          const contracts::AssignedSlot& slot) const {
    for (const contracts::AuditPosting& posting : contracts::list_audits(state(), job.id, job.round)) {
        for (const contracts::SlotClaim& claim : posting.claims) {
            if (claim.slot == slot.slot) return claim;
        }
    }
    // Before anybody has opened there are the starts of runs alone: none is the end of a drawn unit.
    const auto serve = contracts::read_serve(state(), job.id, job.round, slot.slot);
    const base::Hash256 known = serve && !serve->starts.empty() ? serve->starts.front().root : job.base_root;
    return claim_of(slot, program::segment_unit_root(known, {}, std::nullopt));
}

// Another root of each verifier: two that make theirs up do not agree.
contracts::SlotClaim VerifierRole::made_up(const contracts::Job& job,
                                           const contracts::AssignedSlot& slot) const {
    const base::Hash256 root =
        base::Hasher("assay/drill/verdict").add(me().view()).add_u64(job.round).add_u64(slot.slot).finish();
    return claim_of(slot, root);
}

std::optional<contracts::SlotClaim> VerifierRole::told_by_accomplice(
    const contracts::Job& job, const contracts::AssignedSlot& slot) const {
    const auto note = options_.accomplice_note(slot_note(job.id, job.round, slot.slot));
    const auto work = note ? slot_work_of(*note) : std::nullopt;
    if (!work || !work->complete) return std::nullopt;
    contracts::SlotClaim claim = claim_of(slot, {});
    const auto units = contracts::claimed_units(slot.units, claim.replayed);
    for (std::size_t i = 0; i < units.size(); ++i) {
        claim.roots[i] = program::unit_root(work->trace, job.spec, units[i]);
    }
    return claim;
}

}  // namespace assay::node
