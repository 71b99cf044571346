// SPDX-License-Identifier: Apache-2.0
#include "trainer/step/executor.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "contracts/base/check.hpp"
#include "trainer/host/floating_point.hpp"

namespace assay::trainer {

using program::Role;
using program::TensorId;

Executor::Executor(program::Program program, Backend& backend, MemoryPlan plan)
    : program_(std::move(program)),
      backend_(backend),
      plan_(std::move(plan)),
      context_(program_.model.context),
      parameter_count_(program::parameter_count(program_.model)),
      tensors_(program_.tensors.size(), nullptr) {
    block_ = backend_.allocate(plan_.block);
    if (plan_.gradient != 0) {
        gradient_ = backend_.allocate(plan_.gradient);
        if (plan_.embedding_rows != 0) embedding_rows_ = backend_.allocate(plan_.embedding_rows);
        place_gradients();
        return;
    }
    logits_group_ = logits_group(program_);
}

void Executor::place_gradients() {
    std::size_t next = 0;
    for (TensorId id = 0; id < tensors_.size(); ++id) {
        if (program_.tensors[id].role != Role::kParameterGradient) continue;
        if (next < program_.parameters.size()) tensors_[id] = gradient_ + program_.parameters[next++].offset;
    }
    // The tied matrix: the head accumulates where the sum will be, the embedding in its own rows.
    if (const auto tied = tied_gradient(program_)) {
        tensors_[tied->by_head] = tensors_[tied->sum];
        tensors_[tied->by_embedding] = embedding_rows_;
    }
}

void Executor::bind(Role role, std::span<float> flat) {
    ASSAY_CHECK(flat.size() == parameter_count_);
    float* address = backend_.bind(flat);
    std::size_t next = 0;
    for (TensorId id = 0; id < tensors_.size(); ++id) {
        if (program_.tensors[id].role == role) tensors_[id] = address + program_.parameters[next++].offset;
    }
}

void Executor::clear_accumulators() {
    backend_.zero(gradient_, plan_.gradient);
    if (plan_.embedding_rows != 0) backend_.zero(embedding_rows_, plan_.embedding_rows);
}

void Executor::run(std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
        const PlannedGroup& planned = plan_.groups[i];
        for (const PlannedGroup::Place& place : planned.places) {
            tensors_[place.tensor] = block_ + place.offset;
        }
        backend_.run({planned.group, tensors_, block_ + planned.scratch, plan_.choice.head_rows, 0});
    }
}

float Executor::scalar(TensorId id) const {
    float value = 0.0F;
    backend_.read(tensors_[id], {&value, 1});
    return value;
}

void Executor::gradient(std::span<float> out) const {
    ASSAY_CHECK(gradient_ != nullptr && out.size() == parameter_count_);
    backend_.read(gradient_, out);
}

StepResult Executor::step(const arithmetic::AdamWCoefficients& coefficients,
                          std::span<const std::uint32_t> tokens, const StateSpans& state) {
    const std::uint64_t count = tokens.size() / (context_ + 1);
    ASSAY_CHECK(count >= 1 && tokens.size() % (context_ + 1) == 0 && gradient_ != nullptr);
    ASSAY_CHECK(count <= plan_.batch);
    ASSAY_CHECK(floating_point_faults() == 0);
    bind(Role::kParameter, state.parameters);
    bind(Role::kFirstMoment, state.first_moment);
    bind(Role::kSecondMoment, state.second_moment);
    backend_.begin(program_, {count * context_, coefficients, state.unchanged, plan_.choice.keep_weights});
    backend_.load(tokens);
    clear_accumulators();
    for (std::uint64_t s = 0; s < count; s += plan_.choice.micro_batch) {
        backend_.select(s, std::min<std::uint64_t>(plan_.choice.micro_batch, count - s));
        run(0, plan_.once);
    }
    // All micro-batches and all accumulators are seen before anything is said of a divergence: the operator
    // to be named is the first of all in program order. The update itself changes everything or nothing.
    const std::size_t update = plan_.groups.size() - 1;
    ASSAY_CHECK(plan_.groups[update].group.kind == GroupKind::kUpdate);
    run(plan_.once, update);
    StepResult result;
    result.diverged = backend_.wait();
    if (!result.diverged) {
        run(update, update + 1);
        result.diverged = backend_.wait();
    }
    backend_.release();
    if (result.diverged) return result;
    result.fingerprint = {std::bit_cast<std::uint32_t>(scalar(program_.loss)),
                          std::bit_cast<std::uint32_t>(scalar(program_.norm))};
    return result;
}

namespace {
// An evaluation reads parameters only; a backend binds mutable arrays because a step's are.
std::span<float> read_only(std::span<const float> parameters) {
    return {const_cast<float*>(parameters.data()), parameters.size()};
}
}  // namespace

std::optional<float> Executor::evaluate(std::span<const float> parameters, std::uint64_t count,
                                        const Sequences& sequences, const std::function<bool()>& stop) {
    ASSAY_CHECK(gradient_ == nullptr && count >= 1);
    ASSAY_CHECK(floating_point_faults() == 0);
    bind(Role::kParameter, read_only(parameters));
    backend_.begin(program_, {count * context_, {}, false, plan_.choice.keep_weights});
    std::optional<std::uint32_t> diverged;
    for (std::uint64_t s = 0; s < count && !diverged; s += plan_.choice.micro_batch) {
        const std::uint64_t now = std::min<std::uint64_t>(plan_.choice.micro_batch, count - s);
        tokens_.resize(now * (context_ + 1));
        for (std::uint64_t i = 0; i < now; ++i) {
            sequences(s + i, std::span(tokens_).subspan(i * (context_ + 1), context_ + 1));
        }
        if (stop && stop()) return std::nullopt;
        backend_.load(tokens_);
        backend_.select(0, now);
        run(0, plan_.groups.size());
        diverged = backend_.wait();
    }
    backend_.release();
    if (diverged) return std::nullopt;
    return scalar(program_.loss);
}

std::optional<std::span<const float>> Executor::logits(std::span<const float> parameters,
                                                       std::span<const std::uint32_t> inputs,
                                                       std::uint64_t row) {
    ASSAY_CHECK(logits_group_ && inputs.size() == context_ && row < context_);
    ASSAY_CHECK(floating_point_faults() == 0);
    bind(Role::kParameter, read_only(parameters));
    backend_.begin(program_, {context_, {}, false, plan_.choice.keep_weights});
    tokens_.assign(inputs.begin(), inputs.end());
    tokens_.push_back(0);  // a target that nobody looks at
    backend_.load(tokens_);
    backend_.select(0, 1);
    const std::size_t head = plan_.groups.size() - 1;
    ASSAY_CHECK(plan_.groups[head].group.kind == GroupKind::kHead);
    run(0, head);
    float* scratch = block_ + plan_.groups[head].scratch;
    backend_.run({*logits_group_, tensors_, scratch, 1, row});
    const bool diverged = backend_.wait().has_value();
    logits_.resize(program_.model.vocabulary);
    if (!diverged) backend_.read(scratch, logits_);
    backend_.release();
    if (diverged) return std::nullopt;
    return std::span<const float>(logits_);
}

}  // namespace assay::trainer
