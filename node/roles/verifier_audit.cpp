// SPDX-License-Identifier: Apache-2.0
// The verifier's audits: compute each drawn unit from the start that its miner opened, or the slot from the
// round's base where a start is not served; seal the roots, open them.
#include <algorithm>
#include <set>
#include <utility>

#include "contracts/program/contradiction.hpp"
#include "contracts/program/round_law.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/rules/round/stage_text.hpp"
#include "node/roles/job_note.hpp"
#include "node/roles/verifier.hpp"

namespace assay::node {

using contracts::Stage;
namespace frames = worker;

namespace {

// Before bytes count as not served: so many tries, and so many heights of the phase (or the part of it that
// its caller allows, where that is shorter), in which a miner that crashed can come back.
constexpr std::uint32_t kFetchAttempts = 3;
constexpr std::uint64_t kPatienceBlocks = 300;
/// A holder that is still giving bytes after the longest wait has had at least so long.
constexpr std::uint64_t kFairNs = 10'000'000'000;

// A seal says in the clear which slots were replayed; of one that it leaves out, what it would have had to
// do, so that nobody sees which that is.
base::Bytes flags_of(const std::vector<contracts::SlotClaim>& claims,
                     const std::vector<contracts::AssignedSlot>& assigned,
                     const std::set<std::uint32_t>& unserved, std::uint32_t slots) {
    std::vector<std::uint32_t> replayed;
    for (const contracts::AssignedSlot& slot : assigned) {
        const auto claim = std::find_if(claims.begin(), claims.end(), [&](const contracts::SlotClaim& one) {
            return one.slot == slot.slot;
        });
        const bool must = slot.needs_start && (!slot.served || unserved.contains(slot.slot));
        if (claim != claims.end() ? claim->replayed : must) replayed.push_back(slot.slot);
    }
    return contracts::storage_bits(slots, replayed);
}

}  // namespace

std::string audit_file(const base::Hash256& job, std::uint32_t round, Stage stage) {
    return job_note("audit", job, {round}) + "-" + std::string(to_text(stage));
}

std::optional<VerifierRole::StartFiles> VerifierRole::start_of(const contracts::Job& job, std::uint32_t slot,
                                                               std::uint32_t unit) {
    const auto record = contracts::read_slot(state(), job.id, job.round, slot);
    if (!record) return std::nullopt;
    const program::UnitStart start = program::RoundPlan(job.spec).start(unit);
    const auto miner = contracts::read_miner(state(), record->miner);
    StartFiles files;
    files.arrays = start.arrays;
    files.owed_by = record->miner;
    if (!start.boundary) {
        const contracts::CarriedIn carried = carried_in(job, slot);
        if (!start.carried || carried.nothing()) return std::nullopt;
        files.blob = carried.blob;
        files.root = carried.root;
        // Who holds the slot has it too: it went on from there.
        files.holders = holders_of_carried(state(), job, slot, me());
    } else if (const auto serve = contracts::read_serve(state(), job.id, job.round, slot)) {
        const auto opened = std::find_if(serve->starts.begin(), serve->starts.end(),
                                         [&](const contracts::RunStart& one) { return one.unit == unit; });
        if (opened == serve->starts.end()) return std::nullopt;
        files.blob = opened->blob;
        files.root = opened->root;
    } else {
        return std::nullopt;
    }
    files.holders.push_back(miner ? miner->endpoint : Endpoint{});
    return files;
}

std::optional<StateFiles> VerifierRole::want(const StartFiles& files, const program::JobSpec& spec) {
    StateTerms terms = slot_terms(spec, files.arrays, Traffic::kAudit);
    terms.owed_by = files.owed_by;
    return bench_.wants().want_state(files.blob, files.holders, terms);
}

std::vector<BlobId> VerifierRole::known_files(const StartFiles& files, const program::JobSpec& spec) {
    return bench_.wants().known_files(files.blob, slot_terms(spec, files.arrays, Traffic::kAudit));
}

void VerifierRole::plan_audit(const contracts::Job& job, Stage stage) {
    const auto posting = contracts::read_audit(state(), job.id, job.round, stage, me());
    if (posting && posting->sealed) return;
    const auto slots = contracts::assigned_slots(state(), job.id, job.round, stage, me());
    if (slots.empty()) return;
    const std::string file = audit_file(job.id, job.round, stage);
    if (const auto sealed = kept<SealedAudit>(file)) {
        offer("audit seal (" + std::string(to_text(stage)) + ") of " + round_name(job.id, job.round),
              contracts::AuditSeal{.job = job.id,
                                   .round = job.round,
                                   .stage = stage,
                                   .seal = contracts::audit_seal(chain_id(), job.id, job.round, stage, me(),
                                                                 sealed->claims, sealed->salt),
                                   .replayed = sealed->replayed});
        return;
    }
    const AuditKey key{job.id, job.round, stage};
    Audit& audit = audits_[key];
    if (!std::exchange(audit.begun, true)) {
        for (const contracts::AssignedSlot& slot : slots) audit.todo.push_back({slot, {}});
        ask_for_starts(job, audit);
    }
    advance(audit, job);
    if (posting && !audit.found.claims.empty() && must_seal(job, *posting)) leave_out_rest(audit, job);
    if (audit.complete()) {
        if (audit.found.claims.empty()) return;
        audit.found.replayed = flags_of(audit.found.claims, slots, audit.replayed, job.spec.slots);
        audit.found.salt = random_hash();
        if (keep(file, audit.found)) plan_audit(job, stage);
        return;
    }
    if (is_busy()) return;
    if (const auto base = bench_.ready(state(), job)) audit_next(job, key, *base);
}

contracts::CarriedIn VerifierRole::carried_in(const contracts::Job& job, std::uint32_t slot) const {
    return contracts::carried_in(state(), job.id, job.round, slot);
}

void VerifierRole::advance(Audit& audit, const contracts::Job& job) {
    while (!audit.complete()) {
        AuditedSlot& at = audit.at();
        const auto said = at.begun ? std::nullopt
                                   : said_without_work(job, audit.slot(), audit.found.claims.size() % 2 == 0);
        if (said) {
            note_found(audit, *said, {});
        } else if (!at.begun && leaves_out(job, audit)) {
            leave_out(audit, job, "it is told to (--drill)");
        } else if (!at.begun) {
            at.begun = true;
            at.replayed =
                audit.slot().needs_start && (!audit.slot().served || conducts(Misconduct::kFalseReplay));
            at.units = contracts::claimed_units(audit.slot().units, at.replayed);
        } else if (at.complete()) {
            log().info("recomputed " + round_name(job.id, job.round) + " slot " +
                       std::to_string(audit.slot().slot));
            finish_slot(audit);
        } else if (!follows_without_work(at, job.spec)) {
            return;
        }
    }
}

bool VerifierRole::follows_without_work(AuditedSlot& at, const program::JobSpec& spec) {
    if (!at.goes_on()) {
        // What the run before ended with is no start of this one.
        if (at.misplaced || at.diverged) at.start.reset();
        at.misplaced = at.diverged = false;
        return false;
    }
    if (!at.misplaced && !at.diverged) return false;
    worker::UnitParts parts;
    if (at.misplaced) {
        parts.unit_root = at.parts.back().unit_root;
    } else {
        parts = worker::parts_behind_divergence(spec, at.unit(), at.start_root);
    }
    at.parts.push_back(std::move(parts));
    return true;
}

void VerifierRole::finish_slot(Audit& audit) {
    contracts::SlotClaim claim{.slot = audit.slot().slot, .replayed = audit.at().replayed, .roots = {}};
    for (const worker::UnitParts& parts : audit.at().parts) claim.roots.push_back(parts.unit_root);
    note_found(audit, std::move(claim), {std::move(audit.at().parts)});
}

void VerifierRole::note_found(Audit& audit, contracts::SlotClaim claim, ComputedSlot computed) {
    std::vector<contracts::SlotClaim>& claims = audit.found.claims;
    const auto at = std::find_if(claims.begin(), claims.end(),
                                 [&](const contracts::SlotClaim& other) { return other.slot > claim.slot; });
    audit.found.computed.insert(audit.found.computed.begin() + (at - claims.begin()), std::move(computed));
    claims.insert(at, std::move(claim));
    audit.todo.pop_front();
}

void VerifierRole::replay_slot(Audit& audit, const contracts::Job& job, const std::string& why) {
    const contracts::AssignedSlot& slot = audit.slot();
    log().warn(round_name(job.id, job.round) + " slot " + std::to_string(slot.slot) + ": " + why +
               "; the slot is replayed from the round's base");
    audit.at() = {};
    audit.replayed.insert(slot.slot);
    audit.at().begun = audit.at().replayed = true;
    audit.at().units = contracts::claimed_units(slot.units, true);
}

// All at once, so that a holder that is slow holds up its own slot alone.
void VerifierRole::ask_for_starts(const contracts::Job& job, const Audit& audit) {
    for (const auto& [slot, at] : audit.todo) {
        for (const program::UnitRun& run : program::runs_of(slot.units)) {
            if (const auto start = start_of(job, slot.slot, run.first)) (void)want(*start, job.spec);
        }
    }
}

bool VerifierRole::has_start(const contracts::Job& job, Stage stage, Audit& audit) {
    AuditedSlot& at = audit.at();
    if (at.goes_on()) return true;
    const std::uint32_t slot = audit.slot().slot;
    at.start.reset();
    const auto start = start_of(job, slot, at.unit());
    if (!start) {
        // What is opened is opened of every run (the rules), so that nothing is lacking but at the base.
        if (at.unit() == 0) return true;
        replay_slot(audit, job, "the start of unit " + std::to_string(at.unit()) + " is not opened");
        return false;
    }
    at.start = want(*start, job.spec);
    at.start_root = start->root;
    if (at.start) return true;
    // A quarter of the window is waited for a start at the longest: a seal that is late costs as much as a
    // lost accusation, and the replay has to be done before. What a slot carries is nobody's word about this
    // round, and nothing can take its place.
    const auto posting = contracts::read_audit(state(), job.id, job.round, stage, me());
    const auto round = contracts::read_round_progress(state(), job.id, job.round);
    if (!posting || !round) return false;
    const std::uint64_t waited = height() - std::min(height(), posting->called_at);
    const std::uint64_t window = round->phase_deadline - std::min(round->phase_deadline, posting->called_at);
    if (at.unit() != 0 && waited_enough(known_files(*start, job.spec), start->owed_by, waited, window / 4)) {
        replay_slot(audit, job, "the start of unit " + std::to_string(at.unit()) + " is not served");
    }
    return false;
}

void VerifierRole::audit_next(const contracts::Job& job, const AuditKey& key, const SharedDescriptor& base) {
    Audit& audit = audits_.at(key);
    for (std::size_t i = audit.todo.size(); i > 0; --i) {
        if (has_start(job, std::get<Stage>(key), audit)) return replay(job, key, base);
        let_others_go_first(audit);
        advance(audit, job);
        if (audit.complete()) return plan_audit(job, std::get<Stage>(key));
    }
}

void VerifierRole::replay(const contracts::Job& job, const AuditKey& key, const SharedDescriptor& base) {
    const Audit& audit = audits_.at(key);
    const AuditedSlot& at = audit.at();
    std::vector<SharedDescriptor> bulk;
    const program::UnitStart start = program::RoundPlan(job.spec).start(at.unit());
    if (start.base) bulk.push_back(base);
    if (at.start) {
        const auto files =
            program::narrowed(*at.start, program::strategy_of(job.spec).lane_arrays, start.arrays);
        bulk.insert(bulk.end(), files.begin(), files.end());
    }
    const bool goes_on_carried = at.unit() == 0 && at.start.has_value();
    const RequestId request =
        on_answer([this, key](const WorkerAnswered& answer) { on_replayed(key, answer); });
    parts().seams.worker.submit(
        request,
        frames::Replay{.round = job.round,
                       .slot = audit.slot().slot,
                       .unit = at.unit(),
                       .base_root = job.base_root,
                       .start_root = at.start_root,
                       .carried_in = goes_on_carried ? at.start_root : base::Hash256{},
                       .want_end_state = true},
        std::move(bulk));
}

void VerifierRole::on_replayed(const AuditKey& key, const WorkerAnswered& answer) {
    const auto found = audits_.find(key);
    const auto job = contracts::read_job(state(), std::get<0>(key));
    if (found == audits_.end() || found->second.complete() || !job) return;  // its round went on without it
    Audit& audit = found->second;
    const auto* replayed = std::get_if<frames::Replayed>(&answer.message);
    // What the miner served is judged by a verdict. A refusal is of what we hold ourselves: no fault of its.
    if (replayed == nullptr) {
        const auto* refusal = std::get_if<frames::Refusal>(&answer.message);
        const bool unread = refusal != nullptr && refusal->reason == frames::RefusalReason::kBadBytes;
        if (unread && bench_.drop_changed_base(*job, job->base_blob)) return;
        bool given_up = false;
        on_not_done(job->id, "a unit of round " + std::to_string(job->round) + " is not replayed", answer,
                    given_up);
        if (given_up) return leave_out(audit, *job, "it is not done here");
        return let_others_go_first(audit);
    }
    switch (replayed->verdict) {
        case frames::UnitVerdict::kComputed: return on_computed(audit, *job, answer, replayed->parts);
        case frames::UnitVerdict::kMisplaced: return on_misplaced(audit, *job, *replayed);
        case frames::UnitVerdict::kUnavailable: return on_unfit_start(*job, audit, replayed->why);
    }
}

void VerifierRole::on_computed(Audit& audit, const contracts::Job& job, const WorkerAnswered& answer,
                               const worker::UnitParts& parts) {
    AuditedSlot& at = audit.at();
    const program::RoundPlan plan(job.spec);
    const std::uint32_t unit = at.unit();
    const std::tuple place{job.id, job.round, audit.slot().slot};
    if (plan.is_finalise(unit) && !answer.bulk.empty()) {
        own_updates_[place] = {answer.bulk, parts.update, std::nullopt};
    } else if (program::carries_state(job.spec) && unit + 1 == plan.finalise() && !parts.divergence) {
        own_ends_[place] = {answer.bulk, parts.end_root, std::nullopt};
    }
    at.start.reset();
    if (!answer.bulk.empty()) at.start = answer.bulk;
    at.start_root = parts.end_root;
    at.diverged = parts.divergence.has_value();
    at.parts.push_back(parts);
}

void VerifierRole::on_misplaced(Audit& audit, const contracts::Job& job, const frames::Replayed& replayed) {
    AuditedSlot& at = audit.at();
    const auto slot = contracts::read_slot(state(), job.id, job.round, audit.slot().slot);
    if (!slot) return;
    record_finding({.job = job.id,
                    .round = job.round,
                    .slot = slot->slot,
                    .unit = at.unit(),
                    .miner = slot->miner,
                    .difference = replayed.why});
    at.start.reset();
    at.misplaced = true;
    at.parts.push_back(replayed.parts);
}

void VerifierRole::on_unfit_start(const contracts::Job& job, Audit& audit, const std::string& why) {
    AuditedSlot& at = audit.at();
    const bool reads_base = program::RoundPlan(job.spec).start(at.unit()).base;
    if (reads_base && bench_.drop_changed_base(job, job.base_blob)) return;
    const auto start = start_of(job, audit.slot().slot, at.unit());
    for (const BlobId& blob : start ? known_files(*start, job.spec) : std::vector<BlobId>{}) {
        if (parts().files.is_intact(blob)) continue;
        at.start.reset();
        parts().files.drop(blob);
        return log().warn("blob " + blob.brief() + " has changed on our disk; it is fetched again");
    }
    if (at.unit() != 0) return replay_slot(audit, job, why);
    leave_out(audit, job, why);
}

bool VerifierRole::waited_enough(const std::vector<BlobId>& blobs, const base::PublicKey& owed_by,
                                 std::uint64_t waited, std::uint64_t longest) const {
    return std::any_of(blobs.begin(), blobs.end(), [&](const BlobId& blob) {
        const BlobWants::Tries tries = bench_.wants().tries(blob, owed_by);
        if (waited >= longest) {
            // One that still trickles, or has no room for us, would have the verifier silent about everybody.
            // One that was never asked, because others held up our fetches, has not failed.
            if (tries.asked_ns.value_or(0) >= kFairNs) return true;
            if (tries.busy + tries.unserved >= kFetchAttempts) return true;
        }
        return tries.unserved >= kFetchAttempts && waited >= std::min(longest, kPatienceBlocks);
    });
}

// For people: the ledger compares roots. Behind a false unit others follow that differ because it did.
void VerifierRole::tell_findings(const contracts::Job& job) {
    for (const Stage stage : contracts::kStages) {
        if (!told_.insert({job.id, job.round, stage}).second) continue;
        const auto sealed = kept<SealedAudit>(audit_file(job.id, job.round, stage));
        for (std::size_t i = 0; sealed && i < sealed->claims.size() && i < sealed->computed.size(); ++i) {
            tell_findings_of(job, sealed->claims[i], sealed->computed[i]);
        }
    }
}

void VerifierRole::tell_findings_of(const contracts::Job& job, const contracts::SlotClaim& claim,
                                    const ComputedSlot& computed) {
    const auto slot = contracts::read_slot(state(), job.id, job.round, claim.slot);
    const auto reveal = contracts::read_reveal(state(), job.id, job.round, claim.slot);
    if (!slot || !reveal) return;
    std::set<base::Hash256> misplaced;  // told when they were found
    for (const base::Hash256& boundary : reveal->trace.boundaries) {
        misplaced.insert(program::misplaced_unit_root(boundary));
    }
    const auto units = contracts::claimed_units(slot->drawn_units, claim.replayed);
    std::optional<std::uint32_t> false_one;
    for (std::size_t i = 0; i < units.size() && i < computed.units.size(); ++i) {
        const worker::UnitParts& parts = computed.units[i];
        if (misplaced.contains(parts.unit_root)) continue;
        const std::string difference = worker::name_difference(reveal->trace, job.spec, units[i], parts);
        if (difference.empty()) continue;
        const bool follows = false_one && *false_one + 1 == units[i];
        false_one = units[i];
        if (follows) continue;
        record_finding({.job = job.id,
                        .round = job.round,
                        .slot = claim.slot,
                        .unit = units[i],
                        .miner = slot->miner,
                        .difference = difference});
    }
}

void VerifierRole::forget_old_rounds(const contracts::Job& job) {
    std::erase_if(audits_, [&](const auto& entry) {
        return std::get<0>(entry.first) == job.id && std::get<1>(entry.first) < job.round;
    });
    for (RecomputedFiles* files : {&own_updates_, &own_ends_}) {
        std::erase_if(*files, [&](const auto& entry) {
            return std::get<0>(entry.first) == job.id && std::get<1>(entry.first) < job.round;
        });
    }
    const auto old = [&](const MergeKey& key) { return key.first == job.id && key.second < job.round; };
    std::erase_if(merges_, [&](const auto& entry) { return old(entry.first); });
    std::erase_if(stores_, [&](const auto& entry) { return old(entry.first); });
    std::erase_if(told_, [&](const AuditKey& key) { return old({std::get<0>(key), std::get<1>(key)}); });
}

void VerifierRole::forget_ended_jobs() {
    const auto ended = [this](const base::Hash256& id) { return contracts::has_ended(state(), id); };
    std::erase_if(audits_, [&](const auto& entry) { return ended(std::get<0>(entry.first)); });
    for (RecomputedFiles* files : {&own_updates_, &own_ends_}) {
        std::erase_if(*files, [&](const auto& entry) { return ended(std::get<0>(entry.first)); });
    }
    std::erase_if(merges_, [&](const auto& entry) { return ended(entry.first.first); });
    std::erase_if(stores_, [&](const auto& entry) { return ended(entry.first.first); });
    std::erase_if(told_, [&](const AuditKey& key) { return ended(std::get<0>(key)); });
    std::erase_if(left_alone_, ended);
    std::erase_if(no_room_, ended);
}

void VerifierRole::forget_notes() {
    std::set<std::string> needed;
    for (const base::Hash256& id : contracts::list_active_jobs(state())) {
        const auto job = contracts::read_job(state(), id);
        for (const Stage stage : contracts::kStages) keep_note(needed, audit_file(id, job->round, stage));
        keep_note(needed, merge_file(id, job->round));
    }
    for (const char* kind : {"audit-", "merge-"}) {
        const auto names = parts().seams.disk.names(kind);
        if (!names.ok()) return log().warn("notes of earlier rounds are not removed: " + names.error().what);
        for (const std::string& name : *names) {
            if (!needed.contains(name)) (void)parts().seams.disk.remove(name);
        }
    }
}

void VerifierRole::record_finding(const Finding& finding) {
    // If that does not convict it, there is a claim to challenge.
    challenger_.doubt({.job = finding.job,
                       .round = finding.round,
                       .kind = contracts::ClaimKind::kSlot,
                       .number = finding.slot,
                       .unit = std::nullopt});
    const std::string file = job_note("finding", finding.job, {finding.round, finding.slot, finding.unit});
    if (options_.finding_text)
        (void)parts().seams.disk.write(file, base::as_bytes(options_.finding_text(finding)));
    log().warn(round_name(finding.job, finding.round) + " slot " + std::to_string(finding.slot) + " unit " +
               std::to_string(finding.unit) + " by miner " + finding.miner.brief() + ": " +
               finding.difference);
}

void VerifierRole::open_audit(const contracts::Job& job, Stage stage) {
    const auto posting = contracts::read_audit(state(), job.id, job.round, stage, me());
    if (!posting || !posting->sealed || posting->opened) return;
    const auto sealed =
        kept_as_sealed<SealedAudit>(audit_file(job.id, job.round, stage), [&](const SealedAudit& one) {
            return posting->seal ==
                   contracts::audit_seal(chain_id(), job.id, job.round, stage, me(), one.claims, one.salt);
        });
    if (!sealed) return;
    // A verifier of a panel can be one that confirms for another slot: both are opened in the same phase.
    offer("audit opening (" + std::string(to_text(stage)) + ") of " + round_name(job.id, job.round),
          contracts::AuditOpen{.job = job.id,
                               .round = job.round,
                               .stage = stage,
                               .claims = sealed->claims,
                               .salt = sealed->salt});
}

}  // namespace assay::node
