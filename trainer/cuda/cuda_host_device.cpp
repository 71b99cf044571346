// SPDX-License-Identifier: Apache-2.0
#include "trainer/cuda/cuda_host_device.hpp"

#include <algorithm>
#include <numeric>

#include "contracts/base/check.hpp"
#include "trainer/host/floating_point.hpp"

namespace assay::trainer::cuda {

CudaHostDevice::CudaHostDevice(int threads, const StreamOptions& options)
    : pool_(threads), stream_(pool_, options), arena_(make_heap_arena()) {}

PlanHints CudaHostDevice::hints() const { return {.tokens = 2048, .head_rows = 2048, .runs_groups = false}; }

base::Outcome<void> CudaHostDevice::check() {
    if (stream_.faults().any()) {
        return base::fail(base::ErrorKind::kPreflight,
                          "a kernel broke a rule of the machine: " + stream_.faults().to_text(),
                          "report this: the kernels of this build are not to be used");
    }
    return refuse_floating_point(floating_point_faults() | pool_.take_faults());
}

std::uint64_t CudaHostDevice::own_bytes(const program::Program& program, const GroupShape& shape) const {
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

void CudaHostDevice::begin(const program::Program& program, const StepNumbers& numbers) {
    program_ = &program;
    numbers_ = numbers;
    const program::ModelConfig& model = program.model;
    context_ = model.context;
    diverged_ = kNoOperator;
    loss_total_ = 0.0F;
    if (model.has_rotary_positions() && rope_model_ != model) {
        rope_cos_.resize(context_ * model.head_dim() / 2);
        rope_sin_.resize(rope_cos_.size());
        arithmetic::rope_table(context_, model.head_dim(), model.rope_theta.value(), rope_cos_, rope_sin_);
        rope_model_ = model;
    }
}

void CudaHostDevice::load(std::span<const std::uint32_t> tokens) {
    const std::uint64_t stride = context_ + 1;
    ASSAY_CHECK(tokens.size() % stride == 0);
    inputs_.clear();
    targets_.clear();
    for (std::uint64_t start = 0; start < tokens.size(); start += stride) {
        const auto one = tokens.subspan(start, stride);
        for (const std::uint32_t token : one) ASSAY_CHECK(token < program_->model.vocabulary);
        inputs_.insert(inputs_.end(), one.begin(), one.end() - 1);
        targets_.insert(targets_.end(), one.begin() + 1, one.end());
    }
}

void CudaHostDevice::select(std::uint64_t first, std::uint64_t count) {
    ASSAY_CHECK((first + count) * context_ <= inputs_.size());
    first_ = first;
    sequences_ = count;
    places_.resize(row_count());
    std::iota(places_.begin(), places_.end(), 0U);
    const std::uint32_t* const mine = inputs();
    std::stable_sort(places_.begin(), places_.end(),
                     [mine](std::uint32_t a, std::uint32_t b) { return mine[a] < mine[b]; });
    token_.clear();
    token_first_.clear();
    for (std::uint32_t i = 0; i < places_.size(); ++i) {
        if (!token_.empty() && token_.back() == mine[places_[i]]) continue;
        token_.push_back(mine[places_[i]]);
        token_first_.push_back(i);
    }
    token_first_.push_back(static_cast<std::uint32_t>(places_.size()));
}

void CudaHostDevice::run(const GroupCall& call) {
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

std::optional<std::uint32_t> CudaHostDevice::wait(std::span<const float* const> scalars,
                                                  std::span<float> values) {
    for (std::size_t i = 0; i < scalars.size(); ++i) values[i] = *scalars[i];
    return diverged_ == kNoOperator ? std::nullopt : std::optional<std::uint32_t>(diverged_);
}

std::uint64_t CudaHostDevice::rows_of(program::TensorId id) const {
    return program_->tensors[id].rows.of(sequences_);
}

OutputArray<float> CudaHostDevice::out(const OperatorCall& call, std::size_t i) const {
    const program::TensorId id = call.one.outputs[i];
    return {.data = call.tensors[id], .count = rows_of(id) * cols(id)};
}

OutputArray<float> CudaHostDevice::room(std::vector<float>& room, std::uint64_t count) const {
    if (room.size() < count) room.resize(count);
    return {.data = room.data(), .count = count};
}

}  // namespace assay::trainer::cuda
