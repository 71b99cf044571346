// SPDX-License-Identifier: Apache-2.0
// WorkerJob: what a player of a dispute asks.
#include <chrono>

#include "contracts/program/round_law.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/program/state_root.hpp"
#include "node/worker/program/job.hpp"
#include "node/worker/program/request_files.hpp"
#include "node/worker/program/request_updates.hpp"

namespace assay::verifier {

using base::Result;
using frames::Refusal;
using frames::RefusalReason;

namespace {
// Once a job is open, a failed preflight is of this machine's arithmetic.
base::Failed<Refusal> refuse_answer(const base::Error& error) {
    Refusal refusal = to_refusal(error);
    if (error.kind == base::ErrorKind::kPreflight) refusal.reason = RefusalReason::kUnsound;
    return base::failed(std::move(refusal));
}
}  // namespace

Result<trainer::SlotState, Refusal> WorkerJob::descend_start(const frames::Descend& request,
                                                             const RequestContext& context) const {
    const program::JobSpec& spec = runner_->spec();
    const dispute::Question& question = request.question;
    std::size_t at = 0;
    if (question.at.segment > 0 || request.from_step) {
        ASSAY_ASSIGN(auto state, slot_state(context, at, program::strategy_of(spec).lane_arrays));
        ASSAY_TRY(all_taken(context.bulk, at));
        if (const base::Hash256 root = runner_->state_root(state); root != request.start_root) {
            return refuse(RefusalReason::kBadBytes,
                          "the slot state has root " + root.brief() + ", not " + request.start_root.brief());
        }
        return state;
    }
    ASSAY_ASSIGN(const auto base, base_of(question.round, context));
    ++at;
    std::optional<trainer::CarriedState> carried;
    if (!request.carried_in.is_zero()) {
        if (!program::carries_state(spec)) {
            return refuse(RefusalReason::kBadRequest, "a slot of this job carries nothing over rounds");
        }
        ASSAY_ASSIGN(auto end, slot_state(context, at, program::strategy_of(spec).carried_arrays));
        carried = trainer::carried_of(std::move(end));
        if (runner_->carried_root(*carried) != request.carried_in) {
            return refuse(RefusalReason::kBadBytes, "the state to go on from is not the carried one (root " +
                                                        request.carried_in.brief() + ")");
        }
    }
    ASSAY_TRY(all_taken(context.bulk, at));
    auto start = runner_->start(base, carried ? &*carried : nullptr);
    if (!start.ok()) return refuse_answer(start.error());
    return std::move(start).value();
}

Answered WorkerJob::answer(const frames::Descend& request, const RequestContext& context) {
    const auto began = std::chrono::steady_clock::now();
    const dispute::Question& question = request.question;
    ASSAY_TRY(check_place(question.round, question.slot));
    if (question.at.segment >= program::RoundPlan(runner_->spec()).segments()) {
        return refuse(RefusalReason::kBadRequest, "the job has no such segment");
    }
    if (question.fault && !drills_allowed_) {
        return refuse(RefusalReason::kDrillForbidden,
                      "planted faults are for chains whose id begins with devnet");
    }
    ASSAY_ASSIGN(auto start, descend_start(request, context));
    const trainer::Watch watch = context.pulsing_watch();
    WorkerAnswer answer;
    frames::Descended descended;
    if (request.want_state) {
        auto state = runner_->state_before(std::move(start), question, watch);
        if (!state.ok()) return refuse_answer(state.error());
        ASSAY_ASSIGN(answer.bulk, files_of(*state, runner_->state_roots(*state)));
    } else {
        ASSAY_ASSIGN(const frames::Mapping tokens, map_file(train_file_));
        auto found = runner_->answer(std::move(start), question, tokens.bytes(), watch);
        if (!found.ok()) return refuse_answer(found.error());
        descended.answer = std::move(found).value();
    }
    const auto passed = std::chrono::steady_clock::now() - began;
    descended.nanoseconds =
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(passed).count());
    answer.message = std::move(descended);
    return answer;
}

Answered WorkerJob::answer_update(const frames::DescendArray& request, const RequestContext& context) {
    const program::RoundPlan plan(runner_->spec());
    ASSAY_ASSIGN(const auto base, base_of(request.round, context));
    std::size_t at = 1;
    ASSAY_ASSIGN(const auto claimed, claimed_state(context, at, plan.start(plan.finalise()).arrays));
    ASSAY_TRY(all_taken(context.bulk, at));
    if (!claimed.state || !claimed.roots || program::state_root(*claimed.roots) != request.end_root ||
        program::array_root(runner_->tensors(), claimed.state->parameters) != claimed.roots->parameters) {
        return refuse(RefusalReason::kBadBytes,
                      "the slot's end is not the one with root " + request.end_root.brief());
    }
    auto found = runner_->answer({&base, &*claimed.state, *claimed.roots, {}}, request.question);
    if (!found.ok()) return refuse_answer(found.error());
    return WorkerAnswer{frames::Descended{std::move(found).value(), 0}, {}};
}

Answered WorkerJob::answer(const frames::DescendArray& request, const RequestContext& context) {
    ASSAY_TRY(check_place(request.round, 0));
    if (request.question.subject == dispute::ArraySubject::kUpdate) return answer_update(request, context);
    std::size_t at = 0;
    std::optional<trainer::BaseState> base;
    if (request.question.subject != dispute::ArraySubject::kClip) {
        ASSAY_ASSIGN(base, base_of(request.round, context));
        ++at;
    }
    if (context.bulk.size() != at + request.merged.size()) {
        return refuse(RefusalReason::kBadRequest, "there is not an update for each entry");
    }
    RequestUpdates updates(*runner_);
    for (std::size_t i = 0; i < request.merged.size(); ++i) {
        const frames::DescendArray::Entry& entry = request.merged[i];
        ASSAY_TRY(check_place(request.round, entry.slot));
        if (i > 0 && entry.slot <= request.merged[i - 1].slot)
            return refuse(RefusalReason::kBadRequest, "the slots of a merge must ascend");
        ASSAY_TRY(check_share(entry.weight, entry.clip));
        ASSAY_TRY(
            updates.add(context.bulk[at + i], {entry.slot, entry.weight, entry.update_root, entry.clip}));
        context.pulse();
    }
    const trainer::Watch watch = context.pulsing_watch();
    auto found =
        runner_->answer({base ? &*base : nullptr, nullptr, {}, updates.accepted()}, request.question, watch);
    if (!found.ok()) return refuse_answer(found.error());
    return WorkerAnswer{frames::Descended{std::move(found).value(), 0}, {}};
}

}  // namespace assay::verifier
