// SPDX-License-Identifier: Apache-2.0
// Linear layers, their gradients, and gradients that are sums down columns.
#include <algorithm>

#include "contracts/base/check.hpp"
#include "trainer/cpu/cpu_device.hpp"
#include "trainer/cpu/cpu_scratch.hpp"
#include "trainer/cpu/integer/integer_products.hpp"

namespace assay::trainer {

using Kind = program::OperatorKind;
using program::WeightLayout;

namespace {
std::size_t left_of_weight_gradient(const program::Operator& one) {
    return one.kind == Kind::kHeadWeightGradient || one.layout == WeightLayout::kInOut ? 0 : 1;
}
}  // namespace

// A product of an operator on `rows` rows: all but the addresses.
Product CpuDevice::shape_of(const program::Program& program, const Operator& one, std::uint64_t rows) {
    const auto cols = [&](program::TensorId id) { return program.tensors[id].cols; };
    const bool in_out = one.layout == WeightLayout::kInOut;
    Product product;
    product.rule = one.rule;
    if (one.kind == Kind::kLinearWeightGradient || one.kind == Kind::kHeadWeightGradient) {
        // xᵀ·dy for [in,out], dyᵀ·x for [out,in], dlogitsᵀ·h for the head.
        const std::size_t left = left_of_weight_gradient(one);
        product.m = cols(one.operands[left]), product.n = cols(one.operands[1 - left]), product.k = rows;
        product.a = {nullptr, 1, product.m};
        product.b = {nullptr, product.n, 1};
    } else {
        product.m = rows, product.n = cols(one.outputs[0]), product.k = cols(one.operands[0]);
        product.a = {nullptr, product.k, 1};
        // The right side [k,n]: x·W of [in,out], dy·W of [out,in] and dlogits·W take W as it lies.
        const bool as_it_lies = one.kind == Kind::kLinear ? in_out
                                : one.kind == Kind::kLinearInputGradient
                                    ? !in_out
                                    : one.kind == Kind::kHeadInputGradient;
        if (as_it_lies) {
            product.b = {nullptr, product.n, 1};
        } else {
            product.b = {nullptr, 1, product.k};
        }
    }
    product.c_stride = product.n;
    return product;
}

std::uint64_t CpuDevice::own_bytes(const program::Program& program, const GroupShape& shape) const {
    const program::ModelConfig& model = program.model;
    const arithmetic::HeadShape head{model.context, model.head_dim()};
    std::uint64_t kept = pool_.threads() * products(program.profile, target_).thread_bytes(head);
    if (shape.keep_weights) kept += Scratch::size_for(packed_weight_bytes(program));
    // Cosines and sines.
    if (model.has_rotary_positions()) kept += sizeof(float) * model.context * model.head_dim();
    if (program.profile != program::Profile::kI16) return kept;
    std::uint64_t most = 0;
    for (const Operator& one : program.operators) {
        const bool of_head = one.kind == Kind::kHead || one.kind == Kind::kHeadInputGradient ||
                             one.kind == Kind::kHeadWeightGradient;
        const bool multiplies = of_head || one.kind == Kind::kLinear ||
                                one.kind == Kind::kLinearInputGradient ||
                                one.kind == Kind::kLinearWeightGradient;
        if (!multiplies) continue;
        const std::uint64_t rows = of_head ? shape.head_rows : shape.sequences * model.context;
        const bool packed = shape.keep_weights && multiplies_weight(one);
        most = std::max(most, integer_scratch_bytes(target_, shape_of(program, one, rows), pool_.threads(),
                                                    packed ? integer::PackedB::kYes : integer::PackedB::kNo));
    }
    return most + kept + maxima_bytes(program, shape);
}

void CpuDevice::linear(const GroupCall& call) {
    const std::uint32_t index = call.group.operators.front();
    const Operator& one = program_->operators[index];
    Product product = shape_of(*program_, one, row_count());
    product.a.data = in(call, one, 0);
    product.b.data = in(call, one, 1);
    product.c = out(call, one, 0);
    product.a_maxima = row_maxima(one.operands[0]);
    if (one.kind == Kind::kLinear && one.operands.size() > 2) product.bias = in(call, one, 2);
    prepare_weight(index, product);
    note(index, multiply(product));
    rows(call, 1);
}

void CpuDevice::weight_gradient(const GroupCall& call) {
    const std::uint32_t index = call.group.operators.front();
    const Operator& one = program_->operators[index];
    const std::size_t left = left_of_weight_gradient(one);
    Product product = shape_of(*program_, one, row_count());
    product.a.data = in(call, one, left);
    product.b.data = in(call, one, 1 - left);
    product.c = out(call, one, 0);
    product.start = start_of_gradient(first_ * context_);
    product.a_maxima = column_maxima(one.operands[left]);
    product.b_maxima = column_maxima(one.operands[1 - left]);
    note(index, multiply(product));
}

void CpuDevice::column_gradient(const GroupCall& call) {
    constexpr std::size_t kColumns = 16;  // least share of a thread
    const std::uint32_t index = call.group.operators.front();
    const Operator& one = program_->operators[index];
    const std::uint64_t n = cols(one.operands[0]);
    pool_.split(n, kColumns, [&](std::size_t first, std::size_t last) {
        const ColumnShape shape{context_, last - first, n};
        bool finite = true;
        for (std::uint64_t s = 0; s < sequences_; ++s) {
            const std::uint64_t row = s * context_;
            const float* dy = in(call, one, 0) + row * n + first;
            float* sum = out(call, one, 0) + first;
            const auto thin = [&](std::size_t i) { return view(in(call, one, i) + row, context_); };
            switch (one.kind) {
                case Kind::kLinearBiasGradient: finite &= kernels_.bias_gradient(shape, dy, sum); break;
                case Kind::kLayerNormParameterGradient:
                    finite &= kernels_.layer_norm_parameter_gradient(
                        shape, dy, in(call, one, 1) + row * n + first, {thin(2), thin(3)}, sum,
                        out(call, one, 1) + first);
                    break;
                case Kind::kRmsNormParameterGradient:
                    finite &= kernels_.rms_norm_parameter_gradient(
                        shape, dy, in(call, one, 1) + row * n + first, thin(2), sum);
                    break;
                default: ASSAY_CHECK(false);
            }
        }
        note(index, finite);
    });
}

}  // namespace assay::trainer
