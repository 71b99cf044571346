// SPDX-License-Identifier: Apache-2.0
#include "trainer/step/executor.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "contracts/base/check.hpp"
#include "trainer/step/group.hpp"
#include "trainer/step/single.hpp"

namespace assay::trainer {

using program::TensorId;
using program::TensorRole;

Executor::Executor(program::Program program, Device& device, AllocationPlan plan)
    : program_(std::move(program)),
      device_(device),
      plan_(std::move(plan)),
      context_(program_.model.context),
      tensors_(program_.tensors.size(), nullptr) {
    // One allocation for everything: if a second one threw, the first would stay allocated, as no destructor
    // runs.
    block_ = device_.allocate(plan_.floats());
    // Operators write only one half of a square and read the other as +0.
    if (plan_.choice.grouping != Grouping::kFused) device_.zero(block_, plan_.block);
    if (plan_.gradient != 0) {
        gradient_ = block_ + AllocationPlan::aligned(plan_.block);
        if (plan_.embedding_rows != 0) embedding_rows_ = gradient_ + AllocationPlan::aligned(plan_.gradient);
        place_gradients();
        list_cleared();
        return;
    }
    logits_group_ = logits_group(program_);
}

Executor::~Executor() { device_.release(block_); }

void Executor::place(TensorRole role, float* flat) {
    std::size_t next = 0;
    for (TensorId id = 0; id < tensors_.size(); ++id) {
        if (program_.tensors[id].role != role) continue;
        tensors_[id] = flat + program_.parameters[next++].offset;
    }
}

void Executor::place_gradients() {
    for (const PlannedGroup::Place& one : plan_.gradients) tensors_[one.tensor] = gradient_ + one.offset;
    const auto tied = tied_gradient(program_);
    if (!tied) return;
    const program::Tensor& matrix = program_.tensors[tied->by_head];
    if (is_single()) {
        tensors_[tied->by_head] = embedding_rows_;
        tensors_[tied->by_embedding] = embedding_rows_ + matrix.rows.fixed * matrix.cols;
    } else {
        // The head accumulates where the sum will be, the embedding in rows of its own. (The head's gradient
        // and the sum have no place yet if the plan begins their lives in a group.)
        tensors_[tied->by_head] = tensors_[tied->sum];
        tensors_[tied->by_embedding] = embedding_rows_;
    }
}

void Executor::list_cleared() {
    std::vector<std::pair<float*, std::uint64_t>> written;  // whole, by the first sequences
    // With other groupings a caller may read a sum of several micro-batches before its first term.
    if (plan_.choice.grouping == Grouping::kFused && device_.hints().starts_weight_gradients) {
        for (const TensorId id : weight_gradients(program_)) {
            const program::Tensor& tensor = program_.tensors[id];
            if (tensors_[id] != nullptr) written.emplace_back(tensors_[id], tensor.rows.fixed * tensor.cols);
        }
    }
    std::sort(written.begin(), written.end());
    float* at = gradient_;
    float* const end = gradient_ + plan_.gradient;
    for (const auto& [first, size] : written) {
        ASSAY_CHECK(at <= first && first + size <= end);  // each has one writer
        if (at < first) cleared_.emplace_back(at, first - at);
        at = first + size;
    }
    if (at < end) cleared_.emplace_back(at, end - at);
}

void Executor::run(std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
        const PlannedGroup& planned = plan_.groups[i];
        place_new(planned);
        if (plan_.choice.grouping == Grouping::kAlone) clear_squares(planned);
        device_.run({planned.group, tensors_, block_ + planned.scratch, plan_.choice.head_rows, 0});
    }
}

void Executor::clear_squares(const PlannedGroup& planned) {
    const program::Operator& one = program_.operators[planned.group.operators.front()];
    const GroupKind kind = group_kind(one);
    if (kind != GroupKind::kAttention && kind != GroupKind::kAttentionGradient) return;
    for (const PlannedGroup::Place& place : planned.places) {
        // A square that reuses an operand's memory has that one's zeros.
        float* const at = tensors_[place.tensor];
        const bool taken_over = std::any_of(one.operands.begin(), one.operands.end(),
                                            [&](TensorId id) { return tensors_[id] == at; });
        const program::Tensor& tensor = program_.tensors[place.tensor];
        if (!taken_over) device_.zero(at, tensor.rows.of(plan_.choice.micro_batch) * tensor.cols);
    }
}

void Executor::place_new(const PlannedGroup& planned) {
    for (const PlannedGroup::Place& place : planned.places) {
        tensors_[place.tensor] = block_ + place.offset;
        if (!place.is_sum) continue;
        const program::Tensor& tensor = program_.tensors[place.tensor];
        device_.zero(tensors_[place.tensor], tensor.rows.fixed * tensor.cols);
    }
}

bool Executor::run_one(std::size_t i, std::uint32_t last, const Ran& where, const Each& each) {
    const PlannedGroup& planned = plan_.groups[i];
    const std::uint32_t index = planned.group.operators.front();
    place_new(planned);
    clear_squares(planned);
    device_.run({planned.group, tensors_, block_ + planned.scratch, plan_.choice.head_rows, 0});
    each({index, where.first, where.count, planned.again});
    return index == last && !planned.again;
}

void Executor::run_each(std::uint32_t last, const arithmetic::AdamWCoefficients& coefficients,
                        std::span<const std::uint32_t> tokens, const DeviceState& state, const Each& each) {
    ASSAY_CHECK(plan_.choice.grouping == Grouping::kOperators && last < program_.operators.size());
    const std::uint64_t count = begin_step(coefficients, tokens, state);
    bool done = false;
    for (std::uint64_t s = 0; s < count; s += plan_.choice.micro_batch) {
        const std::uint64_t now = std::min<std::uint64_t>(plan_.choice.micro_batch, count - s);
        device_.select(s, now);
        done = false;
        for (std::size_t i = 0; i < plan_.once && !done; ++i) done = run_one(i, last, {0, s, now}, each);
    }
    for (std::size_t i = plan_.once; i < plan_.groups.size() && !done; ++i) {
        done = run_one(i, last, {0, 0, count}, each);
    }
    static_cast<void>(device_.wait({}, {}));
}

void Executor::read(TensorId id, std::span<float> out) const { read_part(id, 0, out); }

void Executor::read_part(TensorId id, std::uint64_t from, std::span<float> out) const {
    ASSAY_CHECK(plan_.choice.grouping != Grouping::kFused && tensors_[id] != nullptr);
    device_.read(tensors_[id] + from, out);
}

void Executor::write(TensorId id, std::uint64_t at, float value) {
    ASSAY_CHECK(plan_.choice.grouping == Grouping::kOperators && tensors_[id] != nullptr);
    device_.write(tensors_[id] + at, {&value, 1});
}

void Executor::gradient(std::span<float> out) const {
    ASSAY_CHECK(gradient_ != nullptr && out.size() == program::parameter_count(program_.model));
    std::size_t next = 0;
    for (TensorId id = 0; id < tensors_.size() && next < program_.parameters.size(); ++id) {
        const program::Tensor& tensor = program_.tensors[id];
        if (tensor.role != TensorRole::kParameterGradient) continue;
        device_.read(tensors_[id],
                     out.subspan(program_.parameters[next++].offset, tensor.rows.fixed * tensor.cols));
    }
}

std::uint64_t Executor::begin_step(const arithmetic::AdamWCoefficients& coefficients,
                                   std::span<const std::uint32_t> tokens, const DeviceState& state) {
    const std::uint64_t count = tokens.size() / (context_ + 1);
    ASSAY_CHECK(count >= 1 && tokens.size() % (context_ + 1) == 0 && gradient_ != nullptr);
    ASSAY_CHECK(count <= plan_.batch);
    // A gradient that a group places has no memory before.
    for (const PlannedGroup& planned : plan_.groups) {
        for (const PlannedGroup::Place& one : planned.places) {
            if (program_.tensors[one.tensor].role == TensorRole::kParameterGradient)
                tensors_[one.tensor] = nullptr;
        }
    }
    place(TensorRole::kParameter, state.parameters);
    place(TensorRole::kFirstMoment, state.first_moment);
    place(TensorRole::kSecondMoment, state.second_moment);
    device_.begin(program_, {.tokens = count * context_,
                             .coefficients = coefficients,
                             .keep_weights = plan_.choice.keep_weights,
                             .compact_embedding =
                                 plan_.embedding_rows != 0 && plan_.choice.grouping == Grouping::kFused});
    device_.load(tokens);
    for (const auto& [at, size] : cleared_) device_.zero(at, size);
    if (plan_.embedding_rows != 0) device_.zero(embedding_rows_, plan_.embedding_rows);
    return count;
}

StepResult Executor::step(const arithmetic::AdamWCoefficients& coefficients,
                          std::span<const std::uint32_t> tokens, const DeviceState& state) {
    const std::uint64_t count = begin_step(coefficients, tokens, state);
    for (std::uint64_t s = 0; s < count; s += plan_.choice.micro_batch) {
        device_.select(s, std::min<std::uint64_t>(plan_.choice.micro_batch, count - s));
        run(0, plan_.once);
    }
    // The update is last, and does nothing if a number was not finite. A divergence is reported only after
    // all micro-batches and accumulators, because it has to name the first operator in program order.
    ASSAY_CHECK(plan_.groups.back().group.kind == GroupKind::kUpdate);
    run(plan_.once, plan_.groups.size());
    const std::array<const float*, 2> scalars = {tensors_[program_.loss], tensors_[program_.norm]};
    std::array<float, 2> values{};
    StepResult result;
    result.diverged = device_.wait(scalars, values);
    if (result.diverged) return result;
    result.fingerprint = {std::bit_cast<std::uint32_t>(values[0]), std::bit_cast<std::uint32_t>(values[1])};
    return result;
}

std::optional<std::uint32_t> Executor::run_until(std::uint32_t index,
                                                 const arithmetic::AdamWCoefficients& coefficients,
                                                 std::span<const std::uint32_t> tokens,
                                                 const DeviceState& state, const Look& look) {
    ASSAY_CHECK(is_single() && index < program_.operators.size());
    const std::uint64_t count = begin_step(coefficients, tokens, state);
    const std::size_t end = std::size_t{index} + 1;  // group i is operator i, up to the update
    for (std::uint64_t s = 0; s < count; s += plan_.choice.micro_batch) {
        const std::uint64_t now = std::min<std::uint64_t>(plan_.choice.micro_batch, count - s);
        device_.select(s, now);
        run(0, std::min(end, plan_.once));
        if (end <= plan_.once) look(s, now);
    }
    if (end > plan_.once) {
        const std::size_t update = plan_.groups.size() - 1;
        run(plan_.once, std::min(end, update));
        for (auto i = static_cast<std::uint32_t>(update); i < end; ++i) {
            const Group single = single_operator(program_, i);
            device_.run({single, tensors_, block_ + plan_.groups[update].scratch, 0, 0});
        }
        look(0, count);
    }
    return device_.wait({}, {});
}

void Executor::begin_evaluation(const float* parameters, std::uint64_t tokens) {
    ASSAY_CHECK(gradient_ == nullptr);
    // No operator of an evaluation writes to a parameter; a step's do, for which the table is.
    place(TensorRole::kParameter, const_cast<float*>(parameters));
    device_.begin(program_, {.tokens = tokens,
                             .coefficients = {},
                             .keep_weights = plan_.choice.keep_weights,
                             .compact_embedding = false});
}

std::optional<float> Executor::evaluate(const float* parameters, std::uint64_t count,
                                        const Sequences& sequences, const std::function<bool()>& stop) {
    ASSAY_CHECK(count >= 1);
    begin_evaluation(parameters, count * context_);
    float loss = 0.0F;
    for (std::uint64_t s = 0; s < count; s += plan_.choice.micro_batch) {
        const std::uint64_t now = std::min<std::uint64_t>(plan_.choice.micro_batch, count - s);
        tokens_.resize(now * (context_ + 1));
        for (std::uint64_t i = 0; i < now; ++i) {
            sequences(s + i, std::span(tokens_).subspan(i * (context_ + 1), context_ + 1));
        }
        if (stop && stop()) return std::nullopt;
        device_.load(tokens_);
        device_.select(0, now);
        run(0, plan_.groups.size());
        const std::array<const float*, 1> scalars = {tensors_[program_.loss]};
        if (device_.wait(scalars, {&loss, 1})) return std::nullopt;
    }
    return loss;
}

std::optional<std::span<const float>> Executor::logits(const float* parameters,
                                                       std::span<const std::uint32_t> inputs,
                                                       std::uint64_t row) {
    ASSAY_CHECK(logits_group_ && inputs.size() == context_ && row < context_);
    begin_evaluation(parameters, context_);
    tokens_.assign(inputs.begin(), inputs.end());
    tokens_.push_back(0);  // a target that is never read
    device_.load(tokens_);
    device_.select(0, 1);
    const float* found = nullptr;
    if (plan_.is_one_by_one()) {
        const std::uint32_t head = logits_group_->operators.front();
        run(0, std::size_t{head} + 1);
        found = tensors_[program_.operators[head].outputs[0]] + row * program_.model.vocabulary;
    } else {
        const std::size_t head = plan_.groups.size() - 1;
        ASSAY_CHECK(plan_.groups[head].group.kind == GroupKind::kHead);
        run(0, head);
        float* scratch = block_ + plan_.groups[head].scratch;
        device_.run({*logits_group_, tensors_, scratch, 1, row});
        found = scratch;
    }
    if (device_.wait({}, {})) return std::nullopt;
    logits_.resize(program_.model.vocabulary);
    device_.read(found, logits_);
    return std::span<const float>(logits_);
}

}  // namespace assay::trainer
