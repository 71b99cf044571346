// SPDX-License-Identifier: Apache-2.0
#include "node/roles/verifier.hpp"

#include <algorithm>
#include <utility>

#include "contracts/program/kept_bytes.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/state/limits.hpp"
#include "node/roles/beacon_keeper.hpp"
#include "node/roles/job_note.hpp"
#include "node/roles/outward_peers.hpp"
#include "node/roles/room_to_keep.hpp"

namespace assay::node {

using contracts::RoundPhase;
using contracts::Stage;

VerifierRole::VerifierRole(const RoleParts& parts, VerifierOptions options)
    : FollowingRole(parts),
      options_(std::move(options)),
      bench_(parts.seams, parts.files, requests(), parts.genesis.chain_id),
      games_(this->parts().seams, this->parts().files, requests(), bench_, me(),
             {.offer = [this](const std::string& name,
                              contracts::Payload payload) { offer(name, std::move(payload)); },
              .served = [this](const contracts::Job& job,
                               const dispute::UnitClaim& unit) { return served_start(job, unit); },
              .give_way = [this](const base::Hash256&, const std::string& why) { give_way(why); },
              .has_room = [this](const contracts::Job& job) { return has_room_beside(job); }}),
      challenger_(
          this->parts().seams, this->parts().files, requests(), bench_, this->parts().node_key,
          options_.challenge,
          [this](const std::string& name, contracts::Payload payload) { offer(name, std::move(payload)); },
          [this](const contracts::Job& job) { return has_room_beside(job); }),
      quarreller_(
          options_.conducts, me(), options_.accomplice, log(),
          [this](const std::string& name, contracts::Payload payload) { offer(name, std::move(payload)); }),
      orders_(parts.seams, WorkRole::kVerifier) {}

void VerifierRole::plan() {
    (void)orders_.look(height());
    if (!registered(WorkRole::kVerifier)) return end_if_drained();
    forget_ended_jobs();
    doubt_merges();
    challenger_.set_rate(challenge_rate());
    challenger_.follow(state(), height());
    if (quarreller_.plays()) {
        quarreller_.follow(state(), height());
    } else {
        games_.follow(state(), height());
    }
    compute_games(true);
    plan_jobs([this](const contracts::Job& job) { plan_bidding(job); },
              [this](const contracts::Job& job) { plan_round(job); });
    compute_games(false);
    if (std::exchange(admitted_at_, height()) != height())
        parts().seams.blobs.admit(outward_miners(state(), me()));
    // Called at the start, and whenever a round was settled or the last claim of one closed.
    bench_.tidy(
        state(), height(), me(),
        [this](std::set<BlobId>& needed) {
            keep_own(needed);
            forget_notes();
        },
        [this](std::set<BlobId>& blobs) {
            challenger_.add_borrowed(state(), blobs);
            games_.add_borrowed(blobs);
        });
    end_if_drained();
}

// A challenge of its own has time: what it owes, or a window of three seal windows and more.
void VerifierRole::compute_games(bool first) {
    games_.compute(state(), first, computing_ || challenger_.computing());
    if (!first && !is_busy()) challenger_.compute(state());
}

std::optional<ServedState> VerifierRole::served_start(const contracts::Job& job,
                                                      const dispute::UnitClaim& unit) {
    const bool is_of_slot = unit.kind != dispute::UnitKind::kMerge && unit.kind != dispute::UnitKind::kClip;
    const auto serve =
        contracts::read_serve(state(), job.id, static_cast<std::uint32_t>(unit.round), unit.slot);
    if (!is_of_slot || !serve) return std::nullopt;
    const program::RoundPlan plan(job.spec);
    const std::uint32_t number = unit.kind == dispute::UnitKind::kSegment ? unit.segment : plan.finalise();
    const contracts::RunStart* nearest = nullptr;
    for (const contracts::RunStart& start : serve->starts) {
        if (start.unit <= number && (nearest == nullptr || start.unit > nearest->unit)) nearest = &start;
    }
    if (nearest == nullptr) return std::nullopt;
    StateFiles files = open_state(parts().files, nearest->blob,
                                  slot_terms(job.spec, plan.start(nearest->unit).arrays, Traffic::kAudit));
    if (files.empty()) return std::nullopt;
    return ServedState{.unit = nearest->unit, .root = nearest->root, .files = std::move(files)};
}

std::optional<base::Amount> VerifierRole::lock_for(const contracts::Job& job) {
    const contracts::Params params = contracts::params_of(state(), job);
    const auto least = contracts::enlistment_minimum(params, job.spec, job.slot_work);
    const auto link = contracts::link_bond(params, job.spec, job.slot_work);
    const base::Amount most = std::max(options_.lock, params.verifier_bond);
    if (!least || *least > most || !link || *link > most) {
        if (left_alone_.insert(job.id).second)
            log().warn("job " + job.id.brief() + " asks its verifiers to lock " +
                       (least ? base::to_text(*least) : "more than there is") + ", and " +
                       (link ? base::to_text(*link) : "more than there is") +
                       " behind its links; --lock allows " + base::to_text(most) + " for each");
        return std::nullopt;
    }
    const auto left = contracts::read_stake(state(), me()).free.minus(*link);
    if (!left) return std::nullopt;
    const base::Amount lock = std::min(most, *left);
    return lock < *least ? std::nullopt : std::optional(lock);
}

std::optional<std::string> VerifierRole::lacks_room(const contracts::Job& job, const StoreRoom& room) const {
    return no_room_to_keep(state(), job, me(), room, [this](const contracts::Job& one) {
        return program::most_kept(one.spec, contracts::params_of(state(), one).claim_window).verifier;
    });
}

bool VerifierRole::has_room_beside(const contracts::Job& job) const {
    // What is pinned may be another such job's, and not what its own jobs were promised.
    const StoreRoom room = parts().files.room();
    return !lacks_room(job, {.whole = room.whole - std::min(room.whole, room.pinned), .pinned = 0});
}

bool VerifierRole::can_keep(const contracts::Job& job) {
    const auto why = lacks_room(job, parts().files.room());
    if (why && no_room_.insert(job.id).second)
        log().warn("job " + job.id.brief() + " is not enlisted for: " + *why);
    return !why;
}

bool VerifierRole::checked_before_enlisting(const contracts::Job& job) {
    // What the ledger would refuse is not worth a download.
    const auto key = contracts::read_node_key(state(), me());
    if (!key || contracts::is_of_buyer(state(), job, key->owner) ||
        job.verifiers.size() >= contracts::kMaxVerifiers)
        return false;
    // A buyer that serves its data to miners alone would have them work unpaid: nobody could audit them.
    if (!bench_.gather(state(), job, Pin::kEvictable)) return false;
    // One that cannot hold a step would miss every audit that is drawn for it.
    const Worker worker = is_busy() ? Worker::kAtWork : Worker::kFree;
    return bench_.fits(state(), job, worker) && bench_.vouched(state(), job, worker);
}

void VerifierRole::on_not_done(const base::Hash256& job, const std::string& what,
                               const WorkerAnswered& answer, bool& given_up) {
    const base::Error why = not_done("job " + job.brief() + ": " + what, answer);
    const auto* refusal = std::get_if<worker::Refusal>(&answer.message);
    const Remedy remedy = refusal != nullptr ? bench_.after_refusal(job, *refusal) : Remedy::kNever;
    if (remedy == Remedy::kEnd) return fail_with(OwnFailure::kUnsound, why);
    if (remedy == Remedy::kAgain) return log().warn(why.what + "; it is tried again");
    given_up = true;
    log().error(why);
}

void VerifierRole::keep_own(std::set<BlobId>& needed) {
    games_.keep(needed);
    for (const RecomputedFiles* files : {&own_updates_, &own_ends_}) {
        for (const auto& [key, recomputed] : *files) {
            if (recomputed.served) needed.insert(*recomputed.served);
        }
    }
    for (const auto& [key, work] : merges_) {
        if (work.claim) needed.insert(work.claim->base_blob);
    }
    // After a restart a sealed merge is known from its note alone.
    for (const base::Hash256& id : contracts::list_active_jobs(state())) {
        const auto job = contracts::read_job(state(), id);
        (void)kept_as_sealed<SealedMerge>(merge_file(id, job->round), [&](const SealedMerge& one) {
            needed.insert(one.claim.base_blob);
            return false;  // also the other one's
        });
        // Whoever goes on with what was stored here in the round before asks for it here.
        for (std::uint32_t slot = 0; slot < job->spec.slots; ++slot) {
            const contracts::CarriedIn carried = carried_in(*job, slot);
            if (!carried.nothing()) needed.insert(carried.blob);
        }
    }
}

void VerifierRole::plan_bidding(const contracts::Job& job) {
    // What the audits need stays from the promise on: another job's data does not take its room.
    if (takes_part(job, me())) return static_cast<void>(bench_.gather(state(), job));
    const bool late = job.phase == contracts::JobPhase::kRefill || job.round > 0;  // nobody enlists any more
    if (!options_.enlists || !orders_.takes_on_work() || late) return;
    const auto lock = lock_for(job);
    if (!lock || !can_keep(job) || !checked_before_enlisting(job)) return;
    const base::Hash256 secret = beacon_secret(parts().node_key, job.id.view());
    offer("enlist for job " + job.id.brief(),
          contracts::VerifierEnlist{
              .job = job.id, .beacon_tip = contracts::chain_tip(secret, job.spec.rounds), .stake = *lock});
}

void VerifierRole::plan_round(const contracts::Job& job) {
    if (!conducts(Misconduct::kLinkWithholding)) open_links(job);
    if (!takes_part(job, me())) return;  // others' work, and others' bytes
    // Kept and served with the base states, so that a model can be fetched when the buyer is gone.
    (void)bench_.wants().want(job.spec.data.tokenizer, holders_of_base(state(), job));
    (void)bench_.wants().want(job.spec.data.manifest, holders_of_base(state(), job));
    const auto round = contracts::read_round(state(), job.id, job.round);
    if (!round) return;
    serve_recomputed(job, *round);
    if (round->phase > RoundPhase::kReveal) tell_findings(job);
    switch (round->phase) {
        case RoundPhase::kAuditSeal: return plan_audit(job, Stage::kPanel);
        case RoundPhase::kConfirmSeal: return plan_audit(job, Stage::kConfirm);
        case RoundPhase::kAuditOpen: open_audit(job, Stage::kPanel); return open_audit(job, Stage::kConfirm);
        case RoundPhase::kRedrawSeal: return plan_audit(job, Stage::kRedraw);
        case RoundPhase::kRedrawOpen: return open_audit(job, Stage::kRedraw);
        case RoundPhase::kStore: return plan_storage(job, *round);
        case RoundPhase::kMergeSeal: return plan_merge(job, *round);
        case RoundPhase::kMergeOpen: return open_merge(job, *round);
        default: break;
    }
    // While miners train, have what the audit needs here already.
    (void)bench_.gather(state(), job);
    forget_old_rounds(job);
}

void VerifierRole::open_links(const contracts::Job& job) {
    keep_beacon(
        state(), job, me(), beacon_secret(parts().node_key, job.id.view()),
        [this](const std::string& name, contracts::Payload payload) { offer(name, std::move(payload)); });
}

std::string merge_file(const base::Hash256& job, std::uint32_t round) {
    return job_note("merge", job, {round});
}

template <class Record>
std::optional<Record> VerifierRole::kept(const std::string& file) {
    auto bytes = parts().seams.disk.read(file);
    if (!bytes.ok()) {
        fail_with(OwnFailure::kNotes, bytes.error());
        return std::nullopt;
    }
    if (!bytes->has_value()) return std::nullopt;
    auto record = base::decode<Record>(**bytes);
    if (!record.ok()) return std::nullopt;
    return std::move(record).value();
}

template <class Record>
bool VerifierRole::keep(const std::string& file, const Record& record) {
    auto written = parts().seams.disk.write(file, base::encode(record));
    if (!written.ok()) fail_with(OwnFailure::kNotes, written.error());
    return written.ok();
}

template std::optional<SealedAudit> VerifierRole::kept(const std::string&);
template std::optional<SealedMerge> VerifierRole::kept(const std::string&);
template bool VerifierRole::keep(const std::string&, const SealedAudit&);
template bool VerifierRole::keep(const std::string&, const SealedMerge&);

}  // namespace assay::node
