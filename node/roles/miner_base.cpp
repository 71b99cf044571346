// SPDX-License-Identifier: Apache-2.0
// The miner's own merge: a round's base state made from the one before and the updates that went into it. A
// base state is fetched by those alone who join: who lacks the one before, or an update.
#include <algorithm>
#include <charconv>
#include <utility>

#include "node/roles/job_note.hpp"
#include "node/roles/miner.hpp"

namespace assay::node {

namespace frames = worker;

namespace {

/// The numbers after the job in a note's name ("updates-JOB-ROUND", "slot-JOB-ROUND-SLOT"), when `name` is
/// one of this kind and job with so many of them.
std::optional<std::vector<std::uint32_t>> numbers_in(std::string_view name, const std::string& beginning,
                                                     std::size_t count) {
    if (!name.starts_with(beginning)) return std::nullopt;
    name.remove_prefix(beginning.size());
    std::vector<std::uint32_t> numbers;
    while (!name.empty() && name.front() == '-') {
        name.remove_prefix(1);
        std::uint32_t number = 0;
        const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
        if (error != std::errc()) return std::nullopt;
        name.remove_prefix(static_cast<std::size_t>(end - name.data()));
        numbers.push_back(number);
    }
    if (!name.empty() || numbers.size() != count) return std::nullopt;
    return numbers;
}

std::string updates_file(const base::Hash256& job, std::uint32_t round) {
    return job_note("updates", job, {round});
}

}  // namespace

bool MinerRole::makes_base(const contracts::Job& job) {
    if (making_base_) return true;
    const auto key = std::pair(job.id, job.round);
    if (job.round == 0 || base_not_made_.contains(key) || parts().files.has(job.base_blob)) return false;
    if (make_base(job)) return true;
    base_not_made_.insert(key);
    return false;
}

// Once the round is settled, its reveals are in the block log alone: the names are kept on disk, so that a
// miner that starts again merges as well.
void MinerRole::note_updates(const contracts::Job& job, const contracts::Round& round) {
    const bool known = updates_.contains({job.id, job.round});
    if (round.phase <= contracts::RoundPhase::kReveal || known || !takes_part(job, me())) return;
    NamedUpdates noted;
    for (std::uint32_t slot = 0; slot < job.spec.slots; ++slot) {
        const auto reveal = contracts::read_reveal(state(), job.id, job.round, slot);
        if (reveal) noted.updates.push_back({slot, reveal->trace.update, reveal->update_blob});
    }
    const auto written = parts().seams.disk.write(updates_file(job.id, job.round), base::encode(noted));
    // Without the note only a miner that starts again fetches the base.
    if (!written.ok()) log().warn("the updates' names are not kept over a restart: " + written.error().what);
    updates_[{job.id, job.round}] = std::move(noted);
}

const NamedUpdates* MinerRole::updates_of(const base::Hash256& job, std::uint32_t round) {
    const auto known = updates_.find({job, round});
    if (known != updates_.end()) return &known->second;
    const auto kept = parts().seams.disk.read(updates_file(job, round));
    if (!kept.ok() || !kept->has_value()) return nullptr;
    auto noted = base::decode<NamedUpdates>(**kept);
    if (!noted.ok()) return nullptr;
    return &(updates_[{job, round}] = std::move(noted).value());
}

void MinerRole::take_over_notes() {
    if (std::exchange(notes_taken_over_, true)) return;
    std::vector<contracts::Job> running;
    for (const base::Hash256& id : contracts::list_active_jobs(state())) {
        running.push_back(*contracts::read_job(state(), id));
    }
    // Reading one puts it with those that are forgotten when their round is over.
    const auto needed = [&](const std::string& name) {
        for (const contracts::Job& job : running) {
            const auto of_round = numbers_in(name, job_note("updates", job.id), 1);
            if (of_round && of_round->at(0) + 1 >= job.round)
                return updates_of(job.id, of_round->at(0)) != nullptr;
            const auto of_doubted = numbers_in(name, job_note("doubted", job.id), 2);
            if (of_doubted && of_doubted->at(0) + 1 >= job.round) return true;  // beside the slot's own
            const auto of_slot = numbers_in(name, job_note("slot", job.id), 2);
            if (of_slot && of_slot->at(0) + 1 >= job.round) {
                (void)work_of({job.id, of_slot->at(0), of_slot->at(1)});
                return true;
            }
        }
        return false;
    };
    for (const char* kind : {"updates-", "slot-", "doubted-"}) {
        const auto names = parts().seams.disk.names(kind);
        if (!names.ok()) return log().warn("notes of earlier rounds are not removed: " + names.error().what);
        for (const std::string& name : *names) {
            if (!needed(name)) (void)parts().seams.disk.remove(name);
        }
    }
}

void MinerRole::forget_updates(const std::function<bool(const base::Hash256&, std::uint32_t)>& is_over) {
    std::erase_if(updates_, [&](const auto& entry) {
        const auto& [job, round] = entry.first;
        const bool over = is_over(job, round);
        if (over) (void)parts().seams.disk.remove(updates_file(job, round));
        return over;
    });
}

// A state that is not made in a quarter of the time to commit is fetched after all.
bool MinerRole::may_make_base(const contracts::Job& job) const {
    const auto running = contracts::read_round(state(), job.id, job.round);
    if (!running) return false;
    return height() <= running->started_at + contracts::params_of(state(), job).commit_window / 4;
}

std::optional<MinerRole::OwnMerge> MinerRole::own_merge(const contracts::Job& job,
                                                        const contracts::Round& before) {
    const NamedUpdates* const named = updates_of(job.id, before.number);
    if (named == nullptr) return std::nullopt;  // it took no part in that round
    OwnMerge merge;
    merge.request.round = before.number;
    for (const std::uint32_t slot : before.merged_slots) {
        const auto update = std::find_if(named->updates.begin(), named->updates.end(),
                                         [&](const NamedUpdate& one) { return one.slot == slot; });
        if (update == named->updates.end() || bench_.wants().tries(update->blob).failed > 0)
            return std::nullopt;
        merge.request.accepted.push_back({slot, 1, update->root});
        merge.updates.push_back(update->blob);
    }
    return merge;
}

bool MinerRole::make_base(const contracts::Job& job) {
    const auto before = contracts::read_round(state(), job.id, job.round - 1);
    if (!before || !before->merged || !may_make_base(job)) return false;
    const auto base = bench_.stored_base(job, before->base_blob);
    if (!base || !parts().files.has(*base)) return false;
    auto merge = own_merge(job, *before);
    if (!merge) return false;
    std::vector<SharedDescriptor> updates;
    for (std::size_t i = 0; i < merge->updates.size(); ++i) {
        const auto slot =
            contracts::read_slot(state(), job.id, before->number, merge->request.accepted[i].slot);
        const auto file = bench_.wants().want(merge->updates[i], holders_of_stored(state(), job, *slot, me()),
                                              update_terms(job.spec));
        if (file) updates.push_back(*file);
    }
    if (updates.size() < merge->updates.size()) return true;  // some are on their way
    // A merge names no job: it would be made by the rules of whichever job is open.
    if (!bench_.opened(state(), job)) return true;
    auto start = parts().files.open(*base);
    if (!start.ok()) return false;
    std::vector<SharedDescriptor> bulk{*std::move(start)};
    bulk.insert(bulk.end(), updates.begin(), updates.end());
    making_base_ = requests().on_worker([this, id = job.id, round = job.round](const WorkerAnswered& answer) {
        if (answer.last) on_base_made(id, round, answer);
    });
    parts().seams.worker.submit(*making_base_, std::move(merge->request), std::move(bulk));
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
