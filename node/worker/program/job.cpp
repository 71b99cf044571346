// SPDX-License-Identifier: Apache-2.0
#include "node/worker/program/job.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>

#include "contracts/base/blob_id.hpp"
#include "contracts/base/bytes.hpp"
#include "contracts/program/program.hpp"
#include "contracts/program/round_law.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/program/state_head.hpp"
#include "node/worker/program/drill.hpp"
#include "node/worker/program/request_files.hpp"
#include "node/worker/program/request_updates.hpp"
#include "trainer/data/token_file.hpp"
#include "trainer/run/state_bytes.hpp"

namespace assay::verifier {

using base::failed;
using base::Result;
using frames::Refusal;
using frames::RefusalReason;
using trainer::Watch;

namespace {

constexpr std::uint32_t kMaxSampled = 4096;

RefusalReason reason_of(base::ErrorKind kind) {
    switch (kind) {
        case base::ErrorKind::kInterrupted: return RefusalReason::kCancelled;
        case base::ErrorKind::kUsage: return RefusalReason::kBadRequest;
        case base::ErrorKind::kVerification: return RefusalReason::kBadBytes;
        case base::ErrorKind::kRejected: return RefusalReason::kDiverged;
        case base::ErrorKind::kPreflight: return RefusalReason::kMachine;
        case base::ErrorKind::kUnreachable: return RefusalReason::kLost;  // of a device alone
        default: return RefusalReason::kInternal;
    }
}

/// A token file that is the one the spec names by content.
Result<std::vector<std::uint32_t>, Refusal> read_tokens(const frames::SharedDescriptor& file,
                                                        const char* name, const base::Hash256& id,
                                                        std::uint64_t count, std::uint32_t vocabulary) {
    ASSAY_ASSIGN(const frames::Mapping mapping, map_file(file));
    const base::Hash256 found = base::blob_id(mapping.bytes());
    if (found != id) {
        return refuse(RefusalReason::kBadBytes,
                      std::string(name) + " has blob id " + found.brief() + ", the job names " + id.brief());
    }
    auto tokens = trainer::parse_token_file(mapping.bytes(), vocabulary);
    if (!tokens.ok()) {
        return refuse(RefusalReason::kBadBytes, std::string(name) + ": " + tokens.error().what);
    }
    if (tokens->size() != count) {
        return refuse(RefusalReason::kBadBytes, std::string(name) + " has " + std::to_string(tokens->size()) +
                                                    " tokens, the job says " + std::to_string(count));
    }
    return std::move(tokens).value();
}

class RequestTimer {
public:
    [[nodiscard]] std::uint64_t nanoseconds() const {
        const auto passed = std::chrono::steady_clock::now() - start_;
        return static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::nanoseconds>(passed).count());
    }

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

std::uint64_t peak_rss_bytes() {
    rusage usage{};
    if (::getrusage(RUSAGE_SELF, &usage) != 0) return 0;
    return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

Watch training_watch(const RequestContext& context) {
    Watch watch;
    watch.cancel = context.cancel;
    watch.rest = context.rest;
    watch.progress = [&context](const trainer::StepReport& step) {
        context.report({frames::Progress{step.step, step.fingerprint.loss, step.fingerprint.norm}, {}});
    };
    return watch;
}

}  // namespace

Watch RequestContext::pulsing_watch() const {
    Watch watch;
    watch.cancel = cancel;
    watch.progress = [this](const trainer::StepReport&) { pulse(); };
    watch.batch = [this] { pulse(); };
    return watch;
}

Refusal to_refusal(const base::Error& error) {
    // One that the frame does not hold would end the stream; cut inside a character it would be no UTF-8.
    std::string fix = error.fix.substr(0, frames::kMaxFix);
    if (fix.size() < error.fix.size()) {
        while (!fix.empty() && !base::is_utf8(fix)) fix.pop_back();
    }
    return {reason_of(error.kind), error.what, std::move(fix)};
}

base::Failed<Refusal> refuse_work(const base::Error& error) {
    Refusal refusal = to_refusal(error);
    if (error.kind == base::ErrorKind::kPreflight) refusal.reason = RefusalReason::kUnsound;
    return failed(std::move(refusal));
}

Result<std::unique_ptr<WorkerJob>, Refusal> WorkerJob::open(const frames::OpenJob& request,
                                                            const std::vector<frames::SharedDescriptor>& bulk,
                                                            const trainer::RunnerOptions& options,
                                                            std::unique_ptr<trainer::Arena> arena) {
    const program::JobSpec& spec = request.spec;
    std::unique_ptr<WorkerJob> job(new WorkerJob());
    ASSAY_ASSIGN(job->train_, read_tokens(bulk[0], "the training token file", spec.data.train,
                                          spec.data.train_tokens, spec.model.vocabulary));
    ASSAY_ASSIGN(job->held_out_, read_tokens(bulk[1], "the held-out token file", spec.data.held_out,
                                             spec.data.held_out_tokens, spec.model.vocabulary));
    job->train_file_ = bulk[0];
    job->arena_ = std::move(arena);
    trainer::RunnerOptions runner_options = options;
    runner_options.device.cpu.arena = job->arena_.get();
    auto runner = trainer::JobRunner::create(spec, {job->train_}, {job->held_out_}, runner_options);
    if (!runner.ok()) return failed(to_refusal(runner.error()));
    job->runner_ = std::move(runner).value();
    job->work_units_ = program::work_units(spec);
    job->drills_allowed_ = request.chain_id.starts_with("devnet");
    return job;
}

WorkerJob::UpdateDecoder WorkerJob::update_decoder() const {
    return [&spec = runner_->spec()](base::ByteView bytes, std::uint64_t parameters) {
        return trainer::decode_update(bytes, parameters, spec);
    };
}

frames::Opened WorkerJob::opened() const {
    return {runner_->parameter_count(), work_units_, runner_->step_bytes()};
}

Result<void, Refusal> WorkerJob::check_place(std::uint32_t round, std::uint32_t slot) const {
    const program::JobSpec& spec = runner_->spec();
    if (round < spec.rounds && slot < spec.slots) return {};
    return refuse(RefusalReason::kBadRequest, "round " + std::to_string(round) + ", slot " +
                                                  std::to_string(slot) + " is outside the job's " +
                                                  std::to_string(spec.rounds) + " rounds and " +
                                                  std::to_string(spec.slots) + " slots");
}

Result<trainer::BaseState, Refusal> WorkerJob::base_state(const RequestContext& context) const {
    return read_bulk(context.bulk[0], runner_->parameter_count(), trainer::decode_base_state);
}

Result<trainer::BaseState, Refusal> WorkerJob::base_of(std::uint32_t round,
                                                       const RequestContext& context) const {
    ASSAY_ASSIGN(auto state, base_state(context));
    go_on(state, round);
    return state;
}

void WorkerJob::go_on(trainer::BaseState& base, std::uint32_t round) const {
    const std::uint64_t steps = std::uint64_t{round} * runner_->spec().train.inner_steps;
    if (base.step % runner_->spec().train.inner_steps == 0) base.step = std::max(base.step, steps);
}

Result<trainer::BaseState, Refusal> WorkerJob::given_initial(const frames::SharedDescriptor& file) const {
    const base::Hash256& named = runner_->spec().initial_blob;
    ASSAY_ASSIGN(const frames::Mapping mapping, map_file(file));
    if (const base::Hash256 found = base::blob_id(mapping.bytes()); found != named) {
        return refuse(RefusalReason::kBadBytes,
                      "the initial state has blob id " + found.brief() + ", the job names " + named.brief());
    }
    ASSAY_ASSIGN(auto state, read_bulk(file, runner_->parameter_count(), trainer::decode_base_state));
    const bool moved = std::any_of(state.outer_momentum.begin(), state.outer_momentum.end(),
                                   [](float number) { return std::bit_cast<std::uint32_t>(number) != 0; });
    if (state.step != 0 || moved) {
        return refuse(RefusalReason::kBadBytes, "the initial state is not one of round 0: " +
                                                    (moved ? std::string("it has outer momentum")
                                                           : "it is at step " + std::to_string(state.step)));
    }
    return state;
}

Answered WorkerJob::answer(const frames::Initial&, const RequestContext& context) {
    const bool given = !runner_->spec().initial_blob.is_zero();
    if (given != !context.bulk.empty()) {
        return refuse(RefusalReason::kBadRequest,
                      given ? "the job starts from a file, and none came with the request"
                            : "the job starts from its seed, and a file came with the request");
    }
    if (given) {
        ASSAY_ASSIGN(const auto state, given_initial(context.bulk[0]));
        return WorkerAnswer{frames::BaseStateFrame{runner_->base_root(state)}, {context.bulk[0]}};
    }
    const trainer::BaseState state = runner_->initial();
    ASSAY_ASSIGN(auto file, bulk_file("base state", trainer::encode_base_state(state)));
    return WorkerAnswer{frames::BaseStateFrame{runner_->base_root(state)}, {std::move(file)}};
}

Result<std::vector<frames::SharedDescriptor>, Refusal> WorkerJob::files_of(
    const trainer::SlotState& state, const program::StateRoots& roots) const {
    const auto arrays = program::strategy_of(runner_->spec()).lane_arrays;
    std::vector<frames::SharedDescriptor> files;
    ASSAY_ASSIGN(auto head, bulk_file("slot state",
                                      program::encode_state_head(trainer::slot_head(state, roots, arrays))));
    files.push_back(std::move(head));
    for (const program::StateArray array : arrays) {
        ASSAY_ASSIGN(auto file, bulk_file("array", trainer::array_file(trainer::array_of(state, array))));
        files.push_back(std::move(file));
    }
    return files;
}

Result<WorkerJob::ClaimedState, Refusal> WorkerJob::claimed_state(
    const RequestContext& context, std::size_t& at, std::span<const program::StateArray> arrays) const {
    ClaimedState claimed;
    if (at >= context.bulk.size()) return refuse(RefusalReason::kBadRequest, "a state is missing");
    ASSAY_ASSIGN(const frames::Mapping mapping, map_file(context.bulk[at++]));
    const auto head = program::decode_state_head(mapping.bytes());
    const program::JobSpec& spec = runner_->spec();
    const auto all = program::strategy_of(spec).lane_arrays;
    // Whoever fetched the state could not know what else it consists of.
    if (!head.ok() || !program::fits(*head, all, program::carries_state(spec))) return claimed;
    if (context.bulk.size() - at < arrays.size()) {
        return refuse(RefusalReason::kBadRequest, "an array of a state is missing");
    }
    claimed.roots = program::roots_of(*head);
    trainer::SlotState state = trainer::counters_of(*head);
    bool whole = true;
    for (const program::StateArray array : arrays) {
        ASSAY_ASSIGN(auto values,
                     read_claimed(context.bulk[at++], runner_->parameter_count(), trainer::decode_array));
        whole = whole && values.has_value();
        if (values) trainer::array_of(state, array) = std::move(*values);
    }
    if (whole) claimed.state = std::move(state);
    return claimed;
}

Result<trainer::SlotState, Refusal> WorkerJob::slot_state(const RequestContext& context, std::size_t& at,
                                                          std::span<const program::StateArray> arrays) const {
    ASSAY_ASSIGN(auto claimed, claimed_state(context, at, arrays));
    if (!claimed.state) return refuse(RefusalReason::kBadBytes, "a slot state of another model, or none");
    for (const program::StateArray array : arrays) {
        const auto& values = trainer::array_of(*claimed.state, array);
        if (!std::all_of(values.begin(), values.end(), [](float one) { return std::isfinite(one); })) {
            return refuse(RefusalReason::kBadBytes, "a slot state has a number that is not finite");
        }
    }
    return *std::move(claimed.state);
}

Result<std::optional<trainer::ResumePoint>, Refusal> WorkerJob::resume_point(const frames::Train& request,
                                                                             const RequestContext& context,
                                                                             std::size_t& at) const {
    if (!request.resume) return std::optional<trainer::ResumePoint>();
    const program::TraceRecord& so_far = *request.resume;
    const std::size_t reached = so_far.boundaries.size();
    if (reached < 2 || reached > program::RoundPlan(runner_->spec()).last_boundary() + std::size_t{1}) {
        return refuse(RefusalReason::kBadRequest,
                      "a trace with " + std::to_string(reached) + " boundaries cannot be resumed");
    }
    ASSAY_ASSIGN(auto state, slot_state(context, at, program::strategy_of(runner_->spec()).lane_arrays));
    if (runner_->state_root(state) != so_far.boundaries.back()) {
        return refuse(RefusalReason::kBadBytes, "the slot state to resume from is not the one of boundary " +
                                                    std::to_string(reached - 1));
    }
    return std::optional<trainer::ResumePoint>(trainer::ResumePoint{so_far, std::move(state)});
}

Result<std::optional<trainer::CarriedState>, Refusal> WorkerJob::carried_state(const frames::Train& request,
                                                                               const RequestContext& context,
                                                                               std::size_t& at) const {
    if (request.carried_in.is_zero()) return std::optional<trainer::CarriedState>();
    if (!program::carries_state(runner_->spec())) {
        return refuse(RefusalReason::kBadRequest, "a slot of this job carries nothing over rounds");
    }
    ASSAY_ASSIGN(auto end, slot_state(context, at, program::strategy_of(runner_->spec()).carried_arrays));
    auto carried = trainer::carried_of(std::move(end));
    if (runner_->carried_root(carried) != request.carried_in) {
        return refuse(RefusalReason::kBadBytes, "the state to go on from is not the carried one (root " +
                                                    request.carried_in.brief() + ")");
    }
    return std::optional<trainer::CarriedState>(std::move(carried));
}

Answered WorkerJob::answer(const frames::Train& request, const RequestContext& context) {
    const RequestTimer stopwatch;
    ASSAY_TRY(check_place(request.round, request.slot));
    if (!request.drills.empty() && !drills_allowed_) {
        return refuse(RefusalReason::kDrillForbidden,
                      "planted faults are for chains whose id begins with devnet");
    }
    if (std::string fault = drill_fault(*runner_, request.drills, request.round); !fault.empty()) {
        return refuse(RefusalReason::kBadRequest, std::move(fault));
    }
    ASSAY_ASSIGN(auto base, base_state(context));
    const program::StateRoots base_roots = runner_->base_roots(base);  // as the ledger names it
    go_on(base, request.round);
    base.outer_momentum = std::vector<float>();  // a slot needs the parameters alone
    std::size_t at = 1;                          // after the base state
    ASSAY_ASSIGN(const auto carried, carried_state(request, context, at));
    std::optional<program::CarriedParts> carried_parts;
    if (carried) carried_parts = runner_->carried_parts(*carried);
    const trainer::CarriedState* const goes_on = carried ? &*carried : nullptr;
    ASSAY_ASSIGN(auto resume, resume_point(request, context, at));
    ASSAY_TRY(all_taken(context.bulk, at));
    std::optional<Refusal> lost;
    const auto on_boundary = [&](const trainer::BoundaryReport& boundary) {
        auto files = files_of(boundary.state, boundary.roots);
        if (files.ok()) {
            context.report({frames::Boundary{boundary.index, boundary.so_far}, std::move(files).value()});
        } else {
            lost = files.error();
        }
    };
    const Watch watch = training_watch(context);
    auto round = request.drills.empty()
                     ? runner_->run_slot_steps(base, request.round, request.slot, std::move(resume),
                                               on_boundary, watch, goes_on)
                     : run_drilled_round(*runner_, base, request.round, request.slot, resume, request.drills,
                                         on_boundary, watch, goes_on, slot_before(request.round));
    if (!round.ok()) return refuse_work(round.error());
    if (request.drills.empty()) {
        // The update takes their place (beside_step_bytes).
        if (!program::carries_state(runner_->spec())) {
            round->end.first_moment = std::vector<float>();
            round->end.second_moment = std::vector<float>();
        }
        if (auto finished = runner_->finish_slot_round(base, *round); !finished.ok())
            return refuse_work(finished.error());
    }
    trained_ = {request.round, request.slot};
    if (lost) return failed(*lost);
    return trained(*round, program::first_state_parts(base_roots, carried_parts), stopwatch.nanoseconds());
}

std::optional<std::uint32_t> WorkerJob::slot_before(std::uint32_t round) const {
    if (!trained_ || trained_->first + 1 != round) return std::nullopt;
    return trained_->second;
}

Answered WorkerJob::trained(const trainer::SlotRoundOutcome& round, program::FirstStateParts start,
                            std::uint64_t nanoseconds) const {
    WorkerAnswer answer{frames::Trained{round.trace, std::move(start), nanoseconds, peak_rss_bytes()}, {}};
    if (round.update) {
        ASSAY_ASSIGN(auto file, bulk_file("update", trainer::encode_update(*round.update, runner_->spec())));
        answer.bulk.push_back(std::move(file));
    }
    return answer;
}

Result<void, Refusal> WorkerJob::read_replay(const frames::Replay& request, const RequestContext& context,
                                             UnitInput& input) const {
    const program::JobSpec& spec = runner_->spec();
    const program::RoundPlan plan(spec);
    const program::UnitStart start = plan.start(request.unit);
    std::size_t at = 0;
    if (start.base) {
        ASSAY_ASSIGN(auto base, base_state(context));
        input.base_found = runner_->base_root(base);  // as the ledger names it
        go_on(base, request.round);
        base.outer_momentum = std::vector<float>();  // a slot needs the parameters alone
        input.base = std::move(base);
        ++at;
    }
    if (start.carried && !request.carried_in.is_zero()) {
        ASSAY_ASSIGN(auto carried, claimed_state(context, at, start.arrays));
        input.carried = std::move(carried.state);
    }
    if (start.boundary) {
        ASSAY_ASSIGN(auto claimed, claimed_state(context, at, start.arrays));
        input.start = std::move(claimed.state);
        input.start_roots = claimed.roots;
    }
    return all_taken(context.bulk, at);
}

Answered WorkerJob::answer(const frames::Replay& request, const RequestContext& context) {
    const RequestTimer stopwatch;
    ASSAY_TRY(check_place(request.round, request.slot));
    const program::RoundPlan plan(runner_->spec());
    if (request.unit >= plan.units()) {
        return refuse(RefusalReason::kBadRequest,
                      "unit " + std::to_string(request.unit) + " does not exist; the job has " +
                          std::to_string(plan.units()) + " units per slot and round");
    }
    UnitInput input;
    input.place = {request.round, request.slot, request.unit};
    input.base_root = request.base_root;
    input.start_root = request.start_root;
    input.carried_in = request.carried_in;
    ASSAY_TRY(read_replay(request, context, input));
    Watch watch = context.pulsing_watch();
    watch.rest = context.rest;
    const auto computed = compute_unit(*runner_, input, watch);
    if (!computed.ok()) return refuse_work(computed.error());
    WorkerAnswer answer{
        frames::Replayed{computed->verdict, computed->parts, computed->why, stopwatch.nanoseconds()}, {}};
    if (request.want_end_state && computed->end) {
        ASSAY_ASSIGN(answer.bulk, files_of(*computed->end, computed->end_roots));
    } else if (request.want_end_state && computed->update) {
        ASSAY_ASSIGN(auto file,
                     bulk_file("update", trainer::encode_update(*computed->update, runner_->spec())));
        answer.bulk.push_back(std::move(file));
    }
    return answer;
}

Answered WorkerJob::answer(const frames::Merge& request, const RequestContext& context) {
    ASSAY_ASSIGN(auto base, base_of(request.round, context));
    RequestUpdates updates(*runner_);
    for (std::size_t i = 0; i < request.accepted.size(); ++i) {
        const frames::Merge::Entry& entry = request.accepted[i];
        ASSAY_TRY(check_place(request.round, entry.slot));
        if (i > 0 && entry.slot <= request.accepted[i - 1].slot) {
            return refuse(RefusalReason::kBadRequest, "the slots of a merge must ascend");
        }
        ASSAY_TRY(check_share(entry.weight, 0));
        ASSAY_TRY(updates.add(context.bulk[i + 1], {entry.slot, entry.weight, entry.update_root}));
        context.pulse();
    }
    const auto merged = runner_->merge(std::move(base), updates.accepted(), context.pulsing_watch());
    if (!merged.ok()) return refuse_work(merged.error());
    ASSAY_ASSIGN(auto file, bulk_file("base state", trainer::encode_base_state(*merged)));
    frames::BaseStateFrame answer{.root = runner_->base_root(*merged)};
    if (runner_->spec().has_norm_bound()) {
        for (const trainer::AcceptedUpdate& one : updates.accepted()) answer.clips.push_back(one.clip);
    }
    return WorkerAnswer{std::move(answer), {std::move(file)}};
}

Answered WorkerJob::answer(const frames::Evaluate& request, const RequestContext& context) {
    ASSAY_ASSIGN(const auto base, base_state(context));
    const Watch watch = context.pulsing_watch();
    const auto evaluation = request.beacon
                                ? runner_->evaluate_drawn(base.parameters, *request.beacon, watch)
                                : runner_->evaluate_held_out(base.parameters, request.max_sequences, watch);
    if (!evaluation.ok()) return refuse_work(evaluation.error());
    return WorkerAnswer{frames::Evaluated{evaluation->loss.bits, evaluation->tokens}, {}};
}

Answered WorkerJob::answer(const frames::Root& request, const RequestContext& context) {
    const std::uint64_t parameters = runner_->parameter_count();
    const frames::SharedDescriptor& file = context.bulk[0];
    base::Hash256 root;
    if (request.kind == frames::BulkKind::kBaseState) {
        ASSAY_ASSIGN(const auto state, base_state(context));
        root = runner_->base_root(state);
    } else if (request.kind == frames::BulkKind::kSlotState) {
        std::size_t at = 0;
        ASSAY_ASSIGN(const auto state,
                     slot_state(context, at, program::strategy_of(runner_->spec()).lane_arrays));
        ASSAY_TRY(all_taken(context.bulk, at));
        root = runner_->state_root(state);
    } else if (request.kind == frames::BulkKind::kCarried) {
        std::size_t at = 0;
        ASSAY_ASSIGN(auto state,
                     slot_state(context, at, program::strategy_of(runner_->spec()).carried_arrays));
        ASSAY_TRY(all_taken(context.bulk, at));
        root = runner_->carried_root(trainer::carried_of(std::move(state)));
    } else {
        ASSAY_ASSIGN(const auto update, read_bulk(file, parameters, update_decoder()));
        root = runner_->update_root(update);
    }
    return WorkerAnswer{frames::Rooted{root}, {}};
}

Answered WorkerJob::answer(const frames::Sample& request, const RequestContext& context) {
    if (request.count > kMaxSampled) {
        return refuse(RefusalReason::kBadRequest,
                      "at most " + std::to_string(kMaxSampled) + " tokens a sample");
    }
    ASSAY_ASSIGN(const auto base, base_state(context));
    auto tokens = runner_->sample(base.parameters,
                                  {request.prompt, request.count, request.temperature.value(), request.seed});
    if (!tokens.ok()) return refuse_work(tokens.error());
    return WorkerAnswer{frames::Sampled{std::move(tokens).value()}, {}};
}

}  // namespace assay::verifier
