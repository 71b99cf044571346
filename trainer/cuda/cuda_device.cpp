// SPDX-License-Identifier: Apache-2.0
#include "trainer/cuda/cuda_device.hpp"

#include <algorithm>
#include <numeric>

#include "contracts/arithmetic/rope.hpp"
#include "contracts/base/check.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

CudaDevice::CudaDevice(std::unique_ptr<Card> card)
    : card_(std::move(card)),
      diverged_(*card_),
      failed_(*card_),
      loss_total_(*card_),
      inputs_(*card_),
      targets_(*card_),
      token_(*card_),
      token_first_(*card_),
      places_(*card_),
      rope_cos_(*card_),
      rope_sin_(*card_),
      left_(*card_),
      right_(*card_),
      digests_(*card_),
      more_digests_(*card_),
      sums_(*card_),
      more_sums_(*card_),
      matrix_(*card_),
      update_(*card_),
      updates_(*card_),
      factors_(*card_) {}

CudaDevice::~CudaDevice() {
    for (const Adoption& one : adopted_) card_->release(one.at);
}

PlanHints CudaDevice::hints() const { return {.tokens = 2048, .head_rows = 2048, .runs_groups = false}; }

std::uint64_t CudaDevice::own_bytes(const program::Program& program, const GroupShape& shape) const {
    // Digits take at most a word of each plane for four numbers, lines filled up to 32, and an exponent for
    // 128; sums of columns, sequences and tiles are shorter than their tensors.
    constexpr std::uint64_t kBytesANumber = 4, kLeast = 32;
    std::uint64_t most = 0;
    for (const program::Operator& one : program.operators) {
        std::uint64_t bytes = 0;
        for (const auto* list : {&one.operands, &one.outputs}) {
            for (const program::TensorId id : *list) {
                const program::Tensor& tensor = program.tensors[id];
                const std::uint64_t rows = tensor.rows.of(shape.sequences);
                bytes += kBytesANumber * (rows + kLeast) * (tensor.cols + kLeast);
            }
        }
        most = std::max(most, bytes);
    }
    return most;
}

void CudaDevice::begin(const program::Program& program, const StepNumbers& numbers) {
    program_ = &program;
    numbers_ = numbers;
    const program::ModelConfig& model = program.model;
    context_ = model.context;
    diverged_.put(kNoOperator);
    loss_total_.put(0.0F);
    if (model.has_rotary_positions() && rope_model_ != model) {
        std::vector<float> cos(context_ * model.head_dim() / 2), sin(cos.size());
        arithmetic::rope_table(context_, model.head_dim(), static_cast<double>(model.rope_theta.value()), cos,
                               sin);
        rope_cos_.put(cos);
        rope_sin_.put(sin);
        rope_model_ = model;
    }
}

void CudaDevice::load(std::span<const std::uint32_t> tokens) {
    const std::uint64_t stride = context_ + 1;
    ASSAY_CHECK(tokens.size() % stride == 0);
    std::vector<std::uint32_t> targets;
    loaded_.clear();
    for (std::uint64_t start = 0; start < tokens.size(); start += stride) {
        const auto one = tokens.subspan(start, stride);
        for (const std::uint32_t token : one) ASSAY_CHECK(token < program_->model.vocabulary);
        loaded_.insert(loaded_.end(), one.begin(), one.end() - 1);
        targets.insert(targets.end(), one.begin() + 1, one.end());
    }
    inputs_.put(loaded_);
    targets_.put(targets);
}

void CudaDevice::select(std::uint64_t first, std::uint64_t count) {
    ASSAY_CHECK((first + count) * context_ <= loaded_.size());
    first_ = first;
    sequences_ = count;
    std::vector<std::uint32_t> places(row_count()), token, token_first;
    std::iota(places.begin(), places.end(), 0U);
    const std::uint32_t* const mine = loaded_.data() + first * context_;
    std::stable_sort(places.begin(), places.end(),
                     [mine](std::uint32_t a, std::uint32_t b) { return mine[a] < mine[b]; });
    for (std::uint32_t i = 0; i < places.size(); ++i) {
        if (!token.empty() && token.back() == mine[places[i]]) continue;
        token.push_back(mine[places[i]]);
        token_first.push_back(i);
    }
    token_first.push_back(static_cast<std::uint32_t>(places.size()));
    token_count_ = token.size();
    token_.put(token);
    token_first_.put(token_first);
    places_.put(places);
}

void CudaDevice::run(const GroupCall& call) {
    const bool is_update = call.group.kind == GroupKind::kUpdate;
    ASSAY_CHECK(is_update || call.group.kind == GroupKind::kSingle);
    const auto each = [&](UpdatePass pass) {
        for (const std::uint32_t index : call.group.operators) {
            run_one({program_->operators[index], call.tensors, index}, pass);
        }
    };
    if (!is_update) return each(UpdatePass::kAlways);
    // All parameters change or none: whether one would not be finite is known only after all were tried.
    each(UpdatePass::kTry);
    each(UpdatePass::kApply);
}

std::optional<std::uint32_t> CudaDevice::wait(std::span<const float* const> scalars,
                                              std::span<float> values) {
    for (std::size_t i = 0; i < scalars.size(); ++i) card_->to_host(&values[i], scalars[i], sizeof(float));
    const unsigned index = diverged_.first();
    return index == kNoOperator ? std::nullopt : std::optional<std::uint32_t>(index);
}

std::uint64_t CudaDevice::rows_of(program::TensorId id) const {
    return program_->tensors[id].rows.of(sequences_);
}

OutputArray<float> CudaDevice::out(const OperatorCall& call, std::size_t i) const {
    const program::TensorId id = call.one.outputs[i];
    OutputArray<float> array;
    array.data = call.tensors[id];
    array.count = rows_of(id) * cols(id);
    return array;
}

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
