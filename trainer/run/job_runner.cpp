// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/job_runner.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <numeric>
#include <string>
#include <utility>

#include "contracts/program/held_out.hpp"
#include "contracts/program/initial.hpp"
#include "contracts/program/round_law.hpp"
#include "contracts/program/spec_check.hpp"
#include "contracts/program/state_root.hpp"
#include "trainer/run/job_runner_impl.hpp"
#include "trainer/run/round_memory.hpp"
#include "trainer/step/device_failure.hpp"
#include "trainer/step/memory_budget.hpp"

namespace assay::trainer {

using base::ErrorKind;

namespace {
// Every token of a stream must be below the vocabulary, since an executor reads rows of the embedding by it.
base::Outcome<void> check_tokens(TokenView view, std::uint32_t vocabulary, const char* name) {
    for (std::size_t i = 0; i < view.tokens.size(); ++i) {
        if (view.tokens[i] >= vocabulary) {
            return base::fail(ErrorKind::kUsage,
                              std::string(name) + " token " + std::to_string(i) + " is " +
                                  std::to_string(view.tokens[i]) + ", but the vocabulary has " +
                                  std::to_string(vocabulary),
                              "pack the data with the vocabulary that the job names");
        }
    }
    return {};
}

}  // namespace

JobRunner::Impl::Impl(const program::JobSpec& job, TokenView train_tokens, TokenView held_out_tokens,
                      const RunnerOptions& options, std::unique_ptr<Device> opened)
    : spec(job),
      train(train_tokens),
      held_out(held_out_tokens),
      micro_batch(options.micro_batch),
      memory(options.memory),
      tensors(program::parameter_tensors(job.model)),
      parameters(program::parameter_count(job.model)),
      batches(job),
      schedule(job),
      device(std::move(opened)),
      law{program::strategy_of(spec), program::round_settings(spec)} {}

base::Outcome<void> JobRunner::Impl::plan() {
    const auto step = program::build_step_program(spec.model, spec.train, spec.profile);
    const auto evaluation = program::build_evaluate_program(spec.model, spec.profile);
    const std::uint32_t batch = spec.train.batch;
    // The budget is for the memory in which tensors lie.
    const auto capacity = device->capacity();
    PlanLimits limits{batch, micro_batch, capacity.value_or(memory)};
    if (capacity) limits.device = device->name();
    const std::uint64_t beside = capacity ? 0 : beside_step_bytes(spec);
    if (limits.bytes != 0) limits.reserved = reserved_bytes(spec, *device);
    ASSAY_ASSIGN(step_plan, choose_plan(step, *device, limits));
    if (capacity)
        ASSAY_TRY(check_host_budget(step, *device, step_plan.choice, memory, beside_step_bytes(spec)));
    limits.reserved = 0;
    if (limits.bytes != 0)
        limits.bytes -=
            state_bytes(step, step_plan.choice) + step_plan.bytes() + beside - state_bytes(evaluation);
    ASSAY_ASSIGN(evaluate_plan, choose_plan(evaluation, *device, limits));
    return {};
}

Executor& JobRunner::Impl::step_executor() {
    if (!step_) {
        step_.emplace(program::build_step_program(spec.model, spec.train, spec.profile), *device, step_plan);
    }
    return *step_;
}

Executor& JobRunner::Impl::evaluator() {
    if (!evaluator_) {
        evaluator_.emplace(program::build_evaluate_program(spec.model, spec.profile), *device, evaluate_plan);
    }
    return *evaluator_;
}

bool JobRunner::Impl::is_finite(std::span<const float> values) {
    const AdoptedReadOnly adopted(*device, values, Adoption::kStreamed);
    return device->is_finite(adopted.array());
}

bool JobRunner::Impl::is_finite(const DeviceState& state) {
    return device->is_finite({state.parameters, parameters}) &&
           device->is_finite({state.first_moment, parameters}) &&
           device->is_finite({state.second_moment, parameters});
}

std::vector<base::Hash256> JobRunner::Impl::roots(std::span<const DeviceView> arrays) {
    return device->roots(tensors, arrays).value();
}

program::StateRoots JobRunner::Impl::roots_of(DeviceView parameter_array, DeviceView first_moment,
                                              DeviceView second_moment, const SlotState& state) {
    program::StateRoots all;
    std::vector<DeviceView> arrays;
    std::vector<base::Hash256*> places;
    const auto add = [&](DeviceView array, base::Hash256& place) {
        if (array.empty()) return;
        arrays.push_back(array);
        places.push_back(&place);
    };
    add(parameter_array, all.parameters);
    add(first_moment, all.first_moment);
    add(second_moment, all.second_moment);
    const auto found = roots(arrays);
    for (std::size_t i = 0; i < places.size(); ++i) *places[i] = found[i];
    all.step_count = state.step;
    all.data_cursor = state.cursor;
    all.moment_age = state.age;
    return all;
}

JobRunner::JobRunner(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
JobRunner::~JobRunner() = default;

base::Outcome<std::unique_ptr<JobRunner>> JobRunner::create(const program::JobSpec& spec, TokenView train,
                                                            TokenView held_out,
                                                            const RunnerOptions& options) {
    ASSAY_ASSIGN(auto device, open_device(options.device));
    return create(spec, train, held_out, options, std::move(device));
}

base::Outcome<std::unique_ptr<JobRunner>> JobRunner::create(const program::JobSpec& spec, TokenView train,
                                                            TokenView held_out, const RunnerOptions& options,
                                                            std::unique_ptr<Device> device) {
    if (const auto checked = program::check_spec(spec); !checked.ok()) {
        return base::fail(ErrorKind::kUsage,
                          "job '" + spec.name + "': " + program::found_text(checked.error(), spec),
                          "change it in the job file: " + program::to_text(checked.error()));
    }
    if (train.tokens.size() != spec.data.train_tokens ||
        program::sequence_count(train.tokens.size(), spec.model.context) == 0) {
        return base::fail(ErrorKind::kUsage,
                          "the training stream has " + std::to_string(train.tokens.size()) +
                              " tokens; the job says " + std::to_string(spec.data.train_tokens) +
                              " and needs at least one sequence of " + std::to_string(spec.model.context + 1),
                          "open the token file that the job's manifest names");
    }
    ASSAY_TRY(check_tokens(train, spec.model.vocabulary, "training"));
    ASSAY_TRY(check_tokens(held_out, spec.model.vocabulary, "held-out"));
    ASSAY_TRY(device->check());
    try {
        auto impl = std::make_unique<Impl>(spec, train, held_out, options, std::move(device));
        ASSAY_TRY(impl->plan());
        return std::unique_ptr<JobRunner>(new JobRunner(std::move(impl)));
    } catch (const std::bad_alloc& problem) {
        return memory_error(problem, kTrainingStep);
    }
}

const program::JobSpec& JobRunner::spec() const { return impl_->spec; }
const std::vector<program::TensorInfo>& JobRunner::tensors() const { return impl_->tensors; }
std::uint64_t JobRunner::parameter_count() const { return impl_->parameters; }

std::uint64_t JobRunner::step_bytes() const {
    return 3 * sizeof(float) * impl_->parameters + impl_->step_plan.bytes();
}

BaseState JobRunner::initial() const {
    return first_state(program::initial_parameters(impl_->spec.model, impl_->spec.seed));
}

base::Outcome<SlotState> JobRunner::start(const BaseState& base, const CarriedState* carried) const {
    if (base.parameters.size() != impl_->parameters || base.step % impl_->spec.train.inner_steps != 0) {
        return base::fail(ErrorKind::kFailure, "the base state is not one of this job",
                          "fetch the base state that the ledger names for the round");
    }
    const std::uint64_t count = impl_->parameters;
    const bool carries = program::carries_state(impl_->spec);
    if (carried != nullptr &&
        (!carries || carried->first_moment.size() != count || carried->second_moment.size() != count ||
         !impl_->is_finite(carried->first_moment) || !impl_->is_finite(carried->second_moment))) {
        return base::fail(ErrorKind::kUsage, "what the slot carries is not of this job",
                          "fetch the state that the ledger names for the slot");
    }
    SlotState state{0, base.step, std::vector<float>(count), std::vector<float>(count),
                    std::vector<float>(count)};
    program::CarriedArrays arrays;
    if (carries) state.age = 0;
    if (carried != nullptr) {
        state.age = carried->age;
        arrays = {carried->first_moment, carried->second_moment};
    }
    program::strategy_of(impl_->spec)
        .adopt(base.parameters, arrays, {state.parameters, state.first_moment, state.second_moment});
    return state;
}

program::CarriedParts JobRunner::Impl::carried_parts(std::span<const float> first,
                                                     std::span<const float> second, std::uint64_t age) {
    const AdoptedReadOnly first_moment(*device, first, Adoption::kStreamed);
    const AdoptedReadOnly second_moment(*device, second, Adoption::kStreamed);
    const std::array<DeviceView, 2> arrays = {first_moment.array(), second_moment.array()};
    const auto found = roots(arrays);
    return {found[0], found[1], age};
}

base::Hash256 JobRunner::Impl::carried_root(const SlotState& end) {
    const auto parts = carried_parts(end.first_moment, end.second_moment, end.age.value_or(0));
    return program::carried_root(parts.first_moment, parts.second_moment, parts.age);
}

program::CarriedParts JobRunner::carried_parts(const CarriedState& carried) const {
    return impl_->carried_parts(carried.first_moment, carried.second_moment, carried.age);
}

base::Hash256 JobRunner::carried_root(const CarriedState& carried) const {
    const program::CarriedParts parts = carried_parts(carried);
    return program::carried_root(parts.first_moment, parts.second_moment, parts.age);
}

program::TraceRecord JobRunner::first_trace(const SlotState& start, const CarriedState* carried) const {
    program::TraceRecord trace;
    trace.boundaries.push_back(state_root(start));
    if (program::carries_state(impl_->spec)) {
        trace.carried = {carried == nullptr ? base::Hash256() : carried_root(*carried), {}};
    }
    return trace;
}

program::StateRoots JobRunner::state_roots(const SlotState& state) const {
    const AdoptedReadOnly parameters(*impl_->device, state.parameters, Adoption::kStreamed);
    const AdoptedReadOnly first_moment(*impl_->device, state.first_moment, Adoption::kStreamed);
    const AdoptedReadOnly second_moment(*impl_->device, state.second_moment, Adoption::kStreamed);
    return impl_->roots_of(parameters.array(), first_moment.array(), second_moment.array(), state);
}

base::Hash256 JobRunner::state_root(const SlotState& state) const {
    return program::state_root(state_roots(state));
}

base::Hash256 JobRunner::base_root(const BaseState& state) const {
    return program::state_root(base_roots(state));
}

program::StateRoots JobRunner::base_roots(const BaseState& state) const {
    const AdoptedReadOnly parameters(*impl_->device, state.parameters, Adoption::kStreamed);
    const AdoptedReadOnly outer_momentum(*impl_->device, state.outer_momentum, Adoption::kStreamed);
    const std::array<DeviceView, 2> arrays = {parameters.array(), outer_momentum.array()};
    const auto roots = impl_->roots(arrays);
    program::StateRoots all;
    all.parameters = roots[0];
    all.outer = roots[1];
    all.step_count = state.step;
    return all;
}

base::Hash256 JobRunner::update_root(const Update& update) const {
    return impl_->device->update_root(impl_->tensors, update.values).value();
}

base::Outcome<Evaluation> JobRunner::evaluate(std::span<const float> parameters, TokenView tokens,
                                              std::uint64_t max_sequences, const Watch& watch) {
    std::uint64_t count = program::sequence_count(tokens.tokens.size(), impl_->spec.model.context);
    if (max_sequences != 0) count = std::min(count, max_sequences);
    count = std::min<std::uint64_t>(count, program::kMaxStepTokens / impl_->spec.model.context);
    std::vector<std::uint64_t> first(count);
    std::iota(first.begin(), first.end(), std::uint64_t{0});
    return impl_->evaluate(parameters, tokens, first, watch);
}

base::Outcome<Evaluation> JobRunner::evaluate_held_out(std::span<const float> parameters,
                                                       std::uint64_t max_sequences, const Watch& watch) {
    return evaluate(parameters, impl_->held_out, max_sequences, watch);
}

base::Outcome<Evaluation> JobRunner::evaluate_drawn(std::span<const float> parameters,
                                                    const base::Hash256& beacon, const Watch& watch) {
    const TokenView& held_out = impl_->held_out;
    const auto available = program::sequence_count(held_out.tokens.size(), impl_->spec.model.context);
    return impl_->evaluate(parameters, held_out, program::drawn_held_out(beacon, available), watch);
}

base::Outcome<Evaluation> JobRunner::Impl::evaluate(std::span<const float> given, TokenView from,
                                                    std::span<const std::uint64_t> sequences,
                                                    const Watch& watch) {
    const std::uint32_t context = spec.model.context;
    const std::uint64_t count = sequences.size();
    if (count == 0 || given.size() != parameters) {
        return base::fail(ErrorKind::kUsage,
                          "evaluation: fewer tokens than one sequence, or parameters of another model",
                          "give at least " + std::to_string(context + 1) + " tokens and this job's model");
    }
    ASSAY_TRY(check_tokens(from, spec.model.vocabulary, "evaluation"));
    ASSAY_TRY(device->check());
    try {
        const AdoptedReadOnly adopted(*device, given);
        if (!device->is_finite(adopted.array())) {
            return base::fail(ErrorKind::kRejected, "evaluation: a parameter is not finite",
                              "this model has diverged; use an earlier one");
        }
        const auto loss = evaluator().evaluate(
            adopted.at(), count,
            [&](std::uint64_t index, std::span<std::uint32_t> out) {
                for (std::size_t t = 0; t < out.size(); ++t)
                    out[t] = from.tokens[sequences[index] * context + t];
            },
            [&] {
                watch.begin_batch();
                return watch.cancelled();
            });
        ASSAY_TRY(device->check());
        if (loss) return Evaluation{program::Float32(*loss), count * context, count};
    } catch (const std::bad_alloc& problem) {
        return memory_error(problem, kTrainingStep);
    }
    if (watch.cancelled()) return base::fail(ErrorKind::kInterrupted, "the evaluation was cancelled");
    return base::fail(ErrorKind::kRejected, "evaluation: the loss is not finite",
                      "this model has diverged; use an earlier one");
}

}  // namespace assay::trainer
