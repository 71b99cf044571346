// SPDX-License-Identifier: Apache-2.0
// Chooses the tensors whose largest magnitudes the device finds while it writes them: those that
// exact-integer products read and that operators over rows write. Tensors of attention are left out, because
// each head writes only parts of rows.
#include <algorithm>

#include "trainer/cpu/cpu_device.hpp"

namespace assay::trainer {

using Kind = program::OperatorKind;
using program::TensorId;

void CpuDevice::list_watched(const program::Program& program, std::vector<MaximaOf>& all) {
    all.assign(program.tensors.size(), MaximaOf::kNothing);
    if (program.profile != program::Profile::kI16) return;
    for (const Operator& one : program.operators) {
        switch (one.kind) {
            case Kind::kLinear:
            case Kind::kLinearInputGradient:
            case Kind::kHead: {
                MaximaOf& rows = all[one.operands[0]];
                rows = std::max(rows, MaximaOf::kRows);
                break;
            }
            case Kind::kLinearWeightGradient:
            case Kind::kHeadWeightGradient:
                all[one.operands[0]] = all[one.operands[1]] = MaximaOf::kRowsAndColumns;
                break;
            default: break;
        }
    }
    for (const Operator& one : program.operators) {
        if (group_kind(one) == GroupKind::kRows) continue;
        for (const TensorId id : one.outputs) all[id] = MaximaOf::kNothing;
    }
}

std::vector<MaximaOf> CpuDevice::watched(const program::Program& program) {
    std::vector<MaximaOf> all;
    list_watched(program, all);
    return all;
}

MaximaOf CpuDevice::watch_of_logits(const program::Program& program) {
    const auto is_read = [](const Operator& one) { return one.kind == Kind::kHeadWeightGradient; };
    const bool is_step = std::any_of(program.operators.begin(), program.operators.end(), is_read);
    return is_step && program.profile == program::Profile::kI16 ? MaximaOf::kRowsAndColumns
                                                                : MaximaOf::kNothing;
}

std::uint64_t CpuDevice::share_columns(const program::Program& program,
                                       const std::vector<MaximaOf>& watched) {
    std::uint64_t widest = 0;
    for (TensorId id = 0; id < watched.size(); ++id) {
        if (watched[id] != MaximaOf::kNothing) widest = std::max(widest, program.tensors[id].cols);
    }
    const bool has_logits = watch_of_logits(program) != MaximaOf::kNothing;
    std::uint64_t weight = 0;  // the widest
    if (program.profile == program::Profile::kI16 && uses_both_forms(program)) {
        for (const Operator& one : program.operators) {
            if (multiplies_weight(one)) weight = std::max(weight, program.tensors[one.operands[1]].cols);
        }
    }
    return std::max<std::uint64_t>(
        {kMostWatched * widest, has_logits ? program.model.vocabulary : 0, weight});
}

std::uint64_t CpuDevice::maxima_bytes(const program::Program& program, const GroupShape& shape) const {
    if (program.profile != program::Profile::kI16) return 0;
    const std::vector<MaximaOf> all = watched(program);
    const std::uint64_t context = program.model.context;
    std::uint64_t bytes =
        pool_.threads() * share_columns(program, all) * sizeof(std::int32_t) +
        TensorMaxima::bytes({shape.head_rows, program.model.vocabulary, context}, watch_of_logits(program));
    for (TensorId id = 0; id < all.size(); ++id) {
        bytes += TensorMaxima::bytes({shape.sequences * context, program.tensors[id].cols, context}, all[id]);
    }
    return bytes + weight_maxima_bytes(program);
}

void CpuDevice::begin_watching() {
    list_watched(*program_, watched_);
    logits_watch_ = watch_of_logits(*program_);
    columns_of_share_ = share_columns(*program_, watched_);
    if (columns_of_share_ > 0 && maxima_.size() < watched_.size()) {
        maxima_ = std::vector<TensorMaxima>(watched_.size());
    }
    const std::uint64_t columns = pool_.threads() * columns_of_share_;
    if (share_memory_.size() < columns) share_memory_ = std::vector<std::int32_t>(columns);
    forget_tensors();
}

void CpuDevice::forget_tensors() {
    for (TensorMaxima& one : maxima_) one.forget();
    logits_maxima_.forget();
}

LaneMaxima CpuDevice::row_maxima(TensorId id, std::uint64_t first) const {
    return watched_[id] == MaximaOf::kNothing ? LaneMaxima() : maxima_[id].of_rows(row_count(), first);
}

LaneMaxima CpuDevice::column_maxima(TensorId id, std::uint64_t first) const {
    return watched_[id] == MaximaOf::kNothing ? LaneMaxima() : maxima_[id].of_columns(row_count(), first);
}

std::span<const CpuDevice::Watched> CpuDevice::watch(std::span<const std::uint32_t> places) {
    std::size_t count = 0;
    std::uint64_t columns = 0;
    for (const std::uint32_t index : places) {
        const TensorId id = program_->operators[index].outputs[0];
        if (watched_[id] == MaximaOf::kNothing || count == kMostWatched) continue;
        maxima_[id].prepare({row_count(), cols(id), context_}, watched_[id]);
        watched_here_[count++] = {id, columns};
        columns += cols(id);
    }
    next_share_ = 0;
    return {watched_here_.data(), count};
}

std::int32_t* CpuDevice::next_share() { return share_memory_.data() + next_share_++ * columns_of_share_; }

}  // namespace assay::trainer
