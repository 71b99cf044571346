// SPDX-License-Identifier: Apache-2.0
// How a miner trains its slots: on as many devices at a time as its worker has, first those that are nearest
// to their end; what a device that failed had begun goes on from its last boundary.
#include <algorithm>
#include <utility>

#include "contracts/program/round_plan.hpp"
#include "node/roles/miner.hpp"

namespace assay::node {

namespace frames = worker;

namespace {
void note_device(SlotWork& work, const std::string& device) {
    if (std::find(work.devices.begin(), work.devices.end(), device) == work.devices.end())
        work.devices.push_back(device);
}
}  // namespace

bool MinerRole::has_free_device() const { return requests_at_work() < parts().seams.worker.width(); }

void MinerRole::give_way(const base::Hash256& job, const std::string& why) {
    for (auto& [key, training] : training_) {
        const bool one_is_enough = bench_.has_open(job);
        if (std::exchange(training.gives_way, true)) {
            if (one_is_enough) return;
            continue;
        }
        log().info("slot " + std::to_string(std::get<2>(key)) + " gives way to " + why);
        parts().seams.worker.cancel(training.request);
        if (one_is_enough) return;
    }
}

bool MinerRole::may_begin(const contracts::Job& job) const {
    if (games_.takes_worker()) return false;  // else it would begin again what gives way
    const std::size_t at_work = training_.size() + (games_.computing() ? 1 : 0);
    if (at_work == 0) return true;
    // Another job would be opened on all devices, behind what is at work.
    return at_work < parts().seams.worker.width() && bench_.has_open(job.id);
}

std::vector<contracts::SlotRound> MinerRole::own_slots(const contracts::Job& job) {
    std::vector<contracts::SlotRound> own;
    for (const contracts::SlotRound& slot : contracts::list_slots(state(), job.id, job.round)) {
        if (slot.assigned && slot.miner == me()) own.push_back(slot);
    }
    // All have the same end: most of them are done in time where the nearest to it goes first.
    const auto begun = [&](const contracts::SlotRound& slot) {
        return work_of({job.id, job.round, slot.slot}).boundary_blobs.size();
    };
    if (own.size() > 1) {
        std::stable_sort(own.begin(), own.end(),
                         [&](const auto& one, const auto& other) { return begun(one) > begun(other); });
    }
    return own;
}

void MinerRole::measure(const SlotWork& work) {
    const auto found = training_.find({work.job, work.round, work.slot});
    if (found == training_.end()) return;
    Training& training = found->second;
    const std::size_t done = work.boundary_blobs.size() - training.from;
    training.segment_ns = (parts().seams.clock.mono_ns() - training.began_ns) / done;
    std::uint64_t& least = segment_ns_.try_emplace({work.job, work.round}, UINT64_MAX).first->second;
    least = std::min(least, *training.segment_ns);
}

void MinerRole::note_pace() {
    if (height() <= pace_.height) return;
    const std::uint64_t now = parts().seams.clock.mono_ns();
    const std::uint64_t block_ns = (now - pace_.ns) / (height() - pace_.height);
    pace_ = {height(), now, pace_.gaps + 1, std::min(pace_.quickest_ns, block_ns)};
}

std::uint64_t MinerRole::block_ns() const {
    constexpr std::uint64_t kGapsThatTell = 3;  // one alone can be an accident
    const std::uint64_t allowed = parts().genesis.block_interval_ms * 1'000'000;
    return pace_.gaps < kGapsThatTell ? allowed : std::max(allowed, pace_.quickest_ns);
}

std::optional<std::uint64_t> MinerRole::time_left(const contracts::Round& round) const {
    if (parts().genesis.block_interval_ms == 0) return std::nullopt;  // heights say nothing of time
    const std::uint64_t heights = round.phase_deadline > height() ? round.phase_deadline - height() : 0;
    return heights * block_ns();
}

std::uint64_t MinerRole::segments_left(const contracts::Job& job, const SlotWork& work) const {
    const std::uint64_t all = program::RoundPlan(job.spec).segments();
    return all - std::min<std::uint64_t>(all, work.boundary_blobs.size());
}

bool MinerRole::in_time(const contracts::Job& job, const contracts::Round& round, const SlotWork& work) {
    const auto measured = segment_ns_.find({job.id, job.round});
    const auto left = time_left(round);
    if (measured == segment_ns_.end() || !left) return true;
    const std::uint64_t segments = segments_left(job, work);
    if (segments * measured->second <= *left) return true;
    if (late_.insert({job.id, job.round, work.slot}).second) {
        log().warn(round_name(job.id, job.round) + " slot " + std::to_string(work.slot) +
                   " is not trained any more: " + std::to_string(segments) + " segments of at least " +
                   std::to_string(measured->second / 1'000'000) + " ms do not fit into the " +
                   std::to_string(*left / 1'000'000) + " ms that are left to commit");
    }
    return false;
}

void MinerRole::move_late_slots(const contracts::Job& job, const contracts::Round& round) {
    const auto measured = segment_ns_.find({job.id, job.round});
    const auto left = time_left(round);
    if (measured == segment_ns_.end() || !left || !has_free_device() || !may_begin(job)) return;
    // While the quickest device is at work, the free one is another.
    const bool quickest_works = std::any_of(training_.begin(), training_.end(), [&](const auto& entry) {
        const auto& own = entry.second.segment_ns;
        return own && *own <= measured->second + measured->second / 4;
    });
    if (quickest_works) return;
    for (const auto& [key, training] : training_) {
        if (std::get<0>(key) != job.id || !training.segment_ns) continue;
        const std::uint64_t segments = segments_left(job, work_of(key));
        const bool late_here = segments * *training.segment_ns > *left;
        const bool late_there = (segments + 1) * measured->second > *left;  // the one at work is lost
        if (!late_here || late_there || !moved_.insert(key).second) continue;
        log().info(round_name(job.id, job.round) + " slot " + std::to_string(std::get<2>(key)) +
                   " moves to a faster device, which is free");
        parts().seams.worker.cancel(training.request);
        return;  // one for the device that is free
    }
}

void MinerRole::train(const contracts::Job& job, const contracts::SlotRound& slot, const SlotStart& start) {
    const SlotKey key{job.id, job.round, slot.slot};
    SlotWork& work = work_of(key);
    frames::Train request{.round = job.round, .slot = slot.slot, .resume = std::nullopt, .drills = {}};
    std::vector<SharedDescriptor> bulk{start.base};
    if (start.carried) {
        request.carried_in = start.carried_root;
        bulk.insert(bulk.end(), start.carried->begin(), start.carried->end());
    }
    if (!work.boundary_blobs.empty()) {
        // A trace that diverged has no further segment to go on with.
        const StateFiles boundary = open_whole(parts().files, work.boundary_blobs.back());
        if (!boundary.empty() && !work.trace.divergence) {
            request.resume = work.trace;
            bulk.insert(bulk.end(), boundary.begin(), boundary.end());
            log().info("resuming " + round_name(job.id, job.round) + " slot " + std::to_string(slot.slot) +
                       " at segment " + std::to_string(work.boundary_blobs.size()));
        } else {
            work.boundary_blobs.clear();
            work.devices.clear();
            work.trace = {};
        }
    }
    request.drills = drills_of(job.round);
    const RequestId id =
        requests().on_worker([this, key](const WorkerAnswered& answer) { on_train_frame(key, answer); });
    if (training_.empty()) pace_ = {height(), parts().seams.clock.mono_ns()};
    training_[key] = {.request = id,
                      .began_ns = parts().seams.clock.mono_ns(),
                      .from = work.boundary_blobs.size(),
                      .segment_ns = std::nullopt};
    parts().seams.worker.submit(id, std::move(request), std::move(bulk));
}

std::vector<frames::Drill> MinerRole::drills_of(std::uint32_t round) const {
    std::vector<frames::Drill> drills;
    for (const PlannedDrill& planned : options_.drills) {
        if (!planned.round || *planned.round == round) drills.push_back(planned.drill);
    }
    return drills;
}

void MinerRole::on_train_frame(const SlotKey& key, const WorkerAnswered& answer) {
    const auto training = training_.find(key);
    const bool whole = training != training_.end() && training->second.from == 0;
    const bool resumed = training != training_.end() && training->second.from != 0;
    if (answer.last && training != training_.end()) training_.erase(training);
    SlotWork& work = work_of(key);
    const bool refused = std::holds_alternative<frames::Refusal>(answer.message);
    if (!refused && is_unsound(answer.device)) return;  // it was under way when that was found
    if (std::holds_alternative<frames::Boundary>(answer.message)) return on_boundary(work, answer);
    if (std::holds_alternative<frames::Trained>(answer.message)) return on_trained(work, answer, whole);
    if (const auto* refusal = std::get_if<frames::Refusal>(&answer.message)) {
        const std::string text = round_name(work.job, work.round) + " slot " + std::to_string(work.slot) +
                                 " not trained: " + refusal->text;
        const Remedy remedy = bench_.after_refusal(work.job, *refusal);
        if (remedy == Remedy::kEnd) {
            return fail_with(OwnFailure::kUnsound, not_done("a slot is not trained", answer));
        }
        // Its round has gone on, or its states were not stored: who cancelled it knows why.
        if (refusal->reason == frames::RefusalReason::kCancelled) return;
        if (remedy == Remedy::kAgain) return log().warn(text + "; it is tried again");
        const bool unread = refusal->reason == frames::RefusalReason::kBadBytes;
        const auto job = contracts::read_job(state(), work.job);
        if (unread && job && bench_.drop_changed_base(*job, job->base_blob)) return;
        if (unread && resumed) return lose_boundaries(work, refusal->text);
        log().error(text);
        failed_.insert(key);
        return;
    }
    if (answer.last) bench_.rest(work.job);  // a frame of another kind
}

void MinerRole::on_boundary(SlotWork& work, const WorkerAnswered& answer) {
    const auto& boundary = std::get<frames::Boundary>(answer.message);
    // One before it was not stored: the slot is trained again from there.
    if (answer.bulk.empty() || boundary.index != work.boundary_blobs.size() + 1) return;
    const auto blob =
        bench_.wants().put_state(answer.bulk,
                                 round_name(work.job, work.round) + " slot " + std::to_string(work.slot) +
                                     " boundary " + std::to_string(boundary.index),
                                 Serving::kWithheld);
    // A worker of ours that names other arrays than it gives would be asked for the slot without an end.
    if (!blob || !has_whole(parts().files, *blob)) return stop_training(work);
    work.boundary_blobs.push_back(*blob);
    work.trace = boundary.so_far;
    note_device(work, answer.device);
    store(work);
    measure(work);
}

void MinerRole::lose_boundaries(SlotWork& work, const std::string& why) {
    std::set<BlobId> files;
    if (!work.boundary_blobs.empty()) files.insert(work.boundary_blobs.back());  // the one that was refused
    add_arrays(parts().files, files);
    // A file that is here is not written again: what has changed must go first.
    for (const BlobId& file : files) {
        if (!parts().files.is_intact(file)) parts().files.drop(file);
    }
    lose(work, why);
}

void MinerRole::stop_training(const SlotWork& work) {
    // What cannot be served must not be committed: verifiers would replay the slot at the cost of its pay.
    bench_.rest(work.job);
    const auto training = training_.find({work.job, work.round, work.slot});
    if (training != training_.end()) parts().seams.worker.cancel(training->second.request);
}

bool MinerRole::can_be_served(const SlotWork& work) {
    const auto here = [this](const BlobId& blob) { return has_whole(parts().files, blob); };
    return std::all_of(work.boundary_blobs.begin(), work.boundary_blobs.end(), here) &&
           (work.update_blob.is_zero() || here(work.update_blob));
}

bool MinerRole::lose(SlotWork& work, const std::string& why) {
    log().warn(round_name(work.job, work.round) + " slot " + std::to_string(work.slot) +
               " is trained again from its start: " + why);
    work.complete = false;
    work.boundary_blobs.clear();
    work.update_blob = {};
    work.trace = {};
    work.devices.clear();
    return store(work);
}

void MinerRole::on_trained(SlotWork& work, const WorkerAnswered& answer, bool whole) {
    const auto& trained = std::get<frames::Trained>(answer.message);
    std::vector<BlobId> boundaries = work.boundary_blobs;
    const std::size_t reached = trained.trace.boundaries.size();
    const std::size_t segments = reached == 0 ? 0 : reached - 1;
    // After a divergence the states repeat, and so do their blobs.
    if (trained.trace.divergence && !boundaries.empty()) boundaries.resize(segments, boundaries.back());
    if (boundaries.size() != segments) return;  // one was not stored
    if (!answer.bulk.empty()) {
        const auto blob = bench_.wants().put(
            answer.bulk.front(),
            "the update of " + round_name(work.job, work.round) + " slot " + std::to_string(work.slot),
            Serving::kWithheld);
        if (!blob) return bench_.rest(work.job);
        work.update_blob = *blob;
    }
    work.boundary_blobs = std::move(boundaries);
    work.trace = trained.trace;
    note_device(work, answer.device);
    work.start = trained.start;
    work.salt = random_hash();
    work.complete = true;
    if (!store(work)) {
        work.complete = false;
        return;
    }
    log().info("trained " + round_name(work.job, work.round) + " slot " + std::to_string(work.slot) + " in " +
               std::to_string(trained.nanoseconds / 1'000'000) + " ms");
    if (whole && !trained.trace.divergence) measure_slot(work, trained.nanoseconds);
}

}  // namespace assay::node
