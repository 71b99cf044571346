// SPDX-License-Identifier: Apache-2.0
// The verifier's audits: recompute each drawn unit, seal the roots, open them.
#include <algorithm>
#include <utility>

#include "contracts/program/round_law.hpp"
#include "contracts/program/round_plan.hpp"
#include "node/roles/verifier.hpp"

namespace assay::node {

using contracts::Stage;
namespace frames = worker;

namespace {

// Before bytes count as not served: so many tries, and so many heights of the phase (or half of it, where it
// is shorter), in which a miner that crashed can come back.
constexpr std::uint32_t kFetchAttempts = 3;
constexpr std::uint64_t kPatienceBlocks = 300;
/// A holder that is still giving bytes at half of the window has had at least so long.
constexpr std::uint64_t kFairNs = 10'000'000'000;

std::string audit_file(const base::Hash256& job, std::uint32_t round, Stage stage) {
    return "audit-" + job.hex().substr(0, 16) + "-" + std::to_string(round) +
           (stage == Stage::kPair ? "-pair" : "-third");
}

}  // namespace

std::optional<VerifierRole::UnitFiles> VerifierRole::start_of(const contracts::Reveal& reveal,
                                                              std::uint32_t unit,
                                                              const program::JobSpec& spec,
                                                              const contracts::CarriedIn& carried,
                                                              const base::PublicKey& miner) {
    const program::RoundPlan plan(spec);
    if (plan.is_update(unit)) return UnitFiles{reveal.update_blob, {}, Traffic::kUpdate, miner};
    const program::UnitStart start = plan.start(unit);
    if (start.boundary)
        return UnitFiles{reveal.boundary_blobs[*start.boundary - 1], start.arrays, Traffic::kAudit, miner};
    if (start.carried && !carried.nothing())
        return UnitFiles{carried.blob, start.arrays, Traffic::kAudit, miner};
    return std::nullopt;
}

VerifierRole::UnitFiles VerifierRole::end_of(const contracts::Reveal& reveal, std::uint32_t unit,
                                             const program::JobSpec& spec, const base::PublicKey& miner) {
    if (program::RoundPlan(spec).is_finalise(unit)) return {reveal.update_blob, {}, Traffic::kAudit, miner};
    return {reveal.boundary_blobs[unit], program::strategy_of(spec).lane_arrays, Traffic::kAudit, miner};
}

std::optional<StateFiles> VerifierRole::want(const UnitFiles& files, const std::vector<Endpoint>& holders,
                                             const program::JobSpec& spec) {
    if (!files.arrays.empty()) {
        StateTerms terms = slot_terms(spec, files.arrays, files.traffic);
        terms.owed_by = files.owed_by;
        return bench_.wants().want_state(files.blob, holders, terms);
    }
    FetchTerms terms = update_terms(spec);
    terms.traffic = files.traffic;
    terms.owed_by = files.owed_by;
    const auto update = bench_.wants().want(files.blob, holders, terms);
    return update ? std::optional(StateFiles{*update}) : std::nullopt;
}

std::vector<BlobId> VerifierRole::known_files(const UnitFiles& files, const program::JobSpec& spec) {
    if (files.arrays.empty()) return {files.blob};
    return bench_.wants().known_files(files.blob, slot_terms(spec, files.arrays, files.traffic));
}

void VerifierRole::Audit::claim(const base::Hash256& root) {
    claims.push_back({.slot = next().slot, .unit = next().unit, .unavailable = false, .root = root});
}

void VerifierRole::Audit::claim_unavailable() {
    end_state.reset();
    claims.push_back({.slot = next().slot, .unit = next().unit, .unavailable = true, .root = {}});
}

void VerifierRole::plan_audit(const contracts::Job& job, Stage stage) {
    const auto posting = contracts::read_audit(state(), job.id, job.round, stage, me());
    if (posting && posting->sealed) return;
    const auto units = contracts::assigned_units(state(), job.id, job.round, stage, me());
    if (units.empty()) return;
    const std::string file = audit_file(job.id, job.round, stage);
    if (const auto sealed = kept<SealedAudit>(file)) {
        offer("audit seal of " + round_name(job.id, job.round),
              contracts::AuditSeal{.job = job.id,
                                   .round = job.round,
                                   .stage = stage,
                                   .seal = contracts::audit_seal(chain_id(), job.id, job.round, stage, me(),
                                                                 sealed->claims, sealed->salt)});
        return;
    }
    const AuditKey key{job.id, job.round, stage};
    Audit& audit = audits_[key];
    if (audit.given_up) return;
    if (audit.units.empty()) audit.units = units;
    if (audit.complete()) {
        (void)keep(file, SealedAudit{.claims = audit.claims, .salt = random_hash()});
        return;
    }
    if (computing_) return;
    if (const auto base = bench_.ready(state(), job)) audit_next(job, key, *base);
}

contracts::CarriedIn VerifierRole::carried_in(const contracts::Job& job, std::uint32_t slot) const {
    return contracts::carried_in(state(), job.id, job.round, slot);
}

// The slot's miner, and before it, for what the slot carries, those who had it already.
std::vector<Endpoint> VerifierRole::holders_of_start(const contracts::Job& job,
                                                     const contracts::SlotRound& slot,
                                                     std::uint32_t unit) const {
    std::vector<Endpoint> holders;
    const program::RoundPlan plan(job.spec);
    if (!plan.is_update(unit) && plan.start(unit).carried)
        holders = holders_of_carried(state(), job, slot.slot, me());
    const auto miner = contracts::read_miner(state(), slot.miner);
    holders.push_back(miner ? miner->endpoint : Endpoint{});
    return holders;
}

// All at once, so that a holder that is slow holds up its own unit alone.
void VerifierRole::ask_for_starts(const contracts::Job& job, Audit& audit) {
    if (std::exchange(audit.starts_asked, true)) return;
    for (std::size_t i = 0; i < audit.units.size(); ++i) {
        const contracts::AssignedUnit& unit = audit.units[i];
        const bool follows =
            i > 0 && audit.units[i - 1].slot == unit.slot && audit.units[i - 1].unit + 1 == unit.unit;
        const auto reveal = contracts::read_reveal(state(), job.id, job.round, unit.slot);
        const auto slot = contracts::read_slot(state(), job.id, job.round, unit.slot);
        if (follows || !reveal || !slot) continue;
        const auto start = start_of(*reveal, unit.unit, job.spec, carried_in(job, unit.slot), slot->miner);
        if (start) (void)want(*start, holders_of_start(job, *slot, unit.unit), job.spec);
    }
}

void VerifierRole::audit_next(const contracts::Job& job, const AuditKey& key, const SharedDescriptor& base) {
    Audit& audit = audits_.at(key);
    if (audit.difference) return name_difference(job, key, base);
    ask_for_starts(job, audit);
    const contracts::AssignedUnit unit = audit.next();
    const auto reveal = contracts::read_reveal(state(), job.id, job.round, unit.slot);
    const auto slot = contracts::read_slot(state(), job.id, job.round, unit.slot);
    if (!reveal || !slot) return;
    const bool follows_last = !audit.claims.empty() && audit.claims.back().slot == unit.slot &&
                              audit.claims.back().unit + 1 == unit.unit;
    if (!follows_last) audit.end_state.reset();
    const auto start = start_of(*reveal, unit.unit, job.spec, carried_in(job, unit.slot), slot->miner);
    if (audit.end_state || !start) return replay(job, key, base, {});
    if (const auto files = want(*start, holders_of_start(job, *slot, unit.unit), job.spec)) {
        if (program::RoundPlan(job.spec).is_update(unit.unit)) return check_held(key, files->front());
        audit.end_state = *files;
        return replay(job, key, base, {});
    }
    if (waited_enough(job, known_files(*start, job.spec), slot->miner)) audit.claim_unavailable();
}

void VerifierRole::replay(const contracts::Job& job, const AuditKey& key, const SharedDescriptor& base,
                          const StateFiles& claimed_end) {
    const Audit& audit = audits_.at(key);
    const contracts::AssignedUnit unit = audit.next();
    const auto reveal = contracts::read_reveal(state(), job.id, job.round, unit.slot);
    std::vector<SharedDescriptor> bulk;
    const program::UnitStart start = program::RoundPlan(job.spec).start(unit.unit);
    if (start.base) bulk.push_back(base);
    if (audit.end_state) {
        const auto files =
            program::narrowed(*audit.end_state, program::strategy_of(job.spec).lane_arrays, start.arrays);
        bulk.insert(bulk.end(), files.begin(), files.end());
    }
    bulk.insert(bulk.end(), claimed_end.begin(), claimed_end.end());
    computing_ = true;
    const RequestId request = requests().on_worker([this, key](const WorkerAnswered& answer) {
        if (!answer.last) return;
        computing_ = false;
        on_replayed(key, answer);
    });
    parts().seams.worker.submit(request,
                                frames::Replay{.round = job.round,
                                               .slot = unit.slot,
                                               .unit = unit.unit,
                                               .claimed = reveal->trace,
                                               .has_claimed_end = !claimed_end.empty(),
                                               .want_end_state = true,
                                               .update_blob = reveal->update_blob,
                                               .last_boundary_blob = reveal->boundary_blobs.back()},
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
        return on_not_done(job->id, "a unit of round " + std::to_string(job->round) + " is not replayed",
                           answer, audit.given_up);
    }
    switch (replayed->verdict) {
        case frames::UnitVerdict::kMatch: return on_match(audit, *job, answer, replayed->unit_root);
        case frames::UnitVerdict::kDiffers: return on_difference(*job, key, *replayed);
        case frames::UnitVerdict::kUnavailable: return on_unavailable(*job, audit);
        case frames::UnitVerdict::kUnsound:
            return fail_with(
                OwnFailure::kUnsound,
                {base::ErrorKind::kPreflight, "this machine computed one unit twice with different results",
                 "check memory and cooling; run `assay doctor` before verifying again"});
    }
}

// Whatever the file is, its name says so: two verifiers find the same root, or none.
void VerifierRole::check_held(const AuditKey& key, const SharedDescriptor& file) {
    computing_ = true;
    const RequestId request = requests().on_worker([this, key, file](const WorkerAnswered& answer) {
        if (!answer.last) return;
        computing_ = false;
        on_held(key, file, answer);
    });
    parts().seams.worker.submit(request, frames::Root{.kind = frames::BulkKind::kUpdate}, {file});
}

void VerifierRole::on_held(const AuditKey& key, const SharedDescriptor& file, const WorkerAnswered& answer) {
    const auto found = audits_.find(key);
    const auto job = contracts::read_job(state(), std::get<0>(key));
    if (found == audits_.end() || found->second.complete() || !job) return;  // its round went on without it
    Audit& audit = found->second;
    const std::uint32_t slot = audit.next().slot;
    const auto reveal = contracts::read_reveal(state(), job->id, job->round, slot);
    if (!reveal) return;
    const auto* refusal = std::get_if<frames::Refusal>(&answer.message);
    if (refusal != nullptr && refusal->reason == frames::RefusalReason::kBadBytes) {
        return on_unavailable(*job, audit);
    }
    const auto* rooted = std::get_if<frames::Rooted>(&answer.message);
    if (rooted == nullptr) {
        return on_not_done(job->id, "an update of round " + std::to_string(job->round) + " is not checked",
                           answer, audit.given_up);
    }
    if (rooted->root == reveal->trace.update) {
        right_updates_[{job->id, job->round, slot}] = {{file}, std::nullopt};
        return audit.claim(program::update_unit_root(rooted->root));
    }
    frames::Replayed differs;
    differs.unit_root = program::update_unit_root(rooted->root);
    differs.difference = "update: claimed root " + reveal->trace.update.brief() + ", the file that the " +
                         "reveal names has " + rooted->root.brief();
    claim_difference(*job, audit, differs);
}

void VerifierRole::on_unavailable(const contracts::Job& job, Audit& audit) {
    const auto reveal = contracts::read_reveal(state(), job.id, job.round, audit.next().slot);
    const auto slot = contracts::read_slot(state(), job.id, job.round, audit.next().slot);
    if (!reveal || !slot) return;
    const auto start =
        start_of(*reveal, audit.next().unit, job.spec, carried_in(job, audit.next().slot), slot->miner);
    for (const BlobId& blob : start ? known_files(*start, job.spec) : std::vector<BlobId>{}) {
        if (parts().files.is_intact(blob)) continue;
        audit.end_state.reset();
        parts().files.drop(blob);
        return log().warn("blob " + blob.brief() + " has changed on our disk; it is fetched again");
    }
    audit.claim_unavailable();
}

void VerifierRole::on_match(Audit& audit, const contracts::Job& job, const WorkerAnswered& answer,
                            const base::Hash256& root) {
    audit.end_state.reset();
    if (!answer.bulk.empty()) {
        audit.end_state = answer.bulk;
        const program::RoundPlan plan(job.spec);
        const contracts::AssignedUnit& unit = audit.next();
        if (plan.is_finalise(unit.unit)) {
            right_updates_[{job.id, job.round, unit.slot}] = {answer.bulk, std::nullopt};
        } else if (program::carries_state(job.spec) && unit.unit + 1 == plan.finalise()) {
            right_ends_[{job.id, job.round, unit.slot}] = {answer.bulk, std::nullopt};
        }
    }
    audit.claim(root);
}

void VerifierRole::on_difference(const contracts::Job& job, const AuditKey& key,
                                 const frames::Replayed& replayed) {
    Audit& audit = audits_.at(key);
    const auto round = contracts::read_round(state(), job.id, job.round);
    if (replayed.named || audit.difference || !round) return claim_difference(job, audit, replayed);
    const std::uint64_t half = contracts::params_of(state(), job).audit_seal_window / 2;
    const std::uint64_t middle = round->phase_deadline - std::min(round->phase_deadline, half);
    audit.difference = replayed;
    audit.name_until = std::min(height() + kPatienceBlocks, middle);
}

// The miner's own end only serves to name the difference. It is asked for once, and a miner that gives it
// slowly or not at all, or a store of ours that does not take it, holds up no claim for long.
void VerifierRole::name_difference(const contracts::Job& job, const AuditKey& key,
                                   const SharedDescriptor& base) {
    Audit& audit = audits_.at(key);
    const contracts::AssignedUnit unit = audit.next();
    const auto slot = contracts::read_slot(state(), job.id, job.round, unit.slot);
    const auto reveal = contracts::read_reveal(state(), job.id, job.round, unit.slot);
    if (!slot || !reveal) return;
    const UnitFiles end = end_of(*reveal, unit.unit, job.spec, slot->miner);
    const std::vector<BlobId> known = known_files(end, job.spec);
    const bool failed = std::any_of(known.begin(), known.end(), [&](const BlobId& blob) {
        return bench_.wants().tries(blob, slot->miner).failed > 0;
    });
    if (failed || height() >= audit.name_until) {
        return claim_difference(job, audit, frames::Replayed(*audit.difference));
    }
    const auto miner = contracts::read_miner(state(), slot->miner);
    const auto claimed_end = want(end, {miner ? miner->endpoint : Endpoint{}}, job.spec);
    if (claimed_end) replay(job, key, base, *claimed_end);
}

void VerifierRole::claim_difference(const contracts::Job& job, Audit& audit,
                                    const frames::Replayed& replayed) {
    const contracts::AssignedUnit unit = audit.next();
    const auto slot = contracts::read_slot(state(), job.id, job.round, unit.slot);
    if (!slot) return;
    record_finding({.job = job.id,
                    .round = job.round,
                    .slot = unit.slot,
                    .unit = unit.unit,
                    .miner = slot->miner,
                    .difference = replayed.difference});
    audit.end_state.reset();
    audit.difference.reset();
    audit.claim(replayed.unit_root);
}

bool VerifierRole::waited_enough(const contracts::Job& job, const std::vector<BlobId>& blobs,
                                 const base::PublicKey& miner) const {
    const auto round = contracts::read_round(state(), job.id, job.round);
    if (!round) return false;
    const std::uint64_t window = contracts::params_of(state(), job).audit_seal_window;
    const std::uint64_t left = round->phase_deadline - std::min(round->phase_deadline, height());
    const std::uint64_t waited = window - std::min(window, left);
    return std::any_of(blobs.begin(), blobs.end(), [&](const BlobId& blob) {
        const BlobWants::Tries tries = bench_.wants().tries(blob, miner);
        if (waited >= window / 2) {
            // A miner that still trickles, or has no room for us, would have the verifier silent about
            // everybody. One that was never asked, because others held up our fetches, is accused of nothing.
            if (tries.asked_ns.value_or(0) >= kFairNs) return true;
            if (tries.busy + tries.unserved >= kFetchAttempts) return true;
        }
        return tries.unserved >= kFetchAttempts && waited >= std::min(window / 2, kPatienceBlocks);
    });
}

void VerifierRole::forget_old_rounds(const contracts::Job& job) {
    std::erase_if(audits_, [&](const auto& entry) {
        return std::get<0>(entry.first) == job.id && std::get<1>(entry.first) < job.round;
    });
    for (RecomputedFiles* files : {&right_updates_, &right_ends_}) {
        std::erase_if(*files, [&](const auto& entry) {
            return std::get<0>(entry.first) == job.id && std::get<1>(entry.first) < job.round;
        });
    }
    std::erase_if(merges_, [&](const auto& entry) {
        return entry.first.first == job.id && entry.first.second < job.round;
    });
}

void VerifierRole::forget_ended_jobs() {
    const auto ended = [this](const base::Hash256& id) { return contracts::has_ended(state(), id); };
    std::erase_if(audits_, [&](const auto& entry) { return ended(std::get<0>(entry.first)); });
    for (RecomputedFiles* files : {&right_updates_, &right_ends_}) {
        std::erase_if(*files, [&](const auto& entry) { return ended(std::get<0>(entry.first)); });
    }
    std::erase_if(merges_, [&](const auto& entry) { return ended(entry.first.first); });
}

void VerifierRole::record_finding(const Finding& finding) {
    const std::string file = "finding-" + finding.job.hex().substr(0, 16) + "-" +
                             std::to_string(finding.round) + "-" + std::to_string(finding.slot) + "-" +
                             std::to_string(finding.unit);
    if (options_.finding_text)
        (void)parts().seams.disk.write(file, base::as_bytes(options_.finding_text(finding)));
    log().warn(round_name(finding.job, finding.round) + " slot " + std::to_string(finding.slot) + " unit " +
               std::to_string(finding.unit) + " by miner " + finding.miner.brief() + ": " +
               finding.difference);
}

void VerifierRole::open_audit(const contracts::Job& job, Stage stage) {
    const auto posting = contracts::read_audit(state(), job.id, job.round, stage, me());
    if (!posting || !posting->sealed || posting->opened) return;
    const auto sealed = kept<SealedAudit>(audit_file(job.id, job.round, stage));
    if (!sealed) return;
    offer("audit opening of " + round_name(job.id, job.round), contracts::AuditOpen{.job = job.id,
                                                                                    .round = job.round,
                                                                                    .stage = stage,
                                                                                    .claims = sealed->claims,
                                                                                    .salt = sealed->salt});
}

}  // namespace assay::node
