// SPDX-License-Identifier: Apache-2.0
// A tiny job trained to its end, with its birth certificate and all bytes that a home could have kept. Faults
// are planted as a forger would: everything behind them follows from the false states, so that all roots fit.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "node/audit/model_audit.hpp"
#include "node/audit/model_output.hpp"
#include "node/blob/blob_store.hpp"
#include "node/worker/local_training.hpp"
#include "node/worker/program/drill.hpp"
#include "node/worker/worker_process.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/slot_files.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/tiny_job.hpp"
#include "trainer/run/state_bytes.hpp"

namespace assay::node::tests {

using assay::tests::TinyJob;

/// Where drills are planted: by round and slot.
using PlannedFaults = std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<worker::Drill>>;

/// Two slots, five rounds of eight steps, four segments each of equal work: 40 segments.
inline TinyJob born_job() {
    TinyJob job = assay::tests::tiny_job();
    job.spec.rounds = 5;
    job.spec.train.inner_steps = 8;
    return job;
}

class BornModel {
public:
    /// `bent_merge`: the round whose merge is claimed with another number than it gives.
    explicit BornModel(TinyJob job, const PlannedFaults& faults = {},
                       std::optional<std::uint32_t> bent_merge = std::nullopt)
        : job_(std::move(job)) {
        BlobStoreOptions options;
        options.folder = folder_ / "blobs";
        blobs_ = BlobStore::open(options).value();
        keep(job_.file);
        runner_ = trainer::JobRunner::create(job_.spec, {job_.tokens}, {job_.tokens}, {}).value();
        trainer::BaseState base = runner_->initial();
        job_.spec.initial_root = runner_->base_root(base);
        born_.chain_id = "devnet-born";
        born_.job = base::hash("assay/test", base::as_bytes("born"));
        born_.spec = job_.spec;
        for (std::uint32_t round = 0; round < job_.spec.rounds; ++round)
            base = run_round(round, base, faults, bent_merge == round);
        born_.parameters = program::array_root(runner_->tensors(), base.parameters);
        born_.outer = program::array_root(runner_->tensors(), base.outer_momentum);
    }

    [[nodiscard]] const BirthCertificate& born() const { return born_; }
    [[nodiscard]] const TinyJob& job() const { return job_; }
    [[nodiscard]] base::Hash256 root() const { return certificate_root(encode_certificate(born_)); }
    [[nodiscard]] BlobStore& blobs() { return *blobs_; }
    /// A home without a ledger that holds them.
    [[nodiscard]] std::string home() const { return folder_.path().string(); }
    /// The folder that a buyer would be handed.
    void write_folder(const std::filesystem::path& folder) {
        const auto last = blobs_->read(born_.rounds.back().result.base_blob).value();
        REQUIRE(write_model(folder, job_.spec, last, "", {}, {}, trainer::kMaxShardBytes, born_).ok());
    }

    /// A worker with the job open.
    [[nodiscard]] std::unique_ptr<WorkerProcess> worker() const {
        WorkerOptions options;
        options.program = std::filesystem::path(std::getenv("ASSAY_BIN_DIR")) / "assay-worker";
        options.threads = 1;
        auto started = WorkerProcess::start(options).value();
        const auto tokens = worker::memory_file("test", job_.file).value();
        REQUIRE(
            call_for<frames::Opened>(*started, frames::OpenJob{born_.chain_id, job_.spec}, {tokens, tokens})
                .ok());
        return started;
    }
    /// Everything that was kept.
    [[nodiscard]] AuditBytes bytes() const { return bytes_of(*blobs_); }
    /// Of a store that begins empty.
    static AuditBytes bytes_of(BlobStore& store) {
        return {.find = [&store](const base::Hash256& blob) -> frames::SharedDescriptor {
                    const auto path = store.path(blob);
                    return path.ok() ? worker::open_file(path->string()).value() : nullptr;
                },
                .small =
                    [&store] {
                        std::vector<base::Hash256> ids;
                        for (const BlobInfo& blob : store.list())
                            if (blob.size <= program::kMaxHeadBytes) ids.push_back(blob.id);
                        return ids;
                    },
                .keep = [&store](base::ByteView bytes) -> base::Outcome<void> {
                    ASSAY_TRY(store.put(bytes));
                    return {};
                }};
    }

private:
    base::Hash256 keep(base::ByteView bytes) { return blobs_->put(bytes).value(); }

    /// The slot's last state becomes what it carries, in jobs that carry.
    CertifiedSlot run_slot(std::uint32_t round, std::uint32_t slot, const trainer::BaseState& base,
                           const std::vector<worker::Drill>& drills, trainer::Update& update) {
        CertifiedSlot made;
        made.slot = slot;
        made.miner.bytes.fill(static_cast<std::uint8_t>(slot + 1));
        made.verdict = contracts::Reason::kPaid;
        made.drawn_units = {0, program::RoundPlan(job_.spec).finalise()};
        const auto carried = carried_.find(slot);
        if (carried != carried_.end()) made.carried_in = handed_on_.at(slot);
        std::optional<trainer::SlotState> last;
        const auto on_boundary = [&](const trainer::BoundaryReport& boundary) {
            const auto files = assay::tests::files_of_state(job_.spec, boundary.state);
            for (const base::Bytes& file : files) keep(file);
            made.reveal.carried_blob = base::blob_id(files.front());
            last = boundary.state;
        };
        auto work =
            verifier::run_drilled_round(*runner_, base, round, slot, std::nullopt, drills, on_boundary, {},
                                        carried == carried_.end() ? nullptr : &carried->second);
        REQUIRE(work.ok());
        update = *work->update;
        made.reveal.trace = work->trace;
        made.reveal.salt = base::hash("assay/test", base::as_bytes(std::to_string(round * 100 + slot)));
        made.reveal.update_blob = keep(trainer::encode_update(update, job_.spec));
        if (program::carries_state(job_.spec)) {
            carried_[slot] = trainer::carried_of(*last);
            handed_on_[slot] = {work->trace.carried->out, made.reveal.carried_blob, made.miner};
        } else {
            made.reveal.carried_blob = {};
        }
        return made;
    }

    trainer::BaseState run_round(std::uint32_t number, const trainer::BaseState& base,
                                 const PlannedFaults& faults, bool bent) {
        CertifiedRound round;
        round.round = number;
        round.base_root = runner_->base_root(base);
        round.base_blob = number == 0 ? job_.spec.initial_blob : born_.rounds.back().result.base_blob;
        std::vector<trainer::Update> updates(job_.spec.slots);
        std::vector<trainer::AcceptedUpdate> accepted;
        for (std::uint32_t slot = 0; slot < job_.spec.slots; ++slot) {
            const auto planned = faults.find({number, slot});
            round.slots.push_back(run_slot(
                number, slot, base, planned == faults.end() ? std::vector<worker::Drill>{} : planned->second,
                updates[slot]));
            CertifiedSlot& made = round.slots.back();
            made.seal = contracts::commit_seal(
                born_.chain_id, {born_.job, number, slot, made.miner, round.base_root,
                                 program::trace_root(made.reveal.trace, job_.spec, made.reveal.salt),
                                 contracts::commit_salt(made.reveal.salt)});
            const std::uint32_t clip = program::update_clip(job_.spec, updates[slot].values);
            accepted.push_back({slot, 1, &updates[slot], clip});
            if (job_.spec.has_norm_bound()) round.result.clips.push_back(clip);
            round.merged_slots.push_back(slot);
        }
        trainer::BaseState next = runner_->merge(base, accepted).value();
        if (bent) next.parameters[7] += 1.0F;
        round.merged = true;
        round.result.slots = contracts::storage_bits(job_.spec.slots, round.merged_slots);
        round.result.base_root = runner_->base_root(next);
        round.result.base_blob = keep(trainer::encode_base_state(next));
        contracts::SettlementLine line;
        line.job = born_.job;
        line.round = number;
        line.paid = line.from_escrow = base::units(5);
        round.lines.push_back(line);
        born_.rounds.push_back(std::move(round));
        return next;
    }

    TinyJob job_;
    test::TemporaryFolder folder_;
    std::unique_ptr<BlobStore> blobs_;
    std::unique_ptr<trainer::JobRunner> runner_;
    std::map<std::uint32_t, trainer::CarriedState> carried_;
    std::map<std::uint32_t, contracts::CarriedIn> handed_on_;
    BirthCertificate born_;
};

/// A plan that ends after so many segments and not by the clock.
inline SamplePlan plan_of(std::uint64_t seed, std::uint64_t most) {
    base::Encoder encoder;
    encoder(seed);
    return {.source = SampleSource::kSeed,
            .number = base::hash("assay/audit/seed", std::move(encoder).take()),
            .most = most,
            .seconds = [] { return 0.0; },
            .limit = 1};
}

inline bool never() { return false; }

}  // namespace assay::node::tests
