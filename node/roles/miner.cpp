// SPDX-License-Identifier: Apache-2.0
#include "node/roles/miner.hpp"

#include <algorithm>
#include <utility>

#include "contracts/program/first_state.hpp"
#include "contracts/program/round_law.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/program/trace_tree.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/job/seals.hpp"
#include "contracts/rules/round/draws.hpp"
#include "contracts/rules/state/limits.hpp"
#include "node/roles/outward_peers.hpp"

namespace assay::node {

namespace frames = worker;

namespace {

std::string ask_file(const base::Hash256& job) { return "ask-" + job.hex().substr(0, 16); }

// Price and salt of a sealed ask: written before the seal is sent, so that a restart can still open it.
struct SealedAsk {
    base::Amount price;
    base::Hash256 salt;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.price, self.salt);
    }
};

}  // namespace

std::string slot_note(const base::Hash256& job, std::uint32_t round, std::uint32_t slot) {
    return "slot-" + job.hex().substr(0, 16) + "-" + std::to_string(round) + "-" + std::to_string(slot);
}

MinerRole::MinerRole(const RoleParts& parts, MinerOptions options)
    : FollowingRole(parts),
      options_(std::move(options)),
      bench_(parts.seams, parts.files, requests(), parts.genesis.chain_id),
      games_(this->parts().seams, this->parts().files, requests(), bench_, me(),
             {.offer = [this](const std::string& name,
                              contracts::Payload payload) { offer(name, std::move(payload)); },
              .drills = [this](std::uint32_t round) { return drills_of(round); }}),
      quarreller_(
          options_.conducts, me(), std::nullopt, log(),
          [this](const std::string& name, contracts::Payload payload) { offer(name, std::move(payload)); }) {}

void MinerRole::plan() {
    if (!registered(WorkRole::kMiner)) return;
    take_over_notes();
    if (training_request_) {
        const auto job = contracts::read_job_progress(state(), std::get<0>(*training_));
        if (!job || contracts::is_over(job->phase)) parts().seams.worker.cancel(*training_request_);
    }
    if (quarreller_.plays()) {
        quarreller_.follow(state(), height());
    } else {
        games_.follow(state(), height());
    }
    games_.compute(state(), true, is_working());
    plan_jobs([this](const contracts::Job& job) { plan_bidding(job); },
              [this](const contracts::Job& job) { plan_round(job); });
    games_.compute(state(), false, is_working());
    if (outward_node(parts().endpoint) && std::exchange(lent_at_, height()) != height())
        parts().seams.blobs.lend_to(outward_peers(state(), me()));
    forget_ended_jobs();
    bench_.tidy(state(), height(), me(), [this](std::set<BlobId>& needed) { keep_own(needed); });
}

bool MinerRole::checked_before_asking(const contracts::Job& job) {
    // What the ledger would refuse is not worth a download.
    if (job.auction.asks_sealed >= contracts::kMaxAsks ||
        contracts::read_stake(state(), me()).free < contracts::params_of(state(), job).ask_deposit) {
        return false;
    }
    // Without the data it would pay for rounds in which it cannot train.
    if (!bench_.gather(state(), job, Pin::kEvictable)) return false;
    return bench_.vouched(state(), job, is_working() || games_.computing() ? Worker::kAtWork : Worker::kFree);
}

void MinerRole::plan_bidding(const contracts::Job& job) {
    if (job.phase == contracts::JobPhase::kRefill) return plan_join(job);
    const auto ask = contracts::read_ask(state(), job.id, me());
    if (job.phase == contracts::JobPhase::kAskCommit && !ask) {
        if (job.spec.market.max_price < options_.ask) return;  // nothing to win: the cap is below our ask
        if (!locks_within_limits(job) || !can_hold(job) || !can_keep(job) || !checked_before_asking(job))
            return;
        auto kept = parts().seams.disk.read(ask_file(job.id));
        if (!kept.ok()) return fail_with(OwnFailure::kNotes, kept.error());
        SealedAsk sealed{.price = sealed_price(), .salt = {}};
        const auto old =
            kept->has_value()
                ? base::decode<SealedAsk>(**kept)
                : base::Result<SealedAsk, base::DecodeError>(base::failed(base::DecodeError::kTruncated));
        if (old.ok()) {
            sealed = *old;
        } else {
            sealed.salt = random_hash();
            if (auto written = parts().seams.disk.write(ask_file(job.id), base::encode(sealed));
                !written.ok()) {
                return fail_with(OwnFailure::kNotes, written.error());
            }
        }
        offer("ask for job " + job.id.brief(),
              contracts::AskCommit{
                  .job = job.id,
                  .seal = contracts::ask_seal(chain_id(), job.id, me(), sealed.price, sealed.salt)});
    }
    if (job.phase == contracts::JobPhase::kAskReveal && ask && !ask->revealed && opens_ask(job)) {
        auto kept = parts().seams.disk.read(ask_file(job.id));
        if (!kept.ok()) return fail_with(OwnFailure::kNotes, kept.error());
        if (!kept->has_value()) return;
        if (const auto sealed = base::decode<SealedAsk>(**kept); sealed.ok()) {
            offer("reveal ask for job " + job.id.brief(),
                  contracts::AskReveal{.job = job.id, .price = sealed->price, .salt = sealed->salt});
        }
    }
}

void MinerRole::plan_round(const contracts::Job& job) {
    const auto round = contracts::read_round(state(), job.id, job.round);
    if (!round) return;
    plan_join(job);
    note_updates(job, *round);
    if (training_ && (std::get<0>(*training_) != job.id || std::get<1>(*training_) != job.round ||
                      round->phase != contracts::RoundPhase::kCommit)) {
        if (std::get<0>(*training_) == job.id && training_request_) {
            parts().seams.worker.cancel(*training_request_);  // its round went on without it
        }
    }
    for (const contracts::SlotRound& slot : contracts::list_slots(state(), job.id, job.round)) {
        if (slot.assigned && slot.miner == me()) plan_slot(job, *round, slot);
    }
    forget_old_rounds(job);
}

void MinerRole::plan_slot(const contracts::Job& job, const contracts::Round& round,
                          const contracts::SlotRound& slot) {
    const SlotKey key{job.id, job.round, slot.slot};
    if (conducts(Misconduct::kSquatter)) return;
    if (round.phase == contracts::RoundPhase::kCommit && !slot.committed) {
        SlotWork& work = work_of(key);
        if (work.complete && !can_be_served(work)) lose(work);
        if (work.complete && !begins_rightly(job, work)) return;
        if (work.complete) return commit(job, slot, work);
        if (training_ || games_.computing() || failed_.contains(key)) return;
        const contracts::CarriedIn carried = contracts::carried_in(state(), job.id, job.round, slot.slot);
        const auto holds = carried.nothing() ? std::nullopt : carried_files(carried, job, slot.slot);
        if (!carried.nothing() && !holds) return;  // withheld: the slot stays unpaid, and restarts from zero
        if (makes_base(job)) return;
        if (const auto base = bench_.ready(state(), job)) train(job, slot, {*base, carried.root, holds});
    }
    if (!slot.committed || conducts(Misconduct::kSilentAfterDraw)) return;
    if (round.phase == contracts::RoundPhase::kServe && !slot.served) {
        const SlotWork& work = work_of(key);
        if (work.complete) serve(job, slot, work);
    }
    // From here on everything about the slot is sealed and opened by those who judge it.
    if (round.phase < contracts::RoundPhase::kReveal) return;
    const SlotWork& work = work_of(key);
    if (!work.complete || !serve_result(job, work)) return;
    if (round.phase == contracts::RoundPhase::kReveal && !slot.revealed) reveal(job, work);
}

std::optional<StateFiles> MinerRole::carried_files(const contracts::CarriedIn& carried,
                                                   const contracts::Job& job, std::uint32_t slot) {
    return bench_.wants().want_state(
        carried.blob, holders_of_carried(state(), job, slot, me()),
        slot_terms(job.spec, program::strategy_of(job.spec).carried_arrays, Traffic::kCarried));
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
            work.trace = {};
        }
    }
    request.drills = drills_of(job.round);
    training_ = key;
    training_request_ =
        requests().on_worker([this, key](const WorkerAnswered& answer) { on_train_frame(key, answer); });
    parts().seams.worker.submit(*training_request_, std::move(request), std::move(bulk));
}

std::vector<frames::Drill> MinerRole::drills_of(std::uint32_t round) const {
    std::vector<frames::Drill> drills;
    for (const PlannedDrill& planned : options_.drills) {
        if (!planned.round || *planned.round == round) drills.push_back(planned.drill);
    }
    return drills;
}

void MinerRole::on_train_frame(const SlotKey& key, const WorkerAnswered& answer) {
    if (answer.last) {
        training_.reset();
        training_request_.reset();
    }
    SlotWork& work = work_of(key);
    if (std::holds_alternative<frames::Boundary>(answer.message)) return on_boundary(work, answer);
    if (std::holds_alternative<frames::Trained>(answer.message)) return on_trained(work, answer);
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
    if (!blob || !has_whole(parts().files, *blob)) return stop_training(work.job);
    work.boundary_blobs.push_back(*blob);
    work.trace = boundary.so_far;
    store(work);
}

void MinerRole::stop_training(const base::Hash256& job) {
    // What cannot be served must not be committed: verifiers would replay the slot at the cost of its pay.
    bench_.rest(job);
    if (training_request_) parts().seams.worker.cancel(*training_request_);
}

bool MinerRole::can_be_served(const SlotWork& work) {
    const auto here = [this](const BlobId& blob) { return has_whole(parts().files, blob); };
    return std::all_of(work.boundary_blobs.begin(), work.boundary_blobs.end(), here) &&
           (work.update_blob.is_zero() || here(work.update_blob));
}

void MinerRole::lose(SlotWork& work) {
    log().warn(round_name(work.job, work.round) + " slot " + std::to_string(work.slot) +
               " is trained again: its states are not in the store any more");
    work.complete = false;
    work.boundary_blobs.clear();
    work.update_blob = {};
    work.trace = {};
}

void MinerRole::on_trained(SlotWork& work, const WorkerAnswered& answer) {
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
    work.start = trained.start;
    work.salt = random_hash();
    work.complete = true;
    store(work);
    log().info("trained " + round_name(work.job, work.round) + " slot " + std::to_string(work.slot) + " in " +
               std::to_string(trained.nanoseconds / 1'000'000) + " ms");
}

bool MinerRole::begins_rightly(const contracts::Job& job, const SlotWork& work) {
    const contracts::CarriedIn carried = contracts::carried_in(state(), job.id, job.round, work.slot);
    const auto first =
        program::first_state_root(job.spec, {job.round, job.base_root, carried.root}, work.start);
    if (!work.trace.boundaries.empty() && first == work.trace.boundaries.front()) return true;
    // A base whose counters are another round's has such a root, and a state that was carried wrongly.
    if (failed_.insert({work.job, work.round, work.slot}).second) {
        log().error(round_name(job.id, job.round) + " slot " + std::to_string(work.slot) +
                    " is not committed: its trace does not begin with the round's base, and the ledger would "
                    "refuse to open it");
    }
    return false;
}

void MinerRole::commit(const contracts::Job& job, const contracts::SlotRound& slot, const SlotWork& work) {
    const contracts::CommitStatement statement{
        .job = job.id,
        .round = job.round,
        .slot = slot.slot,
        .miner = me(),
        .base_root = job.base_root,
        .trace_root = program::trace_root(work.trace, job.spec, work.salt),
        .salt = contracts::commit_salt(work.salt)};
    offer("commit " + round_name(job.id, job.round) + " slot " + std::to_string(slot.slot),
          contracts::RoundCommit{.job = job.id,
                                 .round = job.round,
                                 .slot = slot.slot,
                                 .seal = contracts::commit_seal(chain_id(), statement)});
}

bool MinerRole::serve_state(const contracts::Job& job, const BlobId& head,
                            std::span<const program::StateArray> arrays) {
    std::vector<BlobId> blobs =
        named_arrays(parts().files, head, slot_terms(job.spec, arrays, Traffic::kAudit));
    blobs.push_back(head);
    for (const BlobId& blob : blobs) {
        const auto served = parts().files.serve(blob);
        if (served.ok() || served.error().kind == base::ErrorKind::kNotFound) continue;
        log().warn("blob " + blob.brief() + " is not served yet: " + served.error().what);
        return false;
    }
    return true;
}

void MinerRole::serve(const contracts::Job& job, const contracts::SlotRound& slot, const SlotWork& work) {
    const program::RoundPlan plan(job.spec);
    const program::TraceTree tree(work.trace, job.spec, work.salt);
    contracts::RoundServe message{.job = job.id,
                                  .round = job.round,
                                  .slot = slot.slot,
                                  .trace_root = tree.root(),
                                  .salt = contracts::commit_salt(work.salt),
                                  .diverged_unit = std::nullopt,
                                  .starts = {}};
    std::vector<std::uint32_t> units = slot.drawn_units;
    if (work.trace.divergence) {
        message.diverged_unit = plan.unit_of(work.trace.divergence->step);
        units = contracts::with_divergence(std::move(units), *message.diverged_unit);
    }
    for (const program::UnitRun& run : program::runs_of(units)) {
        if (run.from_base()) continue;
        // A unit begins at the boundary of its own number; the state at the first is the base.
        const BlobId& head = work.boundary_blobs[run.first - 1];
        if (!conducts(Misconduct::kWithheldStart) && !serve_state(job, head, plan.start(run.first).arrays))
            return;
        const program::LeafName leaf = program::start_leaf(job.spec, run.first);
        message.starts.push_back({tree.open(leaf.kind, leaf.place), head});
    }
    offer("serve " + round_name(job.id, job.round) + " slot " + std::to_string(slot.slot),
          std::move(message));
}

bool MinerRole::serve_result(const contracts::Job& job, const SlotWork& work) {
    if (work.trace.divergence || conducts(Misconduct::kWithheldUpdate)) return true;
    if (const auto served = parts().files.serve(work.update_blob); !served.ok()) {
        if (served.error().kind != base::ErrorKind::kNotFound) return false;
    }
    if (!program::carries_state(job.spec)) return true;
    return serve_state(job, work.boundary_blobs.back(), program::strategy_of(job.spec).carried_arrays);
}

void MinerRole::reveal(const contracts::Job& job, const SlotWork& work) {
    const bool hands_on = program::carries_state(job.spec) && !work.trace.divergence;
    offer("reveal " + round_name(job.id, job.round) + " slot " + std::to_string(work.slot),
          contracts::RoundReveal{.job = job.id,
                                 .round = job.round,
                                 .slot = work.slot,
                                 .trace = work.trace,
                                 .salt = work.salt,
                                 .update_blob = work.update_blob,
                                 .carried_blob = hands_on ? work.boundary_blobs.back() : BlobId{},
                                 .start = work.start});
}

SlotWork& MinerRole::work_of(const SlotKey& key) {
    const auto& [job, round, slot] = key;
    auto [found, inserted] = works_.try_emplace(key);
    SlotWork& work = found->second;
    if (!inserted) return work;
    work.job = job;
    work.round = round;
    work.slot = slot;
    auto kept = parts().seams.disk.read(slot_note(job, round, slot));
    if (!kept.ok()) {
        fail_with(OwnFailure::kNotes, kept.error());
    } else if (kept->has_value()) {
        if (auto decoded = base::decode<SlotWork>(**kept); decoded.ok()) work = std::move(decoded).value();
    }
    return work;
}

void MinerRole::store(const SlotWork& work) {
    auto written = parts().seams.disk.write(slot_note(work.job, work.round, work.slot), base::encode(work));
    if (!written.ok()) fail_with(OwnFailure::kNotes, written.error());
}

void MinerRole::keep_own(std::set<BlobId>& needed) {
    games_.keep(needed);
    for (const base::Hash256& id : contracts::list_active_jobs(state())) {
        const auto job = contracts::read_job(state(), id);
        if (job->phase != contracts::JobPhase::kRounds) continue;
        for (const contracts::SlotRound& slot : contracts::list_slots(state(), id, job->round)) {
            // Whoever goes on with what a slot of ours handed on fetches it here.
            const auto carried = contracts::carried_in(state(), id, job->round, slot.slot);
            if (!carried.nothing() && carried.holder == me()) needed.insert(carried.blob);
            if (!slot.assigned || slot.miner != me()) continue;
            const SlotWork& work = work_of({id, job->round, slot.slot});
            needed.insert(work.boundary_blobs.begin(), work.boundary_blobs.end());
            needed.insert(work.update_blob);
            needed.insert(carried.blob);
        }
    }
}

void MinerRole::forget_ended_jobs() {
    const auto is_over = [this](const base::Hash256& id) { return contracts::has_ended(state(), id); };
    forget_updates([&](const base::Hash256& job, std::uint32_t) { return is_over(job); });
    std::erase_if(base_not_made_, [&](const auto& key) { return is_over(key.first); });
    std::erase_if(weighed_, is_over);
    std::erase_if(short_of_, is_over);
    std::erase_if(no_room_, is_over);
    // The states lost their pins with the last claim's end, and are served until their room is needed.
    std::erase_if(works_, [this](const auto& entry) {
        const SlotWork& work = entry.second;
        const bool ended = contracts::has_ended(state(), work.job);
        if (ended) (void)parts().seams.disk.remove(slot_note(work.job, work.round, work.slot));
        return ended;
    });
}

void MinerRole::forget_old_rounds(const contracts::Job& job) {
    forget_updates(
        [&](const base::Hash256& id, std::uint32_t round) { return id == job.id && round + 1 < job.round; });
    std::erase_if(base_not_made_,
                  [&](const auto& key) { return key.first == job.id && key.second < job.round; });
    // Two rounds back everything is settled; any state can be computed again from the base states, which stay
    // with the rest that a game about an open claim needs.
    std::set<BlobId> dropped;
    std::set<BlobId> kept;
    std::erase_if(works_, [&](const auto& entry) {
        const SlotWork& work = entry.second;
        const bool old = work.job == job.id && work.round + 1 < job.round;
        if (!old) {
            kept.insert(work.boundary_blobs.begin(), work.boundary_blobs.end());
            return false;
        }
        dropped.insert(work.boundary_blobs.begin(), work.boundary_blobs.end());
        if (!work.update_blob.is_zero()) dropped.insert(work.update_blob);
        (void)parts().seams.disk.remove(slot_note(work.job, work.round, work.slot));
        return true;
    });
    if (dropped.empty()) return;
    keep_own(kept);
    bench_.keep_open_rounds(state(), me(), kept);
    drop_states(parts().files, std::move(dropped), std::move(kept));
}

}  // namespace assay::node
