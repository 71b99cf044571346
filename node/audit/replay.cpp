// SPDX-License-Identifier: Apache-2.0
#include "node/audit/replay.hpp"

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include "contracts/program/round_law.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/program/state_head.hpp"
#include "contracts/program/state_root.hpp"
#include "contracts/worker/unit_parts.hpp"
#include "node/worker/local_training.hpp"

namespace assay::node {

using base::ErrorKind;
using base::fail;

namespace {

using SlotFiles = std::vector<frames::SharedDescriptor>;

/// The bytes of a replay: those of the store, and what others bring into it.
struct ReplayBlobs {
    const BlobStore& store;
    const BringBlob& bring;
};

base::Outcome<std::filesystem::path> blob_path(const ReplayBlobs& blobs, const BlobId& id, const char* what) {
    auto path = blobs.store.path(id);
    if (path.ok() || path.error().kind != ErrorKind::kNotFound) return path;
    const std::string lacking = std::string("the blob store lacks ") + what + " (" + id.hex() + ")";
    if (!blobs.bring) {
        return fail(
            ErrorKind::kNotFound, lacking,
            "fetch what is missing with --fetch while the buyer or a verifier serves it, or copy it "
            "from a verifier's home; without the bytes a payout's proof still checks, its replay does "
            "not");
    }
    const auto brought = blobs.bring(id);
    if (!brought) {
        const base::Error& why = brought.error();
        return fail(why.kind, lacking + ", and it could not be fetched: " + why.what, why.fix);
    }
    return blobs.store.path(id);
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

base::Outcome<frames::SharedDescriptor> base_state(WorkerClient& worker, const ReplayBlobs& blobs,
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
base::Outcome<SlotFiles> slot_files(const ReplayBlobs& blobs, const program::JobSpec& spec, const BlobId& id,
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
    CarriedStates(WorkerClient& worker, const contracts::StateView& state, const ReplayBlobs& blobs,
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
    ReplayBlobs blobs_;
    const contracts::Job& job_;
};

class RoundReplay {
public:
    RoundReplay(WorkerClient& worker, const ReplayBlobs& blobs, const contracts::Job& job,
                std::uint32_t round, StateFile base, const CarriedStates& carried_states)
        : worker_(worker),
          blobs_(blobs),
          job_(job),
          round_(round),
          base_(std::move(base)),
          carried_states_(carried_states) {}

    base::Outcome<SlotReplay> run(const contracts::SlotRound& slot, const contracts::Reveal& reveal,
                                  const contracts::CarriedIn& carried, const ClaimSince& since,
                                  const std::optional<std::uint32_t>& segment,
                                  const std::optional<contracts::Serve>& serve) {
        served_ = serve ? serve->starts : std::vector<contracts::RunStart>();
        SlotReplay result;
        result.slot = slot.slot;
        result.miner = slot.miner;
        result.verdict = slot.verdict;
        end_ = {};
        carried_ = carried;
        const program::RoundPlan plan(job_.spec);
        const std::uint32_t last = segment ? *segment : plan.finalise();
        for (std::uint32_t unit = 0; unit <= last; ++unit) {
            ASSAY_ASSIGN(UnitReplay replayed, replay_unit(slot.slot, unit, reveal));
            result.units.push_back(std::move(replayed));
        }
        judge(result, slot, since);
        return result;
    }

private:
    static UnitReplay unknown(std::uint32_t unit, std::string lacking) {
        UnitReplay replay;
        replay.unit = unit;
        replay.lacking = std::move(lacking);
        return replay;
    }

    base::Outcome<UnitReplay> replay_unit(std::uint32_t slot, std::uint32_t unit,
                                          const contracts::Reveal& reveal) {
        if (unit == 0 && !carried_.nothing()) {
            auto carried = carried_states_.at(round_, slot);
            // That this machine cannot open what it has says nothing about the unit.
            if (!carried && carried.error().kind == ErrorKind::kFailure) return base::failed(carried.error());
            if (!carried) return lose(unit, carried.error().what);
            end_.files = *std::move(carried);
        }
        const program::RoundPlan plan(job_.spec);
        const auto& divergence = reveal.trace.divergence;
        UnitReplay result;
        result.unit = unit;
        result.claimed = program::unit_root(reveal.trace, job_.spec, unit);
        const bool follows =
            unit == 0 || end_.root == reveal.trace.boundaries[unit] || take_claimed(reveal, unit);
        if (!follows && !end_.known) return lose(unit, no_state(unit));
        if (follows && divergence && plan.unit_of(divergence->step) < unit) {
            result.recomputed =
                worker::parts_behind_divergence(job_.spec, unit, reveal.trace.boundaries[unit]).unit_root;
        } else {
            ASSAY_ASSIGN(result.recomputed, compute(slot, unit, result));
        }
        if (result.recomputed.is_zero()) return lose(unit, end_.lacking);
        // Equal roots say that the unit is right, wherever it began.
        result.state = result.recomputed == result.claimed ? UnitReplay::Comparison::kEqual
                       : follows                           ? UnitReplay::Comparison::kFalse
                                                           : UnitReplay::Comparison::kUnknown;
        if (result.state == UnitReplay::Comparison::kUnknown) result.lacking = no_state(unit);
        return result;
    }

    static std::string no_state(std::uint32_t unit) {
        return "the store holds no state with the root that the miner claims for boundary " +
               std::to_string(unit);
    }
    UnitReplay lose(std::uint32_t unit, std::string why) {
        end_ = {};
        end_.known = false;
        return unknown(unit, std::move(why));
    }

    /// The head of a state with this root: one in the store, or one that the miner named when it served the
    /// slot.
    std::optional<BlobId> head_with(const base::Hash256& root) {
        if (const auto head = heads().find(root); head != heads().end()) return head->second;
        for (const contracts::RunStart& start : served_)
            if (start.root == root) return start.blob;
        return std::nullopt;
    }

    /// Goes on from the state that the miner claims before `unit`, where one with that root is at hand.
    bool take_claimed(const contracts::Reveal& reveal, std::uint32_t unit) {
        const base::Hash256& root = reveal.trace.boundaries[unit];
        const auto head = head_with(root);
        if (!head) return false;
        auto files = slot_files(blobs_, job_.spec, *head, program::RoundPlan(job_.spec).start(unit).arrays,
                                "the state at a boundary");
        if (!files) return false;
        end_ = {};
        end_.files = *std::move(files);
        end_.root = root;
        return true;
    }

    /// Heads of states in the store, by the root that they name. What they say is checked by the worker.
    const std::map<base::Hash256, BlobId>& heads() {
        if (heads_) return *heads_;
        heads_.emplace();
        for (const BlobInfo& blob : blobs_.store.list()) {
            if (blob.size > program::kMaxHeadBytes) continue;
            const auto bytes = blobs_.store.read(blob.id);
            if (!bytes.ok()) continue;
            const auto head = program::decode_state_head(*bytes);
            if (head.ok()) heads_->emplace(program::state_root(program::roots_of(*head)), blob.id);
        }
        return *heads_;
    }

    /// Root of the unit, computed from `end_`, which becomes its end; zero, and what is lacking, when that is
    /// not what it should be. A root that is not the claimed one is computed twice: a machine that errs must
    /// not accuse.
    base::Outcome<base::Hash256> compute(std::uint32_t slot, std::uint32_t unit, const UnitReplay& wanted) {
        if (end_.diverged) return worker::parts_behind_divergence(job_.spec, unit, end_.root).unit_root;
        ASSAY_ASSIGN(auto first, ask_worker(slot, unit));
        const auto* replayed = std::get_if<frames::Replayed>(&first.message);
        if (replayed == nullptr)
            return fail(ErrorKind::kFailure, "the worker gave another answer than asked");
        if (replayed->verdict == frames::UnitVerdict::kUnavailable) {
            end_.lacking = replayed->why;
            return base::Hash256{};
        }
        if (replayed->parts.unit_root != wanted.claimed) {
            ASSAY_ASSIGN(const auto second, ask_worker(slot, unit));
            const auto* again = std::get_if<frames::Replayed>(&second.message);
            if (again == nullptr || again->parts != replayed->parts) {
                return fail(ErrorKind::kPreflight,
                            "this machine computed one unit twice with different results",
                            "check memory and cooling before auditing again");
            }
        }
        end_ = {};
        end_.known = replayed->verdict == frames::UnitVerdict::kComputed;
        end_.root = replayed->parts.end_root;
        end_.diverged = replayed->parts.divergence.has_value();
        end_.files = std::move(first.bulk);
        return replayed->parts.unit_root;
    }

    base::Outcome<WorkerEvent> ask_worker(std::uint32_t slot, std::uint32_t unit) {
        std::vector<frames::SharedDescriptor> bulk;
        const program::UnitStart from = program::RoundPlan(job_.spec).start(unit);
        if (from.base) bulk.push_back(base_.bytes);
        const auto files =
            program::narrowed(end_.files, program::strategy_of(job_.spec).lane_arrays, from.arrays);
        bulk.insert(bulk.end(), files.begin(), files.end());
        return ask(worker_,
                   frames::Replay{.round = round_,
                                  .slot = slot,
                                  .unit = unit,
                                  .base_root = base_.root,
                                  .start_root = end_.root,
                                  .carried_in = unit == 0 ? carried_.root : base::Hash256{},
                                  .want_end_state = true},
                   std::move(bulk));
    }

    WorkerClient& worker_;
    ReplayBlobs blobs_;
    const contracts::Job& job_;
    std::uint32_t round_;
    StateFile base_;
    CarriedStates carried_states_;
    contracts::CarriedIn carried_;             ///< of the slot at hand
    std::vector<contracts::RunStart> served_;  ///< of the slot at hand, as long as the ledger has it
    std::optional<std::map<base::Hash256, BlobId>> heads_;
    /// Where the replay of the slot at hand stands.
    struct End {
        bool known = true;   ///< `files` are there
        SlotFiles files;     ///< the state, or what the slot carries
        base::Hash256 root;  ///< of the state
        bool diverged = false;
        std::string lacking;  ///< why a unit was not computed
    };
    End end_;
};

/// `games`: all of the job.
ClaimSince since_settlement(const contracts::StateView& state, const contracts::Job& job,
                            const contracts::ClaimId& id, const std::vector<contracts::Game>& games) {
    ClaimSince since;
    const auto claim = contracts::read_claim(state, id);
    since.is_open = claim && !claim->dead;
    for (const contracts::Game& game : games) {
        if (!game.killed_claim() || game.claim_id(job.id) != id) continue;
        const bool is_segment = game.unit == dispute::UnitKind::kSegment;
        since.killer = {game.number, is_segment ? game.part : program::RoundPlan(job.spec).finalise()};
    }
    return since;
}

}  // namespace

base::Outcome<std::vector<SlotReplay>> replay_round(WorkerClient& worker, const contracts::StateView& state,
                                                    const BlobStore& store, const ReplayRequest& request) {
    const ReplayBlobs blobs{store, request.bring};
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
        return fail(ErrorKind::kNotFound,
                    "a round of this job has no segment " + std::to_string(*request.segment),
                    "give one of 0 to " + std::to_string(plan.segments() - 1) + ", or " +
                        std::to_string(plan.finalise()) +
                        ", finalise; without --segment the whole round is replayed");
    }
    ASSAY_ASSIGN(const auto train, blob_path(blobs, job->spec.data.train, "the training tokens"));
    ASSAY_ASSIGN(const auto held_out, blob_path(blobs, job->spec.data.held_out, "the held-out tokens"));
    ASSAY_TRY(open_job(worker, job->spec, {.train = train.string(), .held_out = held_out.string()}));
    StateFile base{round->base_root, {}};
    ASSAY_ASSIGN(base.bytes, base_state(worker, blobs, job->spec, *round));
    RoundReplay replay(worker, blobs, *job, request.round, std::move(base), {worker, state, blobs, *job});
    const auto games = contracts::list_games(state, request.job);
    std::vector<SlotReplay> replays;
    bool known = false;
    for (const contracts::SlotRound& slot : contracts::list_slots(state, request.job, request.round)) {
        if (request.miner && slot.miner != *request.miner) continue;
        known = true;
        const auto reveal = contracts::read_reveal(state, request.job, request.round, slot.slot);
        if (!reveal) continue;
        const contracts::ClaimId claim{job->id, request.round, contracts::ClaimKind::kSlot, slot.slot};
        ASSAY_ASSIGN(
            SlotReplay result,
            replay.run(slot, *reveal, contracts::carried_in(state, job->id, request.round, slot.slot),
                       since_settlement(state, *job, claim, games), request.segment,
                       contracts::read_serve(state, request.job, request.round, slot.slot)));
        replays.push_back(std::move(result));
    }
    if (!known) {
        return fail(ErrorKind::kNotFound, "that miner held no slot of round " + std::to_string(request.round),
                    "`assay job show JOB` lists who held what");
    }
    return replays;
}

}  // namespace assay::node
