// SPDX-License-Identifier: Apache-2.0
// Weights as right sides of products, packed once for all micro-batches of a step or an evaluation. A weight
// has a form per orientation: the scales of digits run along k. Each is the right side of one operator, so
// operators are the keys. begin() forgets them all: it stands between an update and every use after it.
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

void CpuDevice::begin_packed_weights() {
    packed_weights_.clear();
    if (!numbers_.keep_weights || products_->pack_b == nullptr) return;
    std::uint64_t next = 0;
    for (const Operator& one : program_->operators) {
        packed_weights_.push_back({next, false});
        next += packed_weight_bytes(*program_, one);
    }
    packed_data_ = packed_memory_.take(next);
}

void CpuDevice::use_packed_weight(std::uint32_t index, Product& product) {
    if (packed_weights_.empty()) return;
    PackedWeight& kept = packed_weights_[index];
    std::byte* packed = packed_data_ + kept.offset;
    if (!kept.is_there) products_->pack_b(product, pool_, packed);
    kept.is_there = true;
    product.packed_b = packed;
}

}  // namespace assay::trainer
