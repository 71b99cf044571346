// SPDX-License-Identifier: Apache-2.0
#include "node/sim/stand_in_worker.hpp"

#include <algorithm>

#include "contracts/program/contradiction.hpp"

namespace assay::node::sim {

namespace frames = worker;

namespace {

std::uint32_t chosen_segment(SlotTurn place, const program::RoundPlan& plan) {
    return (place.slot + place.round) % plan.segments();
}

}  // namespace

std::string_view nonce_of(FalseUnits units, std::uint32_t unit, SlotTurn place,
                          const program::RoundPlan& plan) {
    constexpr std::string_view kFalse = "false";
    const bool finalise = plan.is_finalise(unit);
    switch (units) {
        case FalseUnits::kNone: return {};
        case FalseUnits::kAll: return finalise ? std::string_view() : kFalse;
        case FalseUnits::kFirst: return unit == 0 ? kFalse : std::string_view();
        case FalseUnits::kLast: return unit + 1 == plan.finalise() ? kFalse : std::string_view();
        case FalseUnits::kOne: return unit == chosen_segment(place, plan) ? kFalse : std::string_view();
        case FalseUnits::kFinalise: return finalise ? kFalse : std::string_view();
        case FalseUnits::kPlace: return {};
    }
    return {};
}

void StandInWorker::submit(RequestId request, frames::Message message,
                           std::vector<frames::SharedDescriptor> bulk) {
    Waiting waiting{request, std::move(message), {}};
    for (const frames::SharedDescriptor& file : bulk) {
        auto behind = shared_.files().behind(file);
        waiting.bulk.push_back(behind.ok() ? std::move(behind).value() : SharedFiles::of({}));
    }
    waiting_.push_back(std::move(waiting));
}

void StandInWorker::cancel(RequestId request) {
    std::erase_if(answers_, [&](const WorkerAnswered& answer) { return answer.request == request; });
    std::erase_if(waiting_, [&](const Waiting& waiting) { return waiting.request == request; });
    give(request, {frames::Refusal{frames::RefusalReason::kCancelled, "cancelled", {}}, {}}, true);
}

std::optional<WorkerAnswered> StandInWorker::take() {
    if (answers_.empty() && !waiting_.empty()) work();
    if (answers_.empty()) return std::nullopt;
    WorkerAnswered answer = std::move(answers_.front());
    answers_.pop_front();
    return answer;
}

void StandInWorker::give(RequestId request, StandInAnswer answer, bool last) {
    WorkerAnswered answered{request, std::move(answer.message), {}, last};
    for (const FileRef& made : answer.bulk) {
        auto file = shared_.files().open(made);
        if (!file.ok()) {
            // This machine has no descriptor or memory left: the role tries again, as with a real worker.
            answered = {
                request, frames::Refusal{frames::RefusalReason::kInternal, file.error().what, {}}, {}, true};
            break;
        }
        answered.bulk.push_back(std::move(file).value());
    }
    answers_.push_back(std::move(answered));
}

void StandInWorker::work() {
    if (!behaviour_.trains && std::holds_alternative<frames::Train>(waiting_.front().message)) return;
    const Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    const bool opens = std::holds_alternative<frames::OpenJob>(next.message);
    StandInAnswer answered =
        !opens && !job_
            ? StandInAnswer{frames::Refusal{frames::RefusalReason::kNoJob, "no job is open", {}}, {}}
            : std::visit([&](const auto& message) { return answer(message, next); }, next.message);
    give(next.request, std::move(answered), true);
}

template <class Other>
StandInWorker::StandInAnswer StandInWorker::answer(const Other&, const Waiting&) {
    return {frames::Refusal{frames::RefusalReason::kBadRequest, "no request of a role", {}}, {}};
}

StandInWorker::StandInAnswer StandInWorker::answer(const frames::OpenJob& request, const Waiting&) {
    spec_ = request.spec;
    job_ = shared_.chain_of(request.spec);
    return {frames::Opened{.parameters = program::parameter_count(spec_.model),
                           .work_units = program::work_units(spec_),
                           .step_bytes = 0},
            {}};
}

StandInWorker::StandInAnswer StandInWorker::answer(const frames::Initial&, const Waiting&) {
    FileRef file = job_->initial();
    const Hash256 root = job_->base_root(file);
    return {frames::BaseStateFrame{root}, {std::move(file)}};
}

FalseUnits StandInWorker::falsifies(SlotTurn place) const {
    return behaviour_.verdicts == Verdicts::kColludes ? accomplice_(place) : behaviour_.false_units;
}

ChainState StandInWorker::claimed_end(std::uint32_t segment, const Hash256& start, SlotTurn place) const {
    const FalseUnits lie = behaviour_.false_units;
    const ChainState& end = job_->behind(segment, start, place, nonce_of(lie, segment, place, job_->plan()));
    return lie == FalseUnits::kPlace && segment == 0 ? end.at_step(end.head.step + 1) : end;
}

StandInWorker::StandInAnswer StandInWorker::answer(const frames::Train& request, const Waiting& waiting) {
    const program::RoundPlan& plan = job_->plan();
    const SlotTurn place{request.round, request.slot};
    const FalseUnits lie = behaviour_.false_units;
    program::TraceRecord trace;
    Hash256 at = job_->first_root(waiting.bulk.front(), place);
    trace.boundaries.push_back(at);
    for (std::uint32_t segment = 0; segment < plan.segments(); ++segment) {
        ChainState end = claimed_end(segment, at, place);
        at = end.root;
        trace.boundaries.push_back(at);
        for (const program::Fingerprint& one : job_->fingerprints(segment, at))
            trace.fingerprints.push_back(one);
        give(waiting.request, {frames::Boundary{segment + 1, trace}, std::move(end.files)}, false);
    }
    const FileRef update = SharedFiles::of(job_->update(at, nonce_of(lie, plan.finalise(), place, plan)));
    trace.update = job_->update_root(update->bytes);
    auto start = program::first_state_parts(job_->base_roots(waiting.bulk.front()), std::nullopt);
    return {frames::Trained{std::move(trace), std::move(start), 1'000'000, 0}, {update}};
}

std::optional<Hash256> StandInWorker::start_of(const frames::Replay& request, const Waiting& waiting,
                                               frames::Replayed& verdict) const {
    const SlotTurn place{request.round, request.slot};
    const program::UnitStart start = job_->plan().start(request.unit);
    if (start.base && job_->base_root(waiting.bulk.front()) != request.base_root) {
        verdict.verdict = frames::UnitVerdict::kUnavailable;
        verdict.why = "the base state does not have its root";
        return std::nullopt;
    }
    if (!start.boundary) return job_->first_root(waiting.bulk.front(), place);
    const std::size_t first = start.base ? 1 : 0;
    const auto head =
        first < waiting.bulk.size() ? job_->read_head(waiting.bulk[first]->bytes) : std::nullopt;
    bool whole = head && program::state_root(program::roots_of(*head)) == request.start_root;
    for (std::size_t i = 0; whole && i < start.arrays.size(); ++i) {
        const program::StatePart* part = head->part(start.arrays[i]);
        whole = part != nullptr && first + 1 + i < waiting.bulk.size() &&
                job_->is_part(*part, waiting.bulk[first + 1 + i]);
    }
    if (!whole) {
        verdict.verdict = frames::UnitVerdict::kUnavailable;
        verdict.why = "the start has not its root";
        return std::nullopt;
    }
    // An accomplice vouches for what follows from a state that cannot stand there.
    const bool vouches = behaviour_.verdicts == Verdicts::kColludes && falsifies(place) == FalseUnits::kPlace;
    if (!vouches && head->step != job_->plan().step_at(*start.boundary)) {
        verdict.verdict = frames::UnitVerdict::kMisplaced;
        verdict.parts.unit_root = program::misplaced_unit_root(request.start_root);
        verdict.why = "the state is of step " + std::to_string(head->step);
        return std::nullopt;
    }
    return request.start_root;
}

StandInWorker::StandInAnswer StandInWorker::compute(const frames::Replay& request, const Hash256& start,
                                                    frames::Replayed replayed) const {
    const program::RoundPlan& plan = job_->plan();
    const SlotTurn place{request.round, request.slot};
    std::string_view nonce = nonce_of(falsifies(place), request.unit, place, plan);
    const bool heads = behaviour_.verdicts == Verdicts::kCoin && (request.slot + request.round) % 2 == 0;
    // A player of a game who has to be right asks for no end.
    if (request.want_end_state && (behaviour_.verdicts == Verdicts::kMadeUp || heads)) nonce = "made up";
    if (plan.is_finalise(request.unit)) {
        const FileRef update = SharedFiles::of(job_->update(start, nonce));
        replayed.parts.update = job_->update_root(update->bytes);
        replayed.parts.unit_root = program::finalise_unit_root(replayed.parts.update);
        return {std::move(replayed), {update}};
    }
    ChainState end = job_->behind(request.unit, start, place, nonce);
    if (falsifies(place) == FalseUnits::kPlace && request.unit == 0) end = end.at_step(end.head.step + 1);
    replayed.parts.end_root = end.root;
    replayed.parts.fingerprints = job_->fingerprints(request.unit, replayed.parts.end_root);
    replayed.parts.unit_root =
        program::segment_unit_root(replayed.parts.end_root, replayed.parts.fingerprints, std::nullopt);
    return {std::move(replayed), std::move(end.files)};
}

StandInWorker::StandInAnswer StandInWorker::answer(const frames::Replay& request, const Waiting& waiting) {
    frames::Replayed replayed;
    replayed.nanoseconds = 1'000'000;
    const auto start = start_of(request, waiting, replayed);
    if (!start) return {std::move(replayed), {}};
    return compute(request, *start, std::move(replayed));
}

StandInWorker::StandInAnswer StandInWorker::answer(const frames::Merge& request, const Waiting& waiting) {
    std::vector<Hash256> updates;
    for (const frames::Merge::Entry& entry : request.accepted) updates.push_back(entry.update_root);
    if (behaviour_.merges_false) updates.push_back(base::hash("assay/sim/false", {}));
    FileRef file = job_->merged(waiting.bulk.front(), updates);
    const Hash256 root = job_->base_root(file);
    return {frames::BaseStateFrame{root}, {std::move(file)}};
}

StandInWorker::StandInAnswer StandInWorker::answer(const frames::Evaluate&, const Waiting& waiting) {
    const Hash256 root = job_->base_root(waiting.bulk.front());
    return {frames::Evaluated{0x3f800000U | root.bytes[0], 1}, {}};
}

StandInWorker::StandInAnswer StandInWorker::answer(const frames::Root& request, const Waiting& waiting) {
    if (request.kind == frames::BulkKind::kUpdate)
        return {frames::Rooted{job_->update_root(waiting.bulk.front()->bytes)}, {}};
    if (request.kind == frames::BulkKind::kBaseState)
        return {frames::Rooted{job_->base_root(waiting.bulk.front())}, {}};
    const auto head = job_->read_head(waiting.bulk.front()->bytes);
    if (!head) return {frames::Refusal{frames::RefusalReason::kBadBytes, "no head", {}}, {}};
    return {frames::Rooted{program::state_root(program::roots_of(*head))}, {}};
}

}  // namespace assay::node::sim
