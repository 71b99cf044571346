// SPDX-License-Identifier: Apache-2.0
// What a verifier forgets when a device of its turns out to compute other bits: all that it has not sealed.
#include <algorithm>

#include "contracts/rules/round/seals.hpp"
#include "node/roles/verifier.hpp"
#include "node/roles/worker_refusals.hpp"

namespace assay::node {

using contracts::Stage;

namespace {
std::string doubted(const std::string& file) { return file + "-doubted"; }
}  // namespace

// A verifier has one device at a time, and its notes name none: all that is not sealed is computed again. In
// memory that is what a new process begins with; what is sealed is opened from its note.
bool VerifierRole::forget_work_of(const std::string& device) {
    log().warn("device " + device + " computes other bits: what is computed and not sealed is forgotten");
    ++forgotten_;
    audits_.clear();
    merges_.clear();
    stores_.clear();
    own_updates_.clear();
    own_ends_.clear();
    for (const base::Hash256& id : contracts::list_active_jobs(state())) {
        const auto job = contracts::read_job(state(), id);
        const auto round = contracts::read_round(state(), id, job->round);
        if (!round) continue;
        for (const Stage stage : contracts::kStages) {
            const auto posting = contracts::read_audit(state(), id, job->round, stage, me());
            const bool sealed = posting && posting->sealed;
            if (!sealed && !set_aside(audit_file(id, job->round, stage))) return false;
        }
        const bool sealed = std::any_of(
            round->merges.begin(), round->merges.end(),
            [this](const contracts::MergePosting& one) { return one.verifier == me() && one.sealed; });
        if (!sealed && !set_aside(merge_file(id, job->round))) return false;
    }
    return true;
}

bool VerifierRole::set_aside(const std::string& file) {
    const auto bytes = parts().seams.disk.read(file);
    if (!bytes.ok()) {
        fail_with(OwnFailure::kNotes, bytes.error());
        return false;
    }
    if (!bytes->has_value()) return true;
    log().warn("the words of " + file + " are not sealed yet, and are computed again");
    auto moved = parts().seams.disk.write(doubted(file), **bytes);
    if (moved.ok()) moved = parts().seams.disk.remove(file);
    if (!moved.ok()) fail_with(OwnFailure::kNotes, moved.error());
    return moved.ok();
}

template <class Record>
std::optional<Record> VerifierRole::kept_as_sealed(const std::string& file,
                                                   const std::function<bool(const Record&)>& is_sealed) {
    for (const std::string& name : {file, doubted(file)}) {
        auto record = kept<Record>(name);
        if (record && is_sealed(*record)) return record;
    }
    return std::nullopt;
}

template std::optional<SealedAudit> VerifierRole::kept_as_sealed(
    const std::string&, const std::function<bool(const SealedAudit&)>&);
template std::optional<SealedMerge> VerifierRole::kept_as_sealed(
    const std::string&, const std::function<bool(const SealedMerge&)>&);

void VerifierRole::keep_note(std::set<std::string>& needed, const std::string& file) {
    needed.insert(doubted(file));
    needed.insert(file);
}

RequestId VerifierRole::on_answer(std::function<void(const WorkerAnswered&)> take) {
    computing_ = true;
    at_work_ = requests().on_worker(
        [this, take = std::move(take), asked = forgotten_](const WorkerAnswered& answer) {
            if (!answer.last) return;
            computing_ = false;
            if (asked == forgotten_) return take(answer);
            const auto* refusal = std::get_if<worker::Refusal>(&answer.message);
            if (refusal != nullptr && remedy_for(*refusal) == Remedy::kEnd)
                fail_with(OwnFailure::kUnsound, not_done("what is forgotten meanwhile is not done", answer));
        });
    return at_work_;
}

void VerifierRole::give_way(const std::string& why) {
    log().info("what is computed gives way to " + why);
    challenger_.give_way();
    if (computing_) parts().seams.worker.cancel(at_work_);
}

}  // namespace assay::node
