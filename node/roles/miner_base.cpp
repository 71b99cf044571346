// SPDX-License-Identifier: Apache-2.0
// The miner's own merge: a round's base state made from the one before and the updates that went into it,
// where those are fewer bytes than the state. Then a base state is fetched by those alone who join.
#include "contracts/program/round_plan.hpp"
#include "node/roles/miner.hpp"

namespace assay::node {

namespace frames = worker;

bool MinerRole::makes_base(const contracts::Job& job) {
    if (making_base_) return true;
    const auto key = std::pair(job.id, job.round);
    if (job.round == 0 || base_not_made_.contains(key) || parts().files.has(job.base_blob)) return false;
    if (make_base(job)) return true;
    base_not_made_.insert(key);
    return false;
}

// Once the round is settled, its reveals are in the block log alone.
void MinerRole::note_updates(const contracts::Job& job, const contracts::Round& round) {
    if (round.phase <= contracts::RoundPhase::kReveal || updates_.contains({job.id, job.round})) return;
    auto& noted = updates_[{job.id, job.round}];
    for (std::uint32_t slot = 0; slot < job.spec.slots; ++slot) {
        const auto reveal = contracts::read_reveal(state(), job.id, job.round, slot);
        if (reveal) noted[slot] = {reveal->trace.update, reveal->update_blob};
    }
}

std::vector<Endpoint> MinerRole::holders_of_update(const contracts::SlotRound& slot) const {
    std::vector<Endpoint> holders;
    for (const base::PublicKey& node : slot.verifiers) {
        const auto verifier = contracts::read_verifier(state(), node);
        if (verifier) holders.push_back(verifier->endpoint);
    }
    if (const auto miner = contracts::read_miner(state(), slot.miner)) holders.push_back(miner->endpoint);
    return holders;
}

// A state that is not made in a quarter of the time to commit is fetched after all.
bool MinerRole::may_make_base(const contracts::Job& job) const {
    const auto running = contracts::read_round(state(), job.id, job.round);
    if (!running) return false;
    return height() <= running->started_at + contracts::params_of(state(), job).commit_window / 4;
}

bool MinerRole::make_base(const contracts::Job& job) {
    const auto before = contracts::read_round(state(), job.id, job.round - 1);
    if (!before || !before->merged || !may_make_base(job)) return false;
    if (!bench_.is_open(job.id))
        return false;  // a merge names no job: it would be made by another one's rules
    const auto base = bench_.stored_base(job, before->base_blob);
    if (!base || !parts().files.has(*base)) return false;
    frames::Merge request{.round = job.round - 1, .accepted = {}};
    std::vector<BlobId> updates;
    std::uint64_t missing = 0;
    const auto known = updates_.find({job.id, job.round - 1});
    if (known == updates_.end()) return false;  // this process began after the reveals
    for (const std::uint32_t slot : before->merged_slots) {
        const auto update = known->second.find(slot);
        if (update == known->second.end() || bench_.wants().failed(update->second.blob) > 0) return false;
        request.accepted.push_back({slot, 1, update->second.root});
        updates.push_back(update->second.blob);
        if (!parts().files.has(update->second.blob)) ++missing;
    }
    const program::FileSizes sizes = program::file_sizes(job.spec);
    if (missing * sizes.update >= sizes.base_state) return false;
    auto start = parts().files.open(*base);
    if (!start.ok()) return false;
    std::vector<SharedDescriptor> bulk{*std::move(start)};
    for (std::size_t i = 0; i < updates.size(); ++i) {
        const auto slot = contracts::read_slot(state(), job.id, job.round - 1, request.accepted[i].slot);
        const auto file = bench_.wants().want(updates[i], holders_of_update(*slot), update_terms(job.spec));
        if (file) bulk.push_back(*file);
    }
    if (bulk.size() <= updates.size()) return true;  // some are on their way
    making_base_ = requests().on_worker([this, id = job.id, round = job.round](const WorkerAnswered& answer) {
        if (answer.last) on_base_made(id, round, answer);
    });
    parts().seams.worker.submit(*making_base_, std::move(request), std::move(bulk));
    return true;
}

void MinerRole::on_base_made(const base::Hash256& id, std::uint32_t round, const WorkerAnswered& answer) {
    making_base_.reset();
    const auto job = contracts::read_job(state(), id);
    if (!job || job->round != round) return;  // it has gone on without it
    const std::string what = "the base state of " + round_name(id, round);
    if (const auto* refusal = std::get_if<frames::Refusal>(&answer.message)) {
        if (bench_.after_refusal(id, *refusal) == Remedy::kEnd) {
            return fail_with(OwnFailure::kUnsound, not_done(what + " is not made", answer));
        }
    }
    const auto* made = std::get_if<frames::BaseStateFrame>(&answer.message);
    const bool right = made != nullptr && made->root == job->base_root && !answer.bulk.empty();
    if (right && bench_.wants().put(answer.bulk.front(), what) == job->base_blob) {
        return log().info(what + " is made here, of its updates");
    }
    log().warn(what + " is not made here; it is fetched");
    base_not_made_.insert({id, round});
}

}  // namespace assay::node
