// SPDX-License-Identifier: Apache-2.0
#include "trainer/cpu/cpu_device.hpp"

#include <algorithm>

#include "contracts/arithmetic/optimizer.hpp"
#include "contracts/arithmetic/rope.hpp"
#include "contracts/base/check.hpp"
#include "contracts/base/floating_point.hpp"
#include "trainer/cpu/cpu_scratch.hpp"

namespace assay::trainer {

using Kind = program::OperatorKind;

CpuDevice::CpuDevice(Target target, int threads, Arena* arena)
    : HostDevice({.all_finite = kernels(target).all_finite,
                  .hash = kernels(target).hash_batch,
                  .outer_nesterov = kernels(target).outer_nesterov}),
      target_(target),
      kernels_(kernels(target)),
      pool_(threads),
      own_arena_(arena == nullptr ? make_heap_arena() : nullptr),
      arena_(arena == nullptr ? *own_arena_ : *arena) {
    if (product_checks_are_on()) guard_.emplace(make_product_guard());
}

PlanHints CpuDevice::hints() const {
    // Enough for a product to run at full speed; more only takes memory.
    return {.tokens = 2048, .head_rows = 1024, .starts_weight_gradients = true};
}

base::Outcome<void> CpuDevice::check() {
    if (guard_ && guard_->wrong() > 0) {
        return base::fail(base::ErrorKind::kPreflight,
                          "a product of integers came out wrong on target " + std::string(to_text(target_)) +
                              ": a core or the memory of this machine is faulty",
                          "test this machine's memory and processor; until then let it compute nothing");
    }
    // A library may change the mode of any thread at any time.
    return base::refuse_floating_point(base::floating_point_faults() | pool_.take_faults());
}

float* CpuDevice::allocate(std::uint64_t count) { return arena_.allocate(count); }

void CpuDevice::share(std::uint64_t count, std::uint64_t grain, const ShareWork& work) {
    pool_.split(count, grain, work);
}

std::uint64_t CpuDevice::scratch(const program::Program& program, const Group& group,
                                 const GroupShape& shape) const {
    const std::uint64_t context = program.model.context;
    switch (group.kind) {
        case GroupKind::kAttention: return pool_.threads() * context * context;
        case GroupKind::kAttentionGradient: return 2 * pool_.threads() * context * context;
        case GroupKind::kHead: return shape.head_rows * program.model.vocabulary + shape.sequences * context;
        case GroupKind::kSingle:
            if (program.operators[group.operators.front()].kind != Kind::kGlobalNorm) return 0;
            [[fallthrough]];
        case GroupKind::kCollect: {
            std::uint64_t tiles = 0;
            for (const program::TensorInfo& info : program.parameters) {
                tiles += arithmetic::tile_count(info.rows, info.cols);
            }
            return tiles;
        }
        case GroupKind::kUpdate: return pool_.threads() * kTrialArrays * kTrialLength;
        default: return 0;
    }
}

void CpuDevice::begin(const program::Program& program, const StepNumbers& numbers) {
    program_ = &program;
    numbers_ = numbers;
    const program::ModelConfig& model = program.model;
    context_ = model.context;
    width_ = model.width;
    vocabulary_ = model.vocabulary;
    products_ = &products(program.profile, target_);
    loss_total_ = 0.0F;
    diverged_ = kNone;
    if (model.has_rotary_positions() && model != rope_model_) {
        rope_cos_.resize(context_ * model.head_dim() / 2);
        rope_sin_.resize(rope_cos_.size());
        arithmetic::rope_table(context_, model.head_dim(), model.rope_theta.value(), rope_cos_, rope_sin_);
        rope_model_ = model;
    }
    begin_weights();
    begin_watching();
    warm_up();
}

void CpuDevice::load(std::span<const std::uint32_t> tokens) {
    const std::uint64_t stride = context_ + 1;
    ASSAY_CHECK(tokens.size() % stride == 0);
    row_of_token_.assign(vocabulary_, kNone);
    last_place_.resize(vocabulary_);
    inputs_.clear();
    targets_.clear();
    next_place_.assign(tokens.size() / stride * context_, kNone);
    is_first_place_.assign(next_place_.size(), false);
    std::uint32_t rows = 0;
    for (std::uint64_t start = 0; start < tokens.size(); start += stride) {
        const auto one = tokens.subspan(start, stride);
        for (const std::uint32_t token : one) {
            ASSAY_CHECK(token < vocabulary_);
            last_place_[token] = kNone;
        }
        for (const std::uint32_t token : one.first(context_)) {
            const auto place = static_cast<std::uint32_t>(inputs_.size());
            if (row_of_token_[token] == kNone) row_of_token_[token] = rows++;
            if (last_place_[token] == kNone) {
                is_first_place_[place] = true;
            } else {
                next_place_[last_place_[token]] = place;
            }
            last_place_[token] = place;
            inputs_.push_back(token);
        }
        targets_.insert(targets_.end(), one.begin() + 1, one.end());
    }
}

void CpuDevice::select(std::uint64_t first, std::uint64_t count) {
    ASSAY_CHECK((first + count) * context_ <= inputs_.size());
    first_ = first;
    sequences_ = count;
}

void CpuDevice::run(const GroupCall& call) {
    for (const program::TensorId id : call.group.writes) {
        if (watched_[id] != MaximaOf::kNothing) maxima_[id].forget();
    }
    switch (call.group.kind) {
        case GroupKind::kRows: return rows(call, 0);
        case GroupKind::kLinear: return linear(call);
        case GroupKind::kAttention: return attention(call);
        case GroupKind::kAttentionGradient: return attention_gradient(call);
        case GroupKind::kHead: return head(call);
        case GroupKind::kLogits: return logits(call);
        case GroupKind::kWeightGradient: return weight_gradient(call);
        case GroupKind::kColumnGradient: return column_gradient(call);
        case GroupKind::kEmbeddingGradient: return embedding_gradient(call);
        case GroupKind::kCollect: global_norm(call); return clip(call);
        case GroupKind::kUpdate: return update(call);
        case GroupKind::kSingle: return single(call);
    }
}

std::optional<std::uint32_t> CpuDevice::wait(std::span<const float* const> scalars, std::span<float> values) {
    for (std::size_t i = 0; i < scalars.size(); ++i) values[i] = *scalars[i];
    const std::uint32_t index = diverged_;
    return index == kNone ? std::nullopt : std::optional<std::uint32_t>(index);
}

bool CpuDevice::multiply(Product& product) {
    product.guard = guard_ ? &*guard_ : nullptr;
    return products_->product(product, pool_);
}

void CpuDevice::note(std::uint32_t index, bool finite) {
    if (finite) return;
    std::uint32_t seen = diverged_;
    while (index < seen && !diverged_.compare_exchange_weak(seen, index)) {
    }
}

std::uint32_t CpuDevice::place_of(const Group& group, Kind kind) const {
    for (const std::uint32_t index : group.operators) {
        if (program_->operators[index].kind == kind) return index;
    }
    ASSAY_CHECK(false);
    return 0;
}

const program::Operator* CpuDevice::find(const Group& group, Kind kind) const {
    for (const std::uint32_t index : group.operators) {
        if (program_->operators[index].kind == kind) return &program_->operators[index];
    }
    return nullptr;
}

}  // namespace assay::trainer
