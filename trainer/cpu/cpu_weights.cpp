// SPDX-License-Identifier: Apache-2.0
// Weights as right sides of products, packed once for all micro-batches of a step or an evaluation. A weight
// has a form per orientation: the scales of digits run along k. Each is the right side of one operator, so
// operators are the keys. The largest magnitudes of its rows scale one form, those of its columns the other;
// both are found together, in the order in which the weight lies in memory. begin() forgets everything, for
// it stands between an update and every use after it, and so does a write by the host.
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
TensorMaxima::Shape CpuDevice::weight_shape(const Product& product) {
    const bool lanes_are_columns = product.b.col_stride == 1;
    return {lanes_are_columns ? product.k : product.n, lanes_are_columns ? product.n : product.k,
            arithmetic::kMaxProductBlock};
}

std::uint64_t CpuDevice::weight_maxima_bytes(const program::Program& program) const {
    if (!uses_both_forms(program)) return 0;
    std::vector<bool> is_counted(program.tensors.size());
    std::uint64_t all = 0;
    for (const Operator& one : program.operators) {
        if (packed_weight_bytes(program, one) == 0 || is_counted[one.operands[1]]) continue;
        is_counted[one.operands[1]] = true;
        all += TensorMaxima::bytes(weight_shape(shape_of(program, one, 1)), MaximaOf::kRowsAndColumns);
    }
    return all;
}

LaneMaxima CpuDevice::weight_maxima(const Operator& one, const Product& product) {
    constexpr std::uint64_t kShare = 1U << 16;  // floats: least share of a thread
    if (product.rule.block != arithmetic::kMaxProductBlock || !uses_both_forms(*program_)) return {};
    const TensorMaxima::Shape shape = weight_shape(product);
    TensorMaxima& found = weight_maxima_[one.operands[1]];
    if (!found.is_known()) {
        found.prepare(shape, MaximaOf::kRowsAndColumns);
        next_share_ = 0;
        pool_.split(shape.rows, std::max<std::uint64_t>(1, kShare / shape.cols),
                    [&](std::size_t first, std::size_t last) {
                        TensorMaxima::Share share(found, kernels_, next_share());
                        share.see(product.b.data + first * shape.cols, first, last - first);
                    });
        found.finish();
    }
    return product.b.col_stride == 1 ? found.of_columns(shape.rows) : found.of_rows(shape.rows);
}

void CpuDevice::forget_weights() {
    for (TensorMaxima& one : weight_maxima_) one.forget();
    for (PackedWeight& one : packed_weights_) one.is_there = false;
}

void CpuDevice::begin_weights() {
    packed_weights_.clear();
    forget_weights();
    if (products_->pack_b == nullptr) return;
    const std::size_t tensors = program_->tensors.size();
    if (uses_both_forms(*program_) && weight_maxima_.size() < tensors)
        weight_maxima_ = std::vector<TensorMaxima>(tensors);
    if (!numbers_.keep_weights) return;
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
