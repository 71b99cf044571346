// SPDX-License-Identifier: Apache-2.0
#include "trainer/reference/reference_device.hpp"

#include <algorithm>

#include "contracts/arithmetic/reduce.hpp"
#include "contracts/base/floating_point.hpp"

namespace assay::trainer {

PlanHints ReferenceDevice::hints() const { return {.tokens = 2048, .head_rows = 2048, .runs_groups = false}; }

base::Outcome<void> ReferenceDevice::check() {
    return base::refuse_floating_point(base::floating_point_faults());
}

std::uint64_t ReferenceDevice::own_bytes(const program::Program& program, const GroupShape& shape) const {
    std::uint64_t floats = 0;
    for (const program::Tensor& tensor : program.tensors) {
        if (tensor.role != program::TensorRole::kTokens)
            floats += tensor.rows.of(shape.sequences) * tensor.cols;
    }
    return floats * sizeof(float);
}

void ReferenceDevice::begin(const program::Program& program, const StepNumbers& numbers) {
    program_ = &program;
    numbers_ = numbers;
    machine_.reset();
    diverged_.reset();
}

void ReferenceDevice::load(std::span<const std::uint32_t> tokens) {
    tokens_.assign(tokens.begin(), tokens.end());
}

void ReferenceDevice::select(std::uint64_t first, std::uint64_t count) {
    const std::uint64_t length = program_->model.context + 1;
    const auto chosen = std::span<const std::uint32_t>(tokens_).subspan(first * length, count * length);
    const float loss_before = machine_ ? machine_->loss_so_far() : 0.0F;
    machine_.emplace(*program_, chosen, program::StepPart{numbers_.tokens, loss_before});
}

void ReferenceDevice::run(const GroupCall& call) {
    for (const std::uint32_t index : call.group.operators) {
        // Of later operators nothing is asked any more, and earlier ones read nothing that they write.
        if (diverged_ && index >= *diverged_) return;
        const Operator& one = program_->operators[index];
        take(call, one);
        machine_->execute(one, numbers_.coefficients);
        if (!outputs_are_finite(one)) diverged_ = index;
        if (call.group.kind != GroupKind::kUpdate) give(call, one);
    }
    if (call.group.kind != GroupKind::kUpdate || diverged_) return;
    for (const std::uint32_t index : call.group.operators) give(call, program_->operators[index]);
}

void ReferenceDevice::take(const GroupCall& call, const Operator& one) {
    for (const auto* list : {&one.operands, &one.outputs}) {
        for (const program::TensorId id : *list) {
            const std::span<float> to = machine_->values(id);
            if (!to.empty()) std::copy_n(call.tensors[id], to.size(), to.begin());
        }
    }
}

void ReferenceDevice::give(const GroupCall& call, const Operator& one) {
    for (const program::TensorId id : one.outputs) {
        const std::span<float> from = machine_->values(id);
        std::copy(from.begin(), from.end(), call.tensors[id]);
    }
}

bool ReferenceDevice::outputs_are_finite(const Operator& one) {
    return std::all_of(one.outputs.begin(), one.outputs.end(),
                       [&](program::TensorId id) { return arithmetic::all_finite(machine_->values(id)); });
}

std::optional<std::uint32_t> ReferenceDevice::wait(std::span<const float* const> scalars,
                                                   std::span<float> values) {
    for (std::size_t i = 0; i < scalars.size(); ++i) values[i] = *scalars[i];
    return diverged_;
}

void ReferenceDevice::share(std::uint64_t count, std::uint64_t, const ShareWork& work) {
    if (count > 0) work(0, count);
}

}  // namespace assay::trainer
