// SPDX-License-Identifier: Apache-2.0
// Weights as right sides of products, packed once for all micro-batches of a step or an evaluation. A weight
// has a form per orientation: the scales of digits run along k. Each is the right side of one operator, so
// operators are the keys. begin() forgets what is packed.
//
// The largest magnitudes of a weight's rows scale one form, those of its columns the other. Both are found
// together, in the order in which the weight lies in memory: by the update, of what it has just written, or
// else at the first use. They stay known until somebody else may have written the weight: an update, or the
// host, which changes adopted arrays only before it adopts them or through the device.
#include <algorithm>

#include "contracts/arithmetic/product_rule.hpp"
#include "trainer/cpu/cpu_device.hpp"

namespace assay::trainer {

using Kind = program::OperatorKind;

bool CpuDevice::multiplies_weight(const Operator& one) {
    return one.kind == Kind::kLinear || one.kind == Kind::kLinearInputGradient || one.kind == Kind::kHead ||
           one.kind == Kind::kHeadInputGradient;
}

// Bytes of operator `one`; 0 where it has no weight or weights are not packed whole.
std::uint64_t CpuDevice::packed_weight_bytes(const program::Program& program, const Operator& one) const {
    const ProductKernels& table = products(program.profile, target_);
    if (table.packed_b_bytes == nullptr || !multiplies_weight(one)) return 0;
    return table.packed_b_bytes(shape_of(program, one, 1));
}

std::uint64_t CpuDevice::packed_weight_bytes(const program::Program& program) const {
    std::uint64_t all = 0;
    for (const Operator& one : program.operators) all += packed_weight_bytes(program, one);
    return all;
}

bool CpuDevice::uses_both_forms(const program::Program& program) {
    const auto is_gradient = [](const Operator& one) { return one.kind == Kind::kHeadInputGradient; };
    return std::any_of(program.operators.begin(), program.operators.end(), is_gradient);
}

// The shape of a weight's maxima. Its "sequences" are the blocks into which products cut sums over its rows.
TensorMaxima::Shape CpuDevice::weight_shape(const program::Tensor& weight) {
    return {weight.rows.fixed, weight.cols, arithmetic::kMaxProductBlock};
}

std::uint64_t CpuDevice::weight_maxima_bytes(const program::Program& program) const {
    if (!uses_both_forms(program)) return 0;
    std::vector<bool> is_counted(program.tensors.size());
    std::uint64_t all = 0;
    for (const Operator& one : program.operators) {
        if (packed_weight_bytes(program, one) == 0 || is_counted[one.operands[1]]) continue;
        is_counted[one.operands[1]] = true;
        all += TensorMaxima::bytes(weight_shape(program.tensors[one.operands[1]]), MaximaOf::kRowsAndColumns);
    }
    return all;
}

// Weights of a step whose products cut their sums where TensorMaxima does.
void CpuDevice::list_measured() {
    for (MeasuredWeight& weight : measured_weights_) weight.is_wanted = false;
    if (products_->pack_b == nullptr || !uses_both_forms(*program_)) return;
    if (measured_weights_.size() < program_->tensors.size()) {
        measured_weights_ = std::vector<MeasuredWeight>(program_->tensors.size());
    }
    for (const Operator& one : program_->operators) {
        if (!multiplies_weight(one) || one.rule.block != arithmetic::kMaxProductBlock) continue;
        MeasuredWeight& weight = measured_weights_[one.operands[1]];
        const TensorMaxima::Shape shape = weight_shape(program_->tensors[one.operands[1]]);
        if (shape != weight.shape) weight.maxima.forget();
        weight.shape = shape;
        weight.is_wanted = true;
    }
}

void CpuDevice::measure_weight(program::TensorId id, const float* data, const ShareWork& write) {
    // Numbers at a time, which are still near with their moments and gradient; and a thread's least share.
    constexpr std::uint64_t kFloats = 1U << 14U, kShare = 1U << 12U;
    MeasuredWeight& weight = measured_weights_[id];
    const std::uint64_t cols = weight.shape.cols;
    const std::uint64_t at_once = std::max<std::uint64_t>(1, kFloats / cols);
    weight.data = data;
    weight.maxima.prepare(weight.shape, MaximaOf::kRowsAndColumns);
    next_share_ = 0;
    pool_.split(weight.shape.rows, std::max<std::uint64_t>(1, kShare / cols),
                [&](std::size_t first, std::size_t last) {
                    TensorMaxima::Share share(weight.maxima, kernels_, next_share());
                    for (std::size_t row = first; row < last; row += at_once) {
                        const std::size_t count = std::min<std::size_t>(at_once, last - row);
                        write(row * cols, (row + count) * cols);
                        share.see(data + row * cols, row, count);
                    }
                });
    weight.maxima.finish();
}

LaneMaxima CpuDevice::weight_maxima(const Operator& one, const Product& product) {
    const program::TensorId id = one.operands[1];
    if (!is_measured(id)) return {};
    const MeasuredWeight& weight = measured_weights_[id];
    if (!weight.maxima.is_known() || weight.data != product.b.data) {
        measure_weight(id, product.b.data, [](std::size_t, std::size_t) {});
    }
    // Of one input number both strides are 1.
    const bool lanes_are_columns = product.b.col_stride == 1 && product.n == weight.shape.cols;
    return lanes_are_columns ? weight.maxima.of_columns(product.k) : weight.maxima.of_rows(product.n);
}

void CpuDevice::forget_weights() {
    for (MeasuredWeight& one : measured_weights_) one.maxima.forget();
    for (PackedWeight& one : packed_weights_) one.is_there = false;
}

void CpuDevice::forget_adopted() {
    moderate_ = {};
    forget_weights();
}

void CpuDevice::begin_weights() {
    packed_weights_.clear();
    list_measured();
    if (products_->pack_b == nullptr || !numbers_.keep_weights) return;
    std::uint64_t next = 0;
    for (const Operator& one : program_->operators) {
        packed_weights_.push_back({next, false});
        next += packed_weight_bytes(*program_, one);
    }
    packed_data_ = packed_memory_.take(next);
}

void CpuDevice::prepare_weight(std::uint32_t index, Product& product) {
    if (products_->pack_b == nullptr) return;
    PackedWeight* kept = packed_weights_.empty() ? nullptr : &packed_weights_[index];
    if (kept == nullptr || !kept->is_there) {
        product.b_maxima = weight_maxima(program_->operators[index], product);
    }
    if (kept == nullptr) return;
    std::byte* packed = packed_data_ + kept->offset;
    if (!kept->is_there) products_->pack_b(product, pool_, packed);
    kept->is_there = true;
    product.packed_b = packed;
}

}  // namespace assay::trainer
