// SPDX-License-Identifier: Apache-2.0
#include "node/audit/replay.hpp"

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>

#include "contracts/program/round_law.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/program/state_head.hpp"
#include "node/worker/local_training.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;

namespace {

using SlotFiles = std::vector<frames::SharedDescriptor>;

base::Outcome<std::filesystem::path> blob_path(const BlobStore& blobs, const BlobId& id, const char* what) {
    auto path = blobs.path(id);
    if (!path.ok() && path.error().kind == ErrorKind::kNotFound) {
        return fail(ErrorKind::kNotFound, std::string("the blob store lacks ") + what + " (" + id.hex() + ")",
                    "fetch it from the buyer or a verifier while they serve it; without the bytes a payout's "
                    "proof still checks, its replay does not");
    }
    return path;
}

/// Sends one request and waits for its last frame.
base::Outcome<WorkerEvent> ask(WorkerClient& worker, frames::Message message,
                               std::vector<frames::SharedDescriptor> bulk,
                               const std::function<void(const WorkerEvent&)>& observe = {}) {
    std::mutex mutex;
    std::condition_variable answered;
    std::optional<WorkerEvent> last;
    (void)worker.submit(std::move(message), std::move(bulk), [&](WorkerEvent event) {
        const std::scoped_lock lock(mutex);
        if (!event.last) {
            if (observe) observe(event);
            return;
        }
        last = std::move(event);
        answered.notify_one();
    });
    std::unique_lock lock(mutex);
    answered.wait(lock, [&] { return last.has_value(); });
    if (const auto* refusal = std::get_if<frames::Refusal>(&last->message)) {
        return base::failed(to_error(*refusal));
    }
    return std::move(*last);
}

base::Outcome<frames::SharedDescriptor> base_state(WorkerClient& worker, const BlobStore& blobs,
                                                   const program::JobSpec& spec,
                                                   const contracts::Round& round) {
    frames::SharedDescriptor file;
    if (!round.base_blob.is_zero()) {
        ASSAY_ASSIGN(const auto path, blob_path(blobs, round.base_blob, "the round's base state"));
        ASSAY_ASSIGN(file, worker::open_file(path.string()));
    }
    if (round.base_blob == spec.initial_blob) {
        ASSAY_ASSIGN(const StateFile initial, initial_state(worker, file));
        if (initial.root != round.base_root) {
            return fail(ErrorKind::kVerification, "the job's initial state has the root " +
                                                      initial.root.hex() + ", the ledger names " +
                                                      round.base_root.hex());
        }
        return initial.bytes;
    }
    ASSAY_ASSIGN(const WorkerEvent rooted,
                 ask(worker, frames::Root{.kind = frames::BulkKind::kBaseState}, {file}));
    const auto* root = std::get_if<frames::Rooted>(&rooted.message);
    if (root == nullptr || root->root != round.base_root) {
        return fail(ErrorKind::kVerification,
                    "blob " + round.base_blob.hex() + " is not the base state that the ledger names");
    }
    return file;
}

/// A slot's state, or some arrays of it, from the store: its head first.
base::Outcome<SlotFiles> slot_files(const BlobStore& blobs, const program::JobSpec& spec, const BlobId& id,
                                    std::span<const program::StateArray> arrays, const std::string& what) {
    ASSAY_ASSIGN(const auto path, blob_path(blobs, id, what.c_str()));
    ASSAY_ASSIGN(auto head_file, worker::open_file(path.string()));
    ASSAY_ASSIGN(const auto size, worker::file_size(*head_file, worker::kMaxBulk));
    base::Bytes bytes;
    if (size <= program::kMaxHeadBytes) {
        ASSAY_ASSIGN(bytes, worker::read_all(*head_file, program::kMaxHeadBytes));
    }
    SlotFiles files{std::move(head_file)};
    const auto head = program::decode_state_head(bytes);
    const auto all = program::strategy_of(spec).lane_arrays;
    if (!head.ok() || !program::fits(*head, all, program::carries_state(spec))) return files;
    for (const program::StateArray array : arrays) {
        ASSAY_ASSIGN(const auto at,
                     blob_path(blobs, head->part(array)->blob, ("an array of " + what).c_str()));
        ASSAY_ASSIGN(auto file, worker::open_file(at.string()));
        files.push_back(std::move(file));
    }
    return files;
}

/// Makes the states that slots go on with, where the store has none: by training again from the last round in
/// which the slot went on with nothing.
class CarriedStates {
public:
    CarriedStates(WorkerClient& worker, const contracts::StateView& state, const BlobStore& blobs,
                  const contracts::Job& job)
        : worker_(worker), state_(state), blobs_(blobs), job_(job) {}

    /// Of a slot that goes on with something in `round`.
    base::Outcome<SlotFiles> at(std::uint32_t round, std::uint32_t slot) const {
        SlotFiles files;
        std::uint32_t from = round;
        while (!contracts::carried_in(state_, job_.id, from, slot).nothing()) {
            auto stored =
                slot_files(blobs_, job_.spec, contracts::carried_in(state_, job_.id, from, slot).blob,
                           program::strategy_of(job_.spec).carried_arrays, "what a slot carries");
            if (stored.ok()) {
                files = *std::move(stored);
                break;
            }
            --from;
        }
        for (; from < round; ++from) {
            ASSAY_ASSIGN(files, train_again(from, slot, files));
        }
        return files;
    }

private:
    base::Outcome<SlotFiles> train_again(std::uint32_t round, std::uint32_t slot,
                                         const SlotFiles& carried) const {
        const auto record = contracts::read_round(state_, job_.id, round);
        if (!record) return fail(ErrorKind::kNotFound, "the ledger has no round " + std::to_string(round));
        frames::Train request;
        request.round = round;
        request.slot = slot;
        request.carried_in = contracts::carried_in(state_, job_.id, round, slot).root;
        ASSAY_ASSIGN(auto base, base_state(worker_, blobs_, job_.spec, *record));
        std::vector<frames::SharedDescriptor> start{std::move(base)};
        start.insert(start.end(), carried.begin(), carried.end());
        SlotFiles end;
        ASSAY_ASSIGN(const WorkerEvent last,
                     ask(worker_, std::move(request), std::move(start), [&](const WorkerEvent& event) {
                         if (std::holds_alternative<frames::Boundary>(event.message) && !event.bulk.empty())
                             end = event.bulk;
                     }));
        const auto* trained = std::get_if<frames::Trained>(&last.message);
        const base::Hash256 wanted = contracts::carried_in(state_, job_.id, round + 1, slot).root;
        if (trained == nullptr || !trained->trace.carried || trained->trace.carried->out != wanted) {
            return fail(ErrorKind::kVerification,
                        "round " + std::to_string(round) + ", slot " + std::to_string(slot) +
                            ": trained again here, it hands on another state than the ledger accepted");
        }
        const program::StrategyRow& row = program::strategy_of(job_.spec);
        return program::narrowed(end, row.lane_arrays, row.carried_arrays);
    }

    WorkerClient& worker_;
    const contracts::StateView& state_;
    const BlobStore& blobs_;
    const contracts::Job& job_;
};

class RoundReplay {
public:
    RoundReplay(WorkerClient& worker, const BlobStore& blobs, const contracts::Job& job, std::uint32_t round,
                frames::SharedDescriptor base, const CarriedStates& carried_states)
        : worker_(worker),
          blobs_(blobs),
          job_(job),
          round_(round),
          base_(std::move(base)),
          carried_states_(carried_states) {}

    base::Outcome<SlotReplay> run(const contracts::SlotRound& slot, const contracts::Reveal& reveal,
                                  const contracts::CarriedIn& carried,
                                  const std::optional<std::uint32_t>& segment) {
        SlotReplay result;
        result.slot = slot.slot;
        result.miner = slot.miner;
        result.verdict = slot.verdict;
        end_.clear();
        carried_ = carried;
        const program::RoundPlan plan(job_.spec);
        const std::uint32_t last = segment ? *segment : plan.finalise();
        for (std::uint32_t unit = 0; unit <= last; ++unit) {
            ASSAY_ASSIGN(UnitReplay replayed, replay_unit(slot.slot, unit, reveal));
            result.units.push_back(std::move(replayed));
        }
        const auto& drawn = slot.drawn_units;
        if (!segment && std::find(drawn.begin(), drawn.end(), plan.update()) != drawn.end()) {
            ASSAY_ASSIGN(UnitReplay shown, update_unit(plan.update(), reveal, result.units.back()));
            result.units.push_back(std::move(shown));
        }
        judge(result, slot);
        return result;
    }

private:
    static UnitReplay unknown(std::uint32_t unit, std::string lacking) {
        UnitReplay replay;
        replay.unit = unit;
        replay.lacking = std::move(lacking);
        return replay;
    }

    // Zero after a reveal that names none, which the ledger takes of no slot.
    static BlobId last_boundary_blob(const contracts::Reveal& reveal) {
        return reveal.boundary_blobs.empty() ? BlobId{} : reveal.boundary_blobs.back();
    }

    // The state that the miner served for the boundary before `unit`.
    [[nodiscard]] base::Outcome<SlotFiles> claimed_start(const contracts::Reveal& reveal,
                                                         std::uint32_t unit) const {
        return slot_files(blobs_, job_.spec, reveal.boundary_blobs[unit - 1],
                          program::RoundPlan(job_.spec).start(unit).arrays,
                          "the state that the miner served for boundary " + std::to_string(unit));
    }

    base::Outcome<UnitReplay> replay_unit(std::uint32_t slot, std::uint32_t unit,
                                          const contracts::Reveal& reveal) {
        const bool goes_on = unit == 0 && !carried_.nothing();
        const bool from_claim = (unit != 0 || goes_on) && end_.empty();
        SlotFiles start = std::exchange(end_, {});
        if (from_claim) {
            auto claimed = goes_on ? carried_states_.at(round_, slot) : claimed_start(reveal, unit);
            // That this machine cannot open what it has says nothing about the unit.
            if (!claimed && claimed.error().kind == ErrorKind::kFailure) return base::failed(claimed.error());
            if (!claimed) return unknown(unit, claimed.error().what);
            start = *std::move(claimed);
        }
        auto event = ask_worker(slot, unit, reveal, start);
        // Bytes that the miner served may be anything; those recomputed here are states.
        if (!event && from_claim && event.error().kind == ErrorKind::kVerification)
            return unknown(unit, event.error().what);
        if (!event) return base::failed(event.error());
        const auto* replayed = std::get_if<frames::Replayed>(&event->message);
        if (replayed == nullptr)
            return fail(ErrorKind::kFailure, "the worker gave another answer than asked");
        UnitReplay result;
        result.unit = unit;
        result.claimed = replayed->claimed_root;
        result.recomputed = replayed->unit_root;
        switch (replayed->verdict) {
            case frames::UnitVerdict::kUnsound:
                return fail(ErrorKind::kPreflight,
                            "this machine computed one unit twice with different results",
                            "check memory and cooling before auditing again");
            case frames::UnitVerdict::kUnavailable: return unknown(unit, replayed->difference);
            case frames::UnitVerdict::kDiffers: result.state = UnitReplay::Comparison::kFalse; return result;
            case frames::UnitVerdict::kMatch: break;
        }
        result.state = UnitReplay::Comparison::kEqual;
        // After a divergence the state stays what it was.
        end_ = event->bulk.empty() ? start : event->bulk;
        return result;
    }

    // Of the file that the reveal names. Where `finalise` is equal, the update made here has the claimed root
    // and lies in the file of that name: then nobody need have kept it.
    base::Outcome<UnitReplay> update_unit(std::uint32_t unit, const contracts::Reveal& reveal,
                                          const UnitReplay& finalise) {
        UnitReplay result;
        result.unit = unit;
        result.claimed = program::update_unit_root(reveal.trace.update);
        if (finalise.state == UnitReplay::Comparison::kEqual && !reveal.update_blob.is_zero()) {
            result.recomputed = result.claimed;
            result.state = UnitReplay::Comparison::kEqual;
            return result;
        }
        const auto path = blob_path(blobs_, reveal.update_blob, "the update that the reveal names");
        if (!path) return unknown(unit, path.error().what);
        ASSAY_ASSIGN(auto file, worker::open_file(path->string()));
        auto event = ask(worker_, frames::Root{.kind = frames::BulkKind::kUpdate}, {std::move(file)});
        if (!event && event.error().kind == ErrorKind::kVerification)
            return unknown(unit, event.error().what);
        if (!event) return base::failed(event.error());
        const auto* rooted = std::get_if<frames::Rooted>(&event->message);
        if (rooted == nullptr) return fail(ErrorKind::kFailure, "the worker gave another answer than asked");
        result.recomputed = program::update_unit_root(rooted->root);
        result.state = result.recomputed == result.claimed ? UnitReplay::Comparison::kEqual
                                                           : UnitReplay::Comparison::kFalse;
        return result;
    }

    base::Outcome<WorkerEvent> ask_worker(std::uint32_t slot, std::uint32_t unit,
                                          const contracts::Reveal& reveal, const SlotFiles& start) {
        std::vector<frames::SharedDescriptor> bulk;
        const program::UnitStart from = program::RoundPlan(job_.spec).start(unit);
        if (from.base) bulk.push_back(base_);
        const auto files = program::narrowed(start, program::strategy_of(job_.spec).lane_arrays, from.arrays);
        bulk.insert(bulk.end(), files.begin(), files.end());
        return ask(worker_,
                   frames::Replay{.round = round_,
                                  .slot = slot,
                                  .unit = unit,
                                  .claimed = reveal.trace,
                                  .has_claimed_end = false,
                                  .want_end_state = true,
                                  .update_blob = reveal.update_blob,
                                  .last_boundary_blob = last_boundary_blob(reveal)},
                   std::move(bulk));
    }

    WorkerClient& worker_;
    const BlobStore& blobs_;
    const contracts::Job& job_;
    std::uint32_t round_;
    frames::SharedDescriptor base_;
    CarriedStates carried_states_;
    contracts::CarriedIn carried_;  ///< of the slot at hand
    SlotFiles end_;                 ///< of the unit before, where it is the claimed one
};

}  // namespace

base::Outcome<std::vector<SlotReplay>> replay_round(WorkerClient& worker, const contracts::StateView& state,
                                                    const BlobStore& blobs, const ReplayRequest& request) {
    const auto job = contracts::read_job(state, request.job);
    if (!job) return fail(ErrorKind::kNotFound, "no job " + request.job.hex() + " on this ledger");
    const auto round = contracts::read_round(state, request.job, request.round);
    if (!round) {
        return fail(ErrorKind::kNotFound,
                    "job " + request.job.brief() + " has no round " + std::to_string(request.round),
                    "rounds count from 0; `assay job show " + request.job.brief() + "` lists them");
    }
    const program::RoundPlan plan(job->spec);
    if (request.segment && *request.segment >= plan.units()) {
        return fail(ErrorKind::kNotFound, "a round has segments 0 to " + std::to_string(plan.segments() - 1) +
                                              " and finalise, " + std::to_string(plan.finalise()));
    }
    ASSAY_ASSIGN(const auto train, blob_path(blobs, job->spec.data.train, "the training tokens"));
    ASSAY_ASSIGN(const auto held_out, blob_path(blobs, job->spec.data.held_out, "the held-out tokens"));
    ASSAY_TRY(open_job(worker, job->spec, {.train = train.string(), .held_out = held_out.string()}));
    ASSAY_ASSIGN(auto base, base_state(worker, blobs, job->spec, *round));
    RoundReplay replay(worker, blobs, *job, request.round, std::move(base), {worker, state, blobs, *job});
    std::vector<SlotReplay> replays;
    bool known = false;
    for (const contracts::SlotRound& slot : contracts::list_slots(state, request.job, request.round)) {
        if (request.miner && slot.miner != *request.miner) continue;
        known = true;
        const auto reveal = contracts::read_reveal(state, request.job, request.round, slot.slot);
        if (!reveal) continue;
        ASSAY_ASSIGN(
            SlotReplay result,
            replay.run(slot, *reveal, contracts::carried_in(state, job->id, request.round, slot.slot),
                       request.segment));
        replays.push_back(std::move(result));
    }
    if (!known) {
        return fail(ErrorKind::kNotFound, "that miner held no slot of round " + std::to_string(request.round),
                    "`assay job show JOB` lists who held what");
    }
    return replays;
}

}  // namespace assay::node
