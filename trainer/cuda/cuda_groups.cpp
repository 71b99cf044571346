// SPDX-License-Identifier: Apache-2.0
// Groups with tensors that never lie in memory as a whole: squares of attention, for some heads at a time
// unless attention is fused (cuda_attention.cpp), and logits, for some rows at a time. Between the passes
// only the maximum and the sum of each row of a square are kept; the backward pass computes the same
// probabilities again.
#include <algorithm>
#include <vector>

#include "contracts/arithmetic/attention.hpp"
#include "contracts/arithmetic/loss.hpp"
#include "contracts/base/check.hpp"
#include "trainer/cuda/cuda_device.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

using Kind = program::OperatorKind;

namespace {
std::uint64_t square_of(const program::ModelConfig& model) { return model.context * model.context; }

// Matrices of a launch.
constexpr std::uint64_t kMostMatrices = 65'535;
}  // namespace

OutputArray<float> CudaDevice::floats(float* data, std::uint64_t count) {
    OutputArray<float> array;
    array.data = data;
    array.count = count;
    return array;
}

std::uint64_t CudaDevice::scratch(const program::Program& program, const Group& group,
                                  const GroupShape& shape) const {
    const program::ModelConfig& model = program.model;
    const std::uint64_t heads =
        std::min<std::uint64_t>(heads_at_a_time(model, head_bytes(program)), shape.sequences * model.heads);
    const bool fused = fuses_attention(program);
    switch (group.kind) {
        case GroupKind::kAttention: return fused ? 0 : heads * square_of(model);
        case GroupKind::kAttentionGradient: return 2 * heads * (fused ? model.context : square_of(model));
        case GroupKind::kHead: return shape.head_rows * model.vocabulary + shape.sequences * model.context;
        default: return 0;
    }
}

std::uint64_t CudaDevice::square_bytes(const program::ModelConfig& model) const {
    return square_of(model) * sizeof(float);
}

std::uint64_t CudaDevice::head_bytes(const program::Program& program) const {
    if (!fuses_attention(program)) return square_bytes(program.model);
    return kAttentionOperands * attention_digits(program.model).words() * sizeof(std::uint32_t);
}

std::uint64_t CudaDevice::heads_at_a_time(const program::ModelConfig& model, std::uint64_t bytes) const {
    const std::uint64_t most = std::min(options_.squares / bytes, kMostMatrices);
    if (most >= model.heads) return most / model.heads * model.heads;
    const std::uint64_t sharing = model.heads / model.key_value_heads();
    return std::max(sharing, most / sharing * sharing);
}

std::vector<CudaDevice::HeadRange> CudaDevice::ranges(std::uint64_t bytes) const {
    std::vector<HeadRange> found;
    const std::uint64_t heads = program_->model.heads, most = heads_at_a_time(program_->model, bytes);
    const std::uint64_t together = std::max<std::uint64_t>(1, most / heads);
    for (std::uint64_t sequence = 0; sequence < sequences_; sequence += together) {
        const std::uint64_t count = std::min(together, sequences_ - sequence);
        for (std::uint64_t head = 0; head < heads; head += most) {
            found.push_back({sequence, count, head, std::min(most, heads - head)});
        }
    }
    return found;
}

std::uint64_t CudaDevice::first_square(const HeadRange& range) const {
    return range.sequence * program_->model.heads + range.head;
}

const std::uint32_t* CudaDevice::find(const Group& group, Kind kind) const {
    for (const std::uint32_t& index : group.operators) {
        if (program_->operators[index].kind == kind) return &index;
    }
    return nullptr;
}

std::uint32_t CudaDevice::writer_of(program::TensorId id) const {
    for (std::uint32_t index = 0; index < program_->operators.size(); ++index) {
        const std::vector<program::TensorId>& outputs = program_->operators[index].outputs;
        if (std::find(outputs.begin(), outputs.end(), id) != outputs.end()) return index;
    }
    ASSAY_CHECK(false);
    return 0;
}

std::vector<float*>& CudaDevice::places_of(const GroupCall& call) {
    group_places_.assign(call.tensors.begin(), call.tensors.end());
    return group_places_;
}

void CudaDevice::attention(const GroupCall& call) {
    if (fuses_attention(*program_)) return fused_attention(call);
    const OperatorCall scores = call_of(*find(call.group, Kind::kAttentionScores), call.tensors);
    const OperatorCall max = call_of(*find(call.group, Kind::kSoftmaxMax), call.tensors);
    const OperatorCall sum = call_of(*find(call.group, Kind::kSoftmaxSum), call.tensors);
    const OperatorCall values = call_of(*find(call.group, Kind::kAttentionValues), call.tensors);
    for (const HeadRange& range : ranges(square_bytes(program_->model))) {
        const std::uint64_t squares = range.sequences * range.heads, rows = squares * context_;
        const std::uint64_t first = first_square(range) * context_;
        attention_product(scores, range, call.scratch);
        softmax_rows(stream(), SoftmaxKind::kForward,
                     {.rows = rows,
                      .context = context_,
                      .square = floats(call.scratch, rows * context_),
                      .max = floats(out(max, 0).data + first, rows),
                      .sum = floats(out(sum, 0).data + first, rows),
                      .before = watch(scores.index)});
        attention_product(values, range, call.scratch);
    }
}

CudaDevice::GradientProducts CudaDevice::gradient_products(const GroupCall& call) const {
    const auto of = [&](Kind kind) { return call_of(*find(call.group, kind), call.tensors); };
    const Operator& max = program_->operators[writer_of(call.group.max)];
    return {.by_value = of(Kind::kAttentionValueGradient),
            .by_probability = of(Kind::kAttentionProbabilityGradient),
            .by_query = of(Kind::kAttentionQueryGradient),
            .by_key = of(Kind::kAttentionKeyGradient),
            .scores = call_of(writer_of(max.operands[0]), call.tensors)};
}

void CudaDevice::attention_gradient(const GroupCall& call) {
    if (fuses_attention(*program_)) return fused_attention_gradient(call);
    const GradientProducts products = gradient_products(call);
    const OperatorCall &by_value = products.by_value, &by_probability = products.by_probability;
    for (const HeadRange& range : ranges(square_bytes(program_->model))) {
        const std::uint64_t squares = range.sequences * range.heads, rows = squares * context_;
        const std::uint64_t first = first_square(range) * context_;
        float* const p = call.scratch;
        float* const slopes = call.scratch + rows * context_;
        attention_product(products.scores, range, p);
        // The forward pass has checked the same scores.
        softmax_rows(stream(), SoftmaxKind::kAgain,
                     {.rows = rows,
                      .context = context_,
                      .square = floats(p, rows * context_),
                      .kept_max = call.tensors[call.group.max] + first,
                      .kept_sum = call.tensors[call.group.sum] + first});
        attention_product(by_value, range, p);
        attention_product(by_probability, range, slopes);
        softmax_rows(stream(), SoftmaxKind::kGradient,
                     {.rows = rows,
                      .context = context_,
                      .square = floats(slopes, rows * context_),
                      .p = p,
                      .scale = arithmetic::attention_scale(program_->model.head_dim()),
                      .before = watch(by_probability.index),
                      .dot = watch(*find(call.group, Kind::kSoftmaxDot)),
                      .after = watch(*find(call.group, Kind::kSoftmaxGradient))});
        attention_product(products.by_query, range, slopes);
        attention_product(products.by_key, range, slopes);
    }
}

// Logits become their own gradient in place, which is used before the logits of the next rows are computed.
void CudaDevice::head(const GroupCall& call) {
    const std::uint32_t forward = *find(call.group, Kind::kHead);
    const std::uint32_t* const input_gradient = find(call.group, Kind::kHeadInputGradient);
    const std::uint32_t* const weight_gradient_at = find(call.group, Kind::kHeadWeightGradient);
    const Operator& one = program_->operators[forward];
    const std::uint64_t vocabulary = program_->model.vocabulary, width = program_->model.width;
    const program::TensorId h = one.operands[0];
    float* const losses = call.scratch + call.head_rows * vocabulary;
    std::vector<float*>& places = places_of(call);
    const auto with = [&](std::uint32_t index, std::uint64_t rows) {
        OperatorCall part = call_of(index, places);
        part.rows = rows;
        return part;
    };
    places[one.outputs[0]] = call.scratch;
    for (std::uint64_t at = 0; at < row_count(); at += call.head_rows) {
        const std::uint64_t rows = std::min(call.head_rows, row_count() - at);
        places[h] = call.tensors[h] + at * width;
        linear(with(forward, rows));
        loss_rows(stream(), input_gradient != nullptr,
                  {.rows = rows,
                   .cols = vocabulary,
                   .targets = targets() + at,
                   .logits = floats(call.scratch, rows * vocabulary),
                   .losses = floats(losses + at, rows),
                   .number = arithmetic::reciprocal(numbers_.tokens),
                   .before = watch(forward),
                   .loss = watch(*find(call.group, Kind::kLossTokens))},
                  processors_.weighs ? kShortRow : 0);
        if (input_gradient == nullptr) continue;
        const Operator& down = program_->operators[*input_gradient];
        places[down.operands[0]] = call.scratch;
        places[down.outputs[0]] = call.tensors[down.outputs[0]] + at * width;
        linear(with(*input_gradient, rows));
        weight_gradient(with(*weight_gradient_at, rows), first_ + at != 0);
    }
    const std::uint32_t total = *find(call.group, Kind::kLossTotal);
    places[program_->operators[total].operands[0]] = losses;
    loss(call_of(total, places));
}

void CudaDevice::logits(const GroupCall& call) {
    const std::uint32_t index = call.group.operators.front();
    const Operator& one = program_->operators[index];
    std::vector<float*>& places = places_of(call);
    places[one.operands[0]] += call.row * program_->model.width;
    places[one.outputs[0]] = call.scratch;
    OperatorCall part = call_of(index, places);
    part.rows = 1;
    linear(part);
}

// The norm reads every gradient, and so notes again the operator that wrote one that is not finite.
void CudaDevice::collect(const GroupCall& call) {
    for (const std::uint32_t index : call.group.operators) {
        const OperatorCall one = call_of(index, call.tensors);
        switch (one.one.kind) {
            case Kind::kGlobalNorm: norm(one, true); break;
            case Kind::kTiedGradient:
                ASSAY_CHECK(numbers_.compact_embedding &&
                            call.tensors[one.one.operands[0]] == out(one, 0).data);
                tied_rows(stream(), {.words = program_->model.vocabulary,
                                     .cols = program_->model.width,
                                     .rows = one.in(1),
                                     .row_of = word_rows_.data(),
                                     .sum = out(one, 0),
                                     .head = watch(writer_of(one.one.operands[0])),
                                     .watch = watch(index)});
                break;
            default: run_one(one);
        }
    }
}

// kTry and kApply are in one stream of work, so the card knows of every number that is not finite before
// kApply reads that, and the host need not wait. Either all parameters change or none; whether one would not
// be finite is known only after all were tried.
void CudaDevice::update(const GroupCall& call) {
    std::vector<AdamWArgs> tensors;
    for (const std::uint32_t index : call.group.operators)
        tensors.push_back(adamw_args(call_of(index, call.tensors)));
    for (const UpdatePass pass : {UpdatePass::kTry, UpdatePass::kApply}) update_all(tensors, pass);
}

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
