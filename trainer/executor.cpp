// SPDX-License-Identifier: Apache-2.0
#include "trainer/executor.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "contracts/base/check.hpp"

namespace assay::trainer {

using program::Role;
using program::TensorId;
using Kind = program::OperatorKind;

Executor::Executor(program::Program program, const Machine& machine, std::uint32_t micro_batch)
    : program_(std::move(program)),
      kernels_(machine.kernels),
      products_(machine.products),
      pool_(machine.pool),
      micro_batch_(micro_batch),
      context_(program_.model.context),
      width_(program_.model.width),
      vocabulary_(program_.model.vocabulary),
      heads_(program_.model.heads),
      parameter_count_(program::parameter_count(program_.model)) {
    ASSAY_CHECK(micro_batch >= 1);
    once_ = program_.operators.size();
    for (std::size_t i = program_.operators.size(); i-- > 0;) {
        const Operator& one = program_.operators[i];
        if (one.kind >= Kind::kTiedGradient) once_ = i;
        if (one.kind == Kind::kHead) head_operator_ = i, logits_ = one.outputs[0];
    }
    const MemoryPlan plan = plan_memory(program_, micro_batch_, {program_.loss, logits_});
    float* block = machine.arena.allocate(plan.size);
    tensors_.assign(program_.tensors.size(), nullptr);
    for (TensorId id = 0; id < tensors_.size(); ++id) tensors_[id] = block + plan.offsets[id];
    if (once_ < program_.operators.size()) {
        accumulator_size_ = 2 * vocabulary_ * width_;
        gradient_ = machine.arena.allocate(parameter_count_);
        accumulators_ = machine.arena.allocate(accumulator_size_);
        backup_ = machine.arena.allocate(3 * parameter_count_);
    }
    place_tensors();
}

void Executor::place_tensors() {
    std::size_t gradient = 0;
    std::uint64_t accumulator = 0;
    std::uint64_t tiles = 0;
    for (TensorId id = 0; id < tensors_.size(); ++id) {
        if (program_.tensors[id].role != Role::kParameterGradient) continue;
        if (gradient < program_.parameters.size()) {
            const program::TensorInfo& info = program_.parameters[gradient++];
            tensors_[id] = gradient_ + info.offset;
            tiles += arithmetic::tile_count(info.rows, info.cols);
        } else {
            tensors_[id] = accumulators_ + accumulator;
            accumulator += size(id);
            ASSAY_CHECK(accumulator <= accumulator_size_);
        }
    }
    tile_sums_.resize(tiles);
    inputs_.reserve(micro_batch_ * context_);
    targets_.reserve(micro_batch_ * context_);
}

std::uint64_t Executor::size(TensorId id) const {
    return program_.tensors[id].rows.of(sequences_) * program_.tensors[id].cols;
}

void Executor::bind_state(const StateSpans& state) {
    std::size_t next[3] = {0, 0, 0};
    for (TensorId id = 0; id < tensors_.size(); ++id) {
        const Role role = program_.tensors[id].role;
        const auto bind = [&](std::size_t which, std::span<float> flat) {
            tensors_[id] = flat.data() + program_.parameters[next[which]++].offset;
        };
        if (role == Role::kParameter) bind(0, state.parameters);
        if (role == Role::kFirstMoment) bind(1, state.first_moment);
        if (role == Role::kSecondMoment) bind(2, state.second_moment);
    }
}

void Executor::load_tokens(std::span<const std::uint32_t> tokens) {
    sequences_ = tokens.size() / (context_ + 1);
    inputs_.clear();
    targets_.clear();
    for (std::uint64_t s = 0; s < sequences_; ++s) {
        const auto one = tokens.subspan(s * (context_ + 1), context_ + 1);
        for (const std::uint32_t token : one) ASSAY_CHECK(token < vocabulary_);
        inputs_.insert(inputs_.end(), one.begin(), one.end() - 1);
        targets_.insert(targets_.end(), one.begin() + 1, one.end());
    }
}

void Executor::clear_accumulators() {
    std::fill_n(gradient_, parameter_count_, 0.0F);
    std::fill_n(accumulators_, accumulator_size_, 0.0F);
    loss_total_ = 0.0F;
}

std::optional<std::uint32_t> Executor::run(std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
        execute(program_.operators[i]);
        if (!finite(program_.operators[i])) return static_cast<std::uint32_t>(i);
    }
    return std::nullopt;
}

StepResult Executor::step(const arithmetic::AdamWCoefficients& coefficients,
                          std::span<const std::uint32_t> tokens, const StateSpans& state) {
    const std::uint64_t stride = context_ + 1;
    const std::uint64_t count = tokens.size() / stride;
    ASSAY_CHECK(count >= 1 && tokens.size() % stride == 0 && gradient_ != nullptr);
    ASSAY_CHECK(state.parameters.size() == parameter_count_ &&
                state.first_moment.size() == parameter_count_ &&
                state.second_moment.size() == parameter_count_);
    bind_state(state);
    clear_accumulators();
    coefficients_ = coefficients;
    step_tokens_ = count * context_;
    // A later micro-batch may diverge at an earlier operator: each runs up to the earliest seen so far. What
    // has become infinite or NaN in an accumulator stays so, so looking after each micro-batch is as good as
    // looking once.
    StepResult result;
    std::size_t limit = once_;
    for (std::uint64_t s = 0; s < count; s += micro_batch_) {
        load_tokens(tokens.subspan(s * stride, std::min(micro_batch_, count - s) * stride));
        if (const auto diverged = run(0, limit)) limit = *diverged, result.diverged = diverged;
    }
    if (result.diverged) return result;
    const std::span<float> arrays[3] = {state.parameters, state.first_moment, state.second_moment};
    for (std::size_t i = 0; i < 3; ++i) {
        std::copy(arrays[i].begin(), arrays[i].end(), backup_ + i * parameter_count_);
    }
    result.diverged = run(once_, program_.operators.size());
    if (result.diverged) {
        for (std::size_t i = 0; i < 3; ++i) {
            std::copy_n(backup_ + i * parameter_count_, parameter_count_, arrays[i].begin());
        }
        return result;
    }
    result.fingerprint = {std::bit_cast<std::uint32_t>(*data(program_.loss)),
                          std::bit_cast<std::uint32_t>(*data(program_.norm))};
    return result;
}

namespace {
// An evaluation reads parameters only; the executor's tensors are mutable because a step's are.
StateSpans read_only(std::span<const float> parameters) {
    return {{const_cast<float*>(parameters.data()), parameters.size()}, {}, {}};
}
}  // namespace

std::optional<float> Executor::evaluate(std::span<const float> parameters, std::uint64_t count,
                                        const Sequences& sequences, const std::function<bool()>& stop) {
    ASSAY_CHECK(parameters.size() == parameter_count_ && gradient_ == nullptr && count >= 1);
    bind_state(read_only(parameters));
    loss_total_ = 0.0F;
    step_tokens_ = count * context_;
    std::vector<std::uint32_t> tokens;
    for (std::uint64_t s = 0; s < count; s += micro_batch_) {
        const std::uint64_t now = std::min(micro_batch_, count - s);
        tokens.resize(now * (context_ + 1));
        for (std::uint64_t i = 0; i < now; ++i) {
            sequences(s + i, std::span(tokens).subspan(i * (context_ + 1), context_ + 1));
        }
        if (stop && stop()) return std::nullopt;
        load_tokens(tokens);
        if (run(0, program_.operators.size())) return std::nullopt;
    }
    return *data(program_.loss);
}

std::optional<std::span<const float>> Executor::logits(std::span<const float> parameters,
                                                       std::span<const std::uint32_t> inputs,
                                                       std::uint64_t row) {
    ASSAY_CHECK(parameters.size() == parameter_count_ && inputs.size() == context_ && row < context_);
    bind_state(read_only(parameters));
    sequences_ = 1;
    inputs_.assign(inputs.begin(), inputs.end());
    if (run(0, head_operator_ + 1)) return std::nullopt;
    return std::span<const float>(data(logits_) + row * vocabulary_, vocabulary_);
}

}  // namespace assay::trainer
