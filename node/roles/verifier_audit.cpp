// SPDX-License-Identifier: Apache-2.0
// The verifier's audits: recompute each drawn unit, seal the roots, open them.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "node/roles/verifier.hpp"
#include "node/runtime/log.hpp"

namespace assay::node {

using contracts::Stage;
namespace frames = trainer::worker;

namespace {

constexpr std::uint32_t kFetchAttempts = 3;  // then the bytes count as not served

std::string audit_file(const base::Hash256& job, std::uint32_t round, Stage stage) {
    return "audit-" + job.hex().substr(0, 16) + "-" + std::to_string(round) +
           (stage == Stage::kPair ? "-pair" : "-third");
}

/// The blobs whose bytes a unit starts from, besides the base state.
std::vector<BlobId> start_blobs(const contracts::Reveal& reveal, std::uint32_t unit, std::uint32_t segments) {
    if (unit == segments) return {reveal.boundary_blobs.back()};
    if (unit == 0) return {};
    return {reveal.boundary_blobs[unit - 1]};
}

BlobId end_blob(const contracts::Reveal& reveal, std::uint32_t unit, std::uint32_t segments) {
    return unit == segments ? reveal.update_blob : reveal.boundary_blobs[unit];
}

}  // namespace

void Verifier::plan_audit(const contracts::Job& job, Stage stage) {
    const auto posting = contracts::read_audit(state(), job.id, job.round, stage, me());
    if (posting && posting->sealed) return;
    const auto units = contracts::assigned_units(state(), job.id, job.round, stage, me());
    if (units.empty()) return;
    if (const auto sealed = kept<SealedAudit>(audit_file(job.id, job.round, stage))) {
        offer("audit seal of " + round_name(job.id, job.round),
              contracts::AuditSeal{.job = job.id,
                                   .round = job.round,
                                   .stage = stage,
                                   .seal = contracts::audit_seal(chain_id(), job.id, job.round, stage, me(),
                                                                 sealed->claims, sealed->salt)});
        return;
    }
    if (!audit_ || audit_->job != job.id || audit_->round != job.round || audit_->stage != stage) {
        if (computing_) return;
        audit_ = Audit{
            .job = job.id, .round = job.round, .stage = stage, .units = units, .claims = {}, .end_state = {}};
    }
    if (audit_->claims.size() == audit_->units.size()) {
        (void)keep(audit_file(job.id, job.round, stage),
                   SealedAudit{.claims = audit_->claims, .salt = random_hash()});
        return;
    }
    if (computing_) return;
    if (const auto base = bench_.ready(state(), job)) audit_next(job, *base);
}

void Verifier::audit_next(const contracts::Job& job, const SharedDescriptor& base) {
    const contracts::AssignedUnit unit = audit_->units[audit_->claims.size()];
    const auto reveal = contracts::read_reveal(state(), job.id, job.round, unit.slot);
    const auto slot = contracts::read_slot(state(), job.id, job.round, unit.slot);
    if (!reveal || !slot) return;
    const bool follows_last = !audit_->claims.empty() && audit_->claims.back().slot == unit.slot &&
                              audit_->claims.back().unit + 1 == unit.unit;
    if (!follows_last) audit_->end_state.reset();
    if (audit_->end_state || start_blobs(*reveal, unit.unit, job.spec.segments()).empty()) {
        return replay(job, unit, base, *reveal, std::nullopt);
    }
    const BlobId start = start_blobs(*reveal, unit.unit, job.spec.segments()).front();
    const auto miner = contracts::read_miner(state(), slot->miner);
    if (const auto file = bench_.wants().want(start, {miner ? miner->endpoint : Endpoint{}})) {
        audit_->end_state = *file;
        return replay(job, unit, base, *reveal, std::nullopt);
    }
    if (bench_.wants().failures(start) >= kFetchAttempts) claim(unit, {}, true);
}

void Verifier::replay(const contracts::Job& job, const contracts::AssignedUnit& unit,
                      const SharedDescriptor& base, const contracts::Reveal& reveal,
                      std::optional<SharedDescriptor> claimed_end) {
    const bool finalise = unit.unit == job.spec.segments();
    std::vector<SharedDescriptor> bulk;
    if (unit.unit == 0 || finalise) bulk.push_back(base);
    if (unit.unit != 0) bulk.push_back(*audit_->end_state);
    const bool naming = claimed_end.has_value();
    if (naming) bulk.push_back(*claimed_end);
    computing_ = true;
    const RequestId request = requests().on_worker([this, unit](const WorkerAnswered& answer) {
        if (!answer.last) return;
        computing_ = false;
        on_replayed(answer, unit);
    });
    parts().seams.worker.submit(request,
                                frames::Replay{.round = job.round,
                                               .slot = unit.slot,
                                               .unit = unit.unit,
                                               .claimed = reveal.trace,
                                               .has_claimed_end = naming,
                                               .want_end_state = true},
                                std::move(bulk));
}

void Verifier::on_replayed(const WorkerAnswered& answer, const contracts::AssignedUnit& unit) {
    if (!audit_ || audit_->claims.size() >= audit_->units.size()) return;
    const contracts::AssignedUnit& expected = audit_->units[audit_->claims.size()];
    if (expected.slot != unit.slot || expected.unit != unit.unit) return;
    const auto* replayed = std::get_if<frames::Replayed>(&answer.message);
    if (replayed == nullptr) {
        const auto* refusal = std::get_if<frames::Refusal>(&answer.message);
        if (refusal != nullptr) log_error("unit not replayed: " + refusal->text);
        // Bytes that the worker cannot read are as good as bytes that were not served.
        return claim(unit, {}, true);
    }
    if (replayed->verdict == frames::UnitVerdict::kUnsound) {
        return fail_with({base::ErrorKind::kPreflight,
                          "this machine computed one unit twice with different results",
                          "check memory and cooling; run `assay doctor` before verifying again"});
    }
    if (replayed->verdict == frames::UnitVerdict::kUnavailable) return claim(unit, {}, true);
    if (replayed->verdict == frames::UnitVerdict::kMatch) {
        audit_->end_state.reset();
        if (!answer.bulk.empty()) {
            audit_->end_state = answer.bulk.front();
            // A right update computed here need not be fetched for the merge: same bytes, same blob id.
            const auto job = contracts::read_job(state(), audit_->job);
            if (unit.unit == job->spec.segments()) (void)parts().files.put(answer.bulk.front());
        }
        return claim(unit, replayed->unit_root, false);
    }
    const auto job = contracts::read_job(state(), audit_->job);
    const auto slot = contracts::read_slot(state(), audit_->job, audit_->round, unit.slot);
    const auto reveal = contracts::read_reveal(state(), audit_->job, audit_->round, unit.slot);
    const auto miner = contracts::read_miner(state(), slot->miner);
    Finding finding{.job = audit_->job,
                    .round = audit_->round,
                    .slot = unit.slot,
                    .unit = unit.unit,
                    .miner = slot->miner,
                    .difference = replayed->difference};
    // The claimed end only serves to name the difference: asked for once, never waited for.
    const BlobId end = end_blob(*reveal, unit.unit, job->spec.segments());
    const auto base = bench_.ready(state(), *job);
    const auto claimed_end = bench_.wants().want(end, {miner ? miner->endpoint : Endpoint{}});
    const bool named = replayed->difference.find('[') != std::string::npos;
    if (!named && base && bench_.wants().failures(end) == 0) {
        if (claimed_end) return replay(*job, unit, *base, *reveal, *claimed_end);
        return;  // planned again when the blob has come or failed
    }
    record_finding(finding);
    audit_->end_state.reset();
    claim(unit, replayed->unit_root, false);
}

void Verifier::claim(const contracts::AssignedUnit& unit, const base::Hash256& root, bool unavailable) {
    audit_->claims.push_back(
        {.slot = unit.slot, .unit = unit.unit, .unavailable = unavailable, .root = root});
    if (unavailable) audit_->end_state.reset();
}

void Verifier::record_finding(const Finding& finding) {
    const nlohmann::json json{{"schema", "assay.finding/v1"},
                              {"job", finding.job.hex()},
                              {"round", finding.round},
                              {"slot", finding.slot},
                              {"unit", finding.unit},
                              {"miner", finding.miner.hex()},
                              {"difference", finding.difference}};
    const std::string text = json.dump() + "\n";
    const std::string file = "finding-" + finding.job.hex().substr(0, 16) + "-" +
                             std::to_string(finding.round) + "-" + std::to_string(finding.slot) + "-" +
                             std::to_string(finding.unit);
    (void)parts().seams.disk.write(file, base::as_bytes(text));
    log_warn(round_name(finding.job, finding.round) + " slot " + std::to_string(finding.slot) + " unit " +
             std::to_string(finding.unit) + " by miner " + finding.miner.brief() + ": " + finding.difference);
}

void Verifier::open_audit(const contracts::Job& job, Stage stage) {
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
