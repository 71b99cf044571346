// SPDX-License-Identifier: Apache-2.0
// Of which tensors the device finds the largest magnitudes while it writes them: those that exact-integer
// products read and operators over rows write. Attention's heads write parts of rows, of which nobody has a
// whole one at hand.
#include <algorithm>

#include "trainer/cpu/cpu_device.hpp"

namespace assay::trainer {

using Kind = program::OperatorKind;
using program::TensorId;

void CpuDevice::list_watched(const program::Program& program, std::vector<bool>& watched) {
    watched.assign(program.tensors.size(), false);
    if (program.profile != program::Profile::kI16) return;
    for (const Operator& one : program.operators) {
        switch (one.kind) {
            case Kind::kLinearWeightGradient:
            case Kind::kHeadWeightGradient: watched[one.operands[1]] = true; [[fallthrough]];
            case Kind::kLinear:
            case Kind::kLinearInputGradient:
            case Kind::kHead: watched[one.operands[0]] = true; break;
            default: break;
        }
    }
    for (const Operator& one : program.operators) {
        if (group_kind(one) == GroupKind::kRows) continue;
        for (const TensorId id : one.outputs) watched[id] = false;
    }
}

std::uint64_t CpuDevice::maxima_bytes(const program::Program& program, const GroupShape& shape) const {
    std::vector<bool> watched;
    list_watched(program, watched);
    const std::uint64_t context = program.model.context;
    std::uint64_t all = 0, widest = 0;
    for (TensorId id = 0; id < watched.size(); ++id) {
        if (!watched[id]) continue;
        const std::uint64_t cols = program.tensors[id].cols;
        all += TensorMaxima::bytes(shape.sequences * context, cols, context);
        widest = std::max(widest, kMostWatched * cols);
    }
    const bool of_logits = std::any_of(program.operators.begin(), program.operators.end(),
                                       [](const auto& one) { return one.kind == Kind::kHeadWeightGradient; });
    if (program.profile == program::Profile::kI16 && of_logits) {
        all += TensorMaxima::bytes(shape.head_rows, program.model.vocabulary, context);
        widest = std::max<std::uint64_t>(widest, program.model.vocabulary);
    }
    return all + pool_.threads() * widest * sizeof(std::int32_t);
}

void CpuDevice::begin_watching() {
    list_watched(*program_, watched_);
    if (maxima_.size() < watched_.size()) maxima_ = std::vector<TensorMaxima>(watched_.size());
    forget_tensors();
}

void CpuDevice::forget_tensors() {
    for (TensorMaxima& one : maxima_) one.forget();
}

std::span<const CpuDevice::Watched> CpuDevice::watch(std::span<const std::uint32_t> places) {
    std::size_t count = 0;
    std::uint64_t columns = 0;
    for (const std::uint32_t index : places) {
        const TensorId id = program_->operators[index].outputs[0];
        if (!watched_[id] || count == kMostWatched) continue;
        maxima_[id].prepare(row_count(), cols(id), context_);
        watched_here_[count++] = {id, columns};
        columns += cols(id);
    }
    take_share_columns(columns);
    return {watched_here_.data(), count};
}

void CpuDevice::take_share_columns(std::uint64_t columns) {
    share_columns_ = columns;
    if (share_memory_.size() < pool_.threads() * columns) share_memory_.resize(pool_.threads() * columns);
    next_share_ = 0;
}

std::int32_t* CpuDevice::columns_of_share() { return share_memory_.data() + next_share_++ * share_columns_; }

}  // namespace assay::trainer
