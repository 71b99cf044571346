// SPDX-License-Identifier: Apache-2.0
// The verifier's merges: sum the accepted updates, evaluate the result, seal and open what came of it.
#include <algorithm>

#include "contracts/program/mean_loss.hpp"
#include "contracts/program/round_law.hpp"
#include "node/roles/verifier.hpp"

namespace assay::node {

namespace frames = worker;

namespace {
const contracts::MergePosting* posting_of(const contracts::Round& round, const base::PublicKey& verifier) {
    const auto found = std::find_if(round.merges.begin(), round.merges.end(),
                                    [&](const auto& posting) { return posting.verifier == verifier; });
    return found == round.merges.end() ? nullptr : &*found;
}
}  // namespace

void VerifierRole::plan_merge(const contracts::Job& job, const contracts::Round& round) {
    const contracts::MergePosting* posting = posting_of(round, me());
    if (posting == nullptr || posting->sealed) return;
    if (const auto sealed = kept<SealedMerge>(merge_file(job.id, job.round))) {
        offer("merge seal of " + round_name(job.id, job.round),
              contracts::MergeSeal{.job = job.id,
                                   .round = job.round,
                                   .seal = contracts::merge_seal(chain_id(), job.id, job.round, me(),
                                                                 sealed->claim, sealed->salt)});
        return;
    }
    MergeWork& work = merges_[{job.id, job.round}];
    if (work.claim) {
        (void)keep(merge_file(job.id, job.round), SealedMerge{.claim = *work.claim, .salt = random_hash()});
        return;
    }
    if (work.given_up || is_busy()) return;
    if (work.loss_bits) return claim_merge(job, work);
    const auto base = bench_.ready(state(), job);
    if (!base) return;
    if (work.base) return evaluate(job, round.beacon, *work.base);
    merge_next(job, *base);
}

void VerifierRole::doubt_merges() {
    for (auto& [key, work] : merges_) {
        if (work.compared || work.root.is_zero()) continue;
        const auto round = contracts::read_round(state(), key.first, key.second);
        if (!round || round->phase != contracts::RoundPhase::kSettled) continue;
        work.compared = true;
        const contracts::MergeClaim& stands = round->result;
        const bool same = stands.base_root == work.root && stands.clips == work.clips;
        if (!round->merged || stands.slots != work.slots || same) continue;
        // What this verifier said as well it does not doubt, whatever it had computed.
        if (work.claim && *work.claim == stands) continue;
        const DisputedUnit differs = merge_difference(*round, work.clips);
        Doubt doubt{.job = key.first,
                    .round = key.second,
                    .kind = contracts::ClaimKind::kMerge,
                    .number = 0,
                    .unit = differs.unit,
                    .part = differs.part};
        for (const auto& [id, claim] : contracts::list_claims(state(), key.first, key.second)) {
            if (id.kind != contracts::ClaimKind::kMerge) continue;
            doubt.number = id.number;
            log().warn(round_name(key.first, key.second) + " is merged to " + stands.base_root.brief() +
                       "; we merged the same slots to " + work.root.brief() +
                       (stands.clips == work.clips ? "" : " with other clips"));
            challenger_.doubt(doubt);
        }
    }
}

void VerifierRole::merge_next(const contracts::Job& job, const SharedDescriptor& base) {
    const MergeKey key{job.id, job.round};
    frames::Merge request{.round = job.round, .accepted = {}};
    std::vector<SharedDescriptor> bulk{base};
    // Every one of them, whoever else names fewer: a claim with fewer slots than another counts for nothing.
    auto slots = contracts::merge_slots(state(), job.id, job.round);
    if (conducts(Misconduct::kCensoredMerge) && slots.size() > 1) slots.pop_back();
    for (const std::uint32_t slot : slots) {
        if (missing_update(job, slot, base)) return;
        const auto reveal = contracts::read_reveal(state(), job.id, job.round, slot);
        request.accepted.push_back({.slot = slot, .weight = 1, .update_root = reveal->trace.update});
        bulk.push_back(merges_[key].updates.at(slot));
    }
    if (bench_.drop_changed_base(job, job.base_blob)) return;
    merges_[key].slots = contracts::storage_bits(job.spec.slots, slots);
    const RequestId id = on_answer([this, key](const WorkerAnswered& answer) {
        MergeWork& work = merges_[key];
        if (const auto* merged = std::get_if<frames::BaseStateFrame>(&answer.message);
            merged != nullptr && !answer.bulk.empty()) {
            work.base = answer.bulk.front();
            work.root = merged->root;
            work.clips = merged->clips;
            return;
        }
        const auto* refusal = std::get_if<frames::Refusal>(&answer.message);
        if (refusal != nullptr && refusal->reason == frames::RefusalReason::kDiverged) {
            work.claim = contracts::MergeClaim{.slots = work.slots};
            return;
        }
        on_not_done(key.first, "round " + std::to_string(key.second) + " is not merged", answer,
                    work.given_up);
    });
    parts().seams.worker.submit(id, std::move(request), std::move(bulk));
}

bool VerifierRole::missing_update(const contracts::Job& job, std::uint32_t slot,
                                  const SharedDescriptor& base) {
    const MergeKey key{job.id, job.round};
    MergeWork& work = merges_[key];
    if (work.updates.contains(slot)) return false;
    const auto reveal = contracts::read_reveal(state(), job.id, job.round, slot);
    const auto record = contracts::read_slot(state(), job.id, job.round, slot);
    if (!reveal || !record) return true;
    const auto own = own_updates_.find({job.id, job.round, slot});
    if (own != own_updates_.end() && own->second.root == reveal->trace.update) {
        work.updates[slot] = own->second.files.front();
        return false;
    }
    if (work.recompute.contains(slot) && !work.elsewhere.contains(slot)) {
        const contracts::CarriedIn carried = carried_in(job, slot);
        std::vector<SharedDescriptor> start{base};
        if (!carried.nothing()) {
            const auto files = bench_.wants().want_state(
                carried.blob, holders_of_carried(state(), job, slot, me()),
                slot_terms(job.spec, program::strategy_of(job.spec).carried_arrays, Traffic::kAudit));
            if (files) start.insert(start.end(), files->begin(), files->end());
        }
        if (carried.nothing() || start.size() > 1) {
            if (bench_.drop_changed_base(job, job.base_blob)) return true;
            train_again(key, slot, {reveal->trace.update, carried.root}, std::move(start));
            return true;
        }
        // Nobody serves what the slot began with: the update itself may still come.
    }
    if (work.false_files.contains(slot)) return true;
    FetchTerms terms = update_terms(job.spec);
    terms.owed_by = record->miner;
    const auto file =
        bench_.wants().want(reveal->update_blob, holders_of_stored(state(), job, *record, me()), terms);
    if (file) {
        check_update(key, slot, reveal->trace.update, *file);
    } else if (trains_again(job, reveal->update_blob, record->miner)) {
        work.recompute.insert(slot);  // planned again at the next event
    }
    return true;
}

bool VerifierRole::trains_again(const contracts::Job& job, const BlobId& update,
                                const base::PublicKey& miner) const {
    if (bench_.wants().tries(update, miner).unserved > 0) return true;
    const auto round = contracts::read_round(state(), job.id, job.round);
    if (!round) return false;
    const std::uint64_t window = contracts::params_of(state(), job).merge_seal_window;
    return height() + window - window / 4 >= round->phase_deadline;
}

void VerifierRole::check_update(const MergeKey& key, std::uint32_t slot, const base::Hash256& root,
                                const SharedDescriptor& file) {
    const RequestId id = on_answer([this, key, slot, root, file](const WorkerAnswered& answer) {
        MergeWork& work = merges_[key];
        const auto* rooted = std::get_if<frames::Rooted>(&answer.message);
        if (rooted != nullptr && rooted->root == root) {
            work.updates[slot] = file;
            return;
        }
        const std::string what = "slot " + std::to_string(slot) + "'s update is not checked";
        const auto* refusal = std::get_if<frames::Refusal>(&answer.message);
        const bool false_file =
            rooted != nullptr || (refusal != nullptr && refusal->reason == frames::RefusalReason::kBadBytes);
        if (!false_file) return on_not_done(key.first, what, answer, work.given_up);
        log().warn(
            round_name(key.first, key.second) + " slot " + std::to_string(slot) + ": the served update " +
            (refusal != nullptr ? "could not be read: " + with_fix(*refusal) : "is not the claimed one"));
        work.false_files.insert(slot);
        work.recompute.insert(slot);
    });
    parts().seams.worker.submit(id, frames::Root{.kind = frames::BulkKind::kUpdate}, {file});
}

void VerifierRole::train_again(const MergeKey& key, std::uint32_t slot, const Retraining& roots,
                               std::vector<SharedDescriptor> start) {
    const RequestId id = on_answer([this, key, slot, root = roots.update](const WorkerAnswered& answer) {
        MergeWork& work = merges_[key];
        const auto* trained = std::get_if<frames::Trained>(&answer.message);
        if (trained == nullptr) {
            return on_not_done(key.first, "slot " + std::to_string(slot) + " is not trained again", answer,
                               work.given_up);
        }
        if (trained->trace.update == root && !answer.bulk.empty()) {
            work.updates[slot] = answer.bulk.front();
            return;
        }
        work.elsewhere.insert(slot);
        log().warn(round_name(key.first, key.second) + " slot " + std::to_string(slot) +
                   " was accepted, and training it here gives another update: a unit that was not drawn is "
                   "false, or its two verifiers judged wrong; without the accepted update nothing is merged "
                   "here");
    });
    parts().seams.worker.submit(id,
                                frames::Train{.round = key.second,
                                              .slot = slot,
                                              .resume = std::nullopt,
                                              .drills = {},
                                              .carried_in = roots.carried_in},
                                std::move(start));
}

void VerifierRole::evaluate(const contracts::Job& job, const base::Hash256& beacon,
                            const SharedDescriptor& merged) {
    const MergeKey key{job.id, job.round};
    const RequestId id = on_answer([this, key](const WorkerAnswered& answer) {
        const auto found = merges_.find(key);
        if (found == merges_.end()) return;
        const auto* evaluated = std::get_if<frames::Evaluated>(&answer.message);
        const auto* refusal = std::get_if<frames::Refusal>(&answer.message);
        const bool diverged = refusal != nullptr && refusal->reason == frames::RefusalReason::kDiverged;
        if (evaluated == nullptr && !diverged) {
            return on_not_done(
                key.first, "the merged state of round " + std::to_string(key.second) + " is not evaluated",
                answer, found->second.given_up);
        }
        found->second.loss_bits = evaluated != nullptr ? evaluated->loss_bits : program::kNoLoss;
    });
    parts().seams.worker.submit(id, frames::Evaluate{.beacon = beacon}, {merged});
}

void VerifierRole::claim_merge(const contracts::Job& job, MergeWork& work) {
    // A state that the store does not take is not vouched for: the next round could not be begun from it.
    const auto blob = bench_.wants().put(*work.base, "the merged state of " + round_name(job.id, job.round));
    if (!blob) return;
    work.claim = contracts::MergeClaim{.slots = work.slots,
                                       .clips = work.clips,
                                       .base_root = work.root,
                                       .base_blob = *blob,
                                       .held_out_loss = *work.loss_bits};
    // All who show this say the same.
    if (conducts(Misconduct::kBadMerge))
        work.claim->base_root = base::hash("assay/drill/merge", work.root.view());
}

void VerifierRole::open_merge(const contracts::Job& job, const contracts::Round& round) {
    const contracts::MergePosting* posting = posting_of(round, me());
    if (posting == nullptr || !posting->sealed || posting->opened) return;
    const auto sealed =
        kept_as_sealed<SealedMerge>(merge_file(job.id, job.round), [&](const SealedMerge& one) {
            return posting->seal ==
                   contracts::merge_seal(chain_id(), job.id, job.round, me(), one.claim, one.salt);
        });
    if (!sealed) return;
    offer("merge opening of " + round_name(job.id, job.round),
          contracts::MergeOpen{
              .job = job.id, .round = job.round, .claim = sealed->claim, .salt = sealed->salt});
}

}  // namespace assay::node
