// SPDX-License-Identifier: Apache-2.0
// The verifier's merges: sum the accepted updates, evaluate the result, seal and open what came of it.
#include <algorithm>
#include <bit>

#include "node/roles/verifier.hpp"
#include "node/runtime/log.hpp"

namespace assay::node {

using contracts::Stage;
namespace frames = trainer::worker;

namespace {
std::string merge_file(const base::Hash256& job, std::uint32_t round, Stage stage) {
    return "merge-" + job.hex().substr(0, 16) + "-" + std::to_string(round) +
           (stage == Stage::kPair ? "-pair" : "-third");
}

const contracts::MergePosting* posting_of(const contracts::Round& round, const base::PublicKey& verifier,
                                          Stage stage) {
    const auto found = std::find_if(round.merges.begin(), round.merges.end(), [&](const auto& posting) {
        return posting.verifier == verifier && posting.stage == stage;
    });
    return found == round.merges.end() ? nullptr : &*found;
}
}  // namespace

std::uint32_t mean_train_loss(const contracts::StateView& state, const base::Hash256& job,
                              std::uint32_t round, const std::vector<std::uint32_t>& slots) {
    float sum = 0.0F;
    float count = 0.0F;
    for (const std::uint32_t slot : slots) {
        const auto reveal = contracts::read_reveal(state, job, round, slot);
        if (!reveal || reveal->trace.fingerprints.empty()) continue;
        sum += std::bit_cast<float>(reveal->trace.fingerprints.back().loss);
        count += 1.0F;
    }
    return count == 0.0F ? 0 : std::bit_cast<std::uint32_t>(sum / count);
}

void Verifier::plan_merge(const contracts::Job& job, const contracts::Round& round, Stage stage) {
    const contracts::MergePosting* posting = posting_of(round, me(), stage);
    if (posting == nullptr || posting->sealed) return;
    if (const auto sealed = kept<SealedMerge>(merge_file(job.id, job.round, stage))) {
        offer("merge seal of " + round_name(job.id, job.round),
              contracts::MergeSeal{.job = job.id,
                                   .round = job.round,
                                   .stage = stage,
                                   .seal = contracts::merge_seal(chain_id(), job.id, job.round, stage, me(),
                                                                 sealed->claim, sealed->salt)});
        return;
    }
    MergeWork& work = merges_[{job.id, job.round}];
    if (work.claim) {
        (void)keep(merge_file(job.id, job.round, stage),
                   SealedMerge{.claim = *work.claim, .salt = random_hash()});
        return;
    }
    if (computing_) return;
    const auto base = bench_.ready(state(), job);
    if (!base) return;
    if (work.base) return evaluate(job, *work.base);
    merge_next(job, *base);
}

void Verifier::merge_next(const contracts::Job& job, const SharedDescriptor& base) {
    frames::Merge request{.round = job.round, .accepted = {}};
    std::vector<SharedDescriptor> bulk{base};
    bool complete = true;
    for (const std::uint32_t slot : contracts::merge_slots(state(), job.id, job.round)) {
        const auto reveal = contracts::read_reveal(state(), job.id, job.round, slot);
        const auto record = contracts::read_slot(state(), job.id, job.round, slot);
        const auto miner = contracts::read_miner(state(), record->miner);
        const auto update = bench_.wants().want(reveal->update_blob, {miner ? miner->endpoint : Endpoint{}});
        if (!update) {
            complete = false;
            continue;
        }
        request.accepted.push_back({.slot = slot, .weight = 1, .update_root = reveal->trace.update});
        bulk.push_back(*update);
    }
    if (!complete) return;
    computing_ = true;
    const MergeKey key{job.id, job.round};
    const RequestId id = requests().on_worker([this, key](const WorkerAnswered& answer) {
        if (!answer.last) return;
        computing_ = false;
        const auto* merged = std::get_if<frames::BaseState>(&answer.message);
        if (merged == nullptr || answer.bulk.empty()) {
            const auto* refusal = std::get_if<frames::Refusal>(&answer.message);
            return fail_with({base::ErrorKind::kFailure,
                              "merge not computed: " + (refusal != nullptr ? refusal->text : "no state"),
                              ""});
        }
        merges_[key].base = answer.bulk.front();
        merges_[key].root = merged->root;
    });
    parts().seams.worker.submit(id, std::move(request), std::move(bulk));
}

void Verifier::evaluate(const contracts::Job& job, const SharedDescriptor& merged) {
    computing_ = true;
    const MergeKey key{job.id, job.round};
    const RequestId id = requests().on_worker([this, key](const WorkerAnswered& answer) {
        if (!answer.last) return;
        computing_ = false;
        const auto* evaluated = std::get_if<frames::Evaluated>(&answer.message);
        const auto found = merges_.find(key);
        if (evaluated == nullptr || found == merges_.end()) return;
        auto blob = parts().files.put(*found->second.base);
        if (!blob.ok()) return fail_with(blob.error());
        const auto& [job_id, round] = key;
        const auto slots = contracts::merge_slots(state(), job_id, round);
        found->second.claim =
            contracts::MergeClaim{.base_root = found->second.root,
                                  .base_blob = *blob,
                                  .held_out_loss = evaluated->loss_bits,
                                  .train_loss = mean_train_loss(state(), job_id, round, slots)};
    });
    parts().seams.worker.submit(id, frames::Evaluate{.max_sequences = program::kHeldOutSequences}, {merged});
}

void Verifier::open_merge(const contracts::Job& job, Stage stage) {
    const auto round = contracts::read_round(state(), job.id, job.round);
    const contracts::MergePosting* posting = posting_of(*round, me(), stage);
    if (posting == nullptr || !posting->sealed || posting->opened) return;
    const auto sealed = kept<SealedMerge>(merge_file(job.id, job.round, stage));
    if (!sealed) return;
    offer(
        "merge opening of " + round_name(job.id, job.round),
        contracts::MergeOpen{
            .job = job.id, .round = job.round, .stage = stage, .claim = sealed->claim, .salt = sealed->salt});
}

}  // namespace assay::node
