// SPDX-License-Identifier: Apache-2.0
#include "node/roles/miner.hpp"

#include <algorithm>
#include <utility>

#include "contracts/program/first_state.hpp"
#include "contracts/program/round_law.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/program/trace_tree.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/job/roster.hpp"
#include "contracts/rules/job/seals.hpp"
#include "contracts/rules/round/draws.hpp"
#include "contracts/rules/state/limits.hpp"
#include "node/roles/job_note.hpp"
#include "node/roles/outward_peers.hpp"

namespace assay::node {

namespace frames = worker;

namespace {

std::string ask_file(const base::Hash256& job) { return job_note("ask", job); }

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

std::optional<SlotWork> slot_work_of(base::ByteView note) {
    auto work = base::decode<SlotWork>(note);
    return work.ok() ? std::optional(std::move(work).value()) : std::nullopt;
}

std::string slot_note(const base::Hash256& job, std::uint32_t round, std::uint32_t slot) {
    return job_note("slot", job, {round, slot});
}

MinerRole::MinerRole(const RoleParts& parts, MinerOptions options)
    : FollowingRole(parts),
      options_(std::move(options)),
      bench_(parts.seams, parts.files, requests(), parts.genesis.chain_id),
      games_(this->parts().seams, this->parts().files, requests(), bench_, me(),
             {.offer = [this](const std::string& name,
                              contracts::Payload payload) { offer(name, std::move(payload)); },
              .drills = [this](std::uint32_t round) { return drills_of(round); },
              .give_way = [this](const base::Hash256& job, const std::string& why) { give_way(job, why); },
              .at_work = [this] { return requests_at_work(); }}),
      quarreller_(
          options_.conducts, me(), std::nullopt, log(),
          [this](const std::string& name, contracts::Payload payload) { offer(name, std::move(payload)); }),
      orders_(parts.seams, WorkRole::kMiner) {}

void MinerRole::plan() {
    look_at_order();
    note_terms();
    if (!registered(WorkRole::kMiner)) return end_if_drained();
    note_pace();
    take_over_notes();
    for (const auto& [key, training] : training_) {
        const auto job = contracts::read_job_progress(state(), std::get<0>(key));
        if (!job || contracts::is_over(job->phase)) parts().seams.worker.cancel(training.request);
    }
    if (quarreller_.plays()) {
        quarreller_.follow(state(), height());
    } else {
        games_.follow(state(), height());
    }
    games_.compute(state(), true, !has_free_device());
    plan_jobs([this](const contracts::Job& job) { plan_bidding(job); },
              [this](const contracts::Job& job) { plan_round(job); });
    plan_trade();
    games_.compute(state(), false, !has_free_device());
    if (outward_node(parts().endpoint) && std::exchange(lent_at_, height()) != height())
        parts().seams.blobs.lend_to(outward_peers(state(), me()));
    forget_ended_jobs();
    bench_.tidy(state(), height(), me(), [this](std::set<BlobId>& needed) { keep_own(needed); });
    end_if_drained();
}

bool MinerRole::checked_before_asking(const contracts::Job& job) {
    // What the ledger would refuse is not worth a download.
    const base::Amount needed =
        contracts::stake_to_ask(state(), contracts::params_of(state(), job), job, me());
    if (job.auction.asks_sealed >= contracts::kMaxAsks ||
        contracts::read_stake(state(), me()).free < needed) {
        return false;
    }
    // Without the data it would pay for rounds in which it cannot train.
    if (!bench_.gather(state(), job, Pin::kEvictable)) return false;
    const Worker worker = is_working() || games_.computing() ? Worker::kAtWork : Worker::kFree;
    return bench_.fits(state(), job, worker) && bench_.vouched(state(), job, worker);
}

void MinerRole::plan_bidding(const contracts::Job& job) {
    if (job.phase == contracts::JobPhase::kRefill) return plan_join(job);
    const auto ask = contracts::read_ask(state(), job.id, me());
    if (job.phase == contracts::JobPhase::kAskCommit && !ask) {
        // Whose machine is on offer for whole epochs cannot promise it to a job besides.
        if (options_.trade || leased_by(state(), me()) || !takes_on(job)) return;
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
    for (const auto& [key, training] : training_) {
        const auto& [of, number, slot] = key;
        if (of != job.id || (number == job.round && round->phase == contracts::RoundPhase::kCommit)) continue;
        parts().seams.worker.cancel(training.request);  // its round went on without it
    }
    for (const contracts::SlotRound& slot : own_slots(job)) plan_slot(job, *round, slot);
    move_late_slots(job, *round);
    forget_old_rounds(job);
}

void MinerRole::plan_slot(const contracts::Job& job, const contracts::Round& round,
                          const contracts::SlotRound& slot) {
    const SlotKey key{job.id, job.round, slot.slot};
    if (conducts(Misconduct::kSquatter)) return;
    if (round.phase == contracts::RoundPhase::kCommit && !slot.committed) {
        SlotWork& work = work_of(key);
        if (work.complete && !can_be_served(work))
            (void)lose(work, "its states are not in the store any more");
        if (work.complete && !begins_rightly(job, work)) return;
        if (work.complete) return commit(job, slot, work);
        if (training_.contains(key) || failed_.contains(key) || !may_begin(job)) return;
        if (!in_time(job, round, work)) return;
        const contracts::CarriedIn carried = contracts::carried_in(state(), job.id, job.round, slot.slot);
        const auto holds = carried.nothing() ? std::nullopt : carried_files(carried, job, slot.slot);
        if (!carried.nothing() && !holds) return;  // withheld: the slot stays unpaid, and restarts from zero
        if (makes_base(job)) return;
        if (const auto base = bench_.ready(state(), job)) train(job, slot, {*base, carried.root, holds});
    }
    if (!slot.committed || conducts(Misconduct::kSilentAfterDraw)) return;
    const SlotWork& work = sealed_work(job, slot);
    if (round.phase == contracts::RoundPhase::kServe && !slot.served) {
        if (work.complete) serve(job, slot, work);
    }
    // From here on everything about the slot is sealed and opened by those who judge it.
    if (round.phase < contracts::RoundPhase::kReveal) return;
    if (!work.complete || !serve_result(job, work)) return;
    if (round.phase == contracts::RoundPhase::kReveal && !slot.revealed) reveal(job, work);
}

std::optional<StateFiles> MinerRole::carried_files(const contracts::CarriedIn& carried,
                                                   const contracts::Job& job, std::uint32_t slot) {
    return bench_.wants().want_state(
        carried.blob, holders_of_carried(state(), job, slot, me()),
        slot_terms(job.spec, program::strategy_of(job.spec).carried_arrays, Traffic::kCarried));
}

bool MinerRole::begins_rightly(const contracts::Job& job, SlotWork& work) {
    const contracts::CarriedIn carried = contracts::carried_in(state(), job.id, job.round, work.slot);
    const auto first =
        program::first_state_root(job.spec, {job.round, job.base_root, carried.root}, work.start);
    if (!work.trace.boundaries.empty() && first == work.trace.boundaries.front()) return true;
    const SlotKey key{work.job, work.round, work.slot};
    if (failed_.contains(key)) return false;
    // Its base may have changed on the disk. Another slot may have had it made again by now.
    if (begun_again_.insert(key).second) {
        (void)bench_.drop_changed_base(job, job.base_blob);
        (void)lose(work, "its trace does not begin with the round's base");
        return false;
    }
    // A base whose counters are another round's has such a root, and a state that was carried wrongly.
    failed_.insert(key);
    log().error(
        round_name(job.id, job.round) + " slot " + std::to_string(work.slot) +
        " is not committed: its trace does not begin with the round's base, and the ledger would refuse "
        "to open it");
    return false;
}

contracts::CommitStatement MinerRole::statement_of(const contracts::Job& job, const SlotWork& work) {
    return {.job = job.id,
            .round = job.round,
            .slot = work.slot,
            .miner = me(),
            .base_root = job.base_root,
            .trace_root = program::trace_root(work.trace, job.spec, work.salt),
            .salt = contracts::commit_salt(work.salt)};
}

void MinerRole::commit(const contracts::Job& job, const contracts::SlotRound& slot, const SlotWork& work) {
    offer("commit " + round_name(job.id, job.round) + " slot " + std::to_string(slot.slot),
          contracts::RoundCommit{.job = job.id,
                                 .round = job.round,
                                 .slot = slot.slot,
                                 .seal = contracts::commit_seal(chain_id(), statement_of(job, work))});
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
        auto noted = slot_work_of(**kept);
        const bool is_its_own = noted && SlotKey{noted->job, noted->round, noted->slot} == key;
        if (is_its_own) work = *std::move(noted);
    }
    return work;
}

bool MinerRole::store(const SlotWork& work) {
    auto written = parts().seams.disk.write(slot_note(work.job, work.round, work.slot), base::encode(work));
    if (!written.ok()) fail_with(OwnFailure::kNotes, written.error());
    return written.ok();
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
            for (const SlotWork& doubted : doubted_of({id, job->round, slot.slot})) {
                needed.insert(doubted.boundary_blobs.begin(), doubted.boundary_blobs.end());
                needed.insert(doubted.update_blob);
            }
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
    std::erase_if(too_long_, is_over);
    std::erase_if(priced_, is_over);
    std::erase_if(leased_for_, is_over);
    std::erase_if(segment_ns_, [&](const auto& entry) { return is_over(entry.first.first); });
    for (std::set<SlotKey>* const slots : {&late_, &moved_})
        std::erase_if(*slots, [&](const SlotKey& key) { return is_over(std::get<0>(key)); });
    // The states lost their pins with the last claim's end, and are served until their room is needed.
    std::erase_if(works_, [this](const auto& entry) {
        const SlotWork& work = entry.second;
        const bool ended = contracts::has_ended(state(), work.job);
        if (ended) (void)parts().seams.disk.remove(slot_note(work.job, work.round, work.slot));
        if (ended) forget_doubted(entry.first);
        return ended;
    });
}

void MinerRole::forget_old_rounds(const contracts::Job& job) {
    forget_updates(
        [&](const base::Hash256& id, std::uint32_t round) { return id == job.id && round + 1 < job.round; });
    std::erase_if(base_not_made_,
                  [&](const auto& key) { return key.first == job.id && key.second < job.round; });
    for (std::set<SlotKey>* slots : {&failed_, &begun_again_}) {
        std::erase_if(*slots, [&](const SlotKey& key) {
            return std::get<0>(key) == job.id && std::get<1>(key) < job.round;
        });
    }
    std::erase_if(segment_ns_, [&](const auto& entry) {
        return entry.first.first == job.id && entry.first.second < job.round;
    });
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
        for (const SlotWork& doubted : doubted_of(entry.first)) {
            dropped.insert(doubted.boundary_blobs.begin(), doubted.boundary_blobs.end());
            if (!doubted.update_blob.is_zero()) dropped.insert(doubted.update_blob);
        }
        forget_doubted(entry.first);
        return true;
    });
    if (dropped.empty()) return;
    keep_own(kept);
    bench_.keep_open_rounds(state(), me(), kept);
    drop_states(parts().files, std::move(dropped), std::move(kept));
}

}  // namespace assay::node
