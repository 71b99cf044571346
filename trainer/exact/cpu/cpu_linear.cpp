// SPDX-License-Identifier: Apache-2.0
// Linear layers, their gradients, and gradients that are sums down columns.
#include "contracts/arithmetic/elementary.hpp"
#include "contracts/base/check.hpp"
#include "trainer/exact/cpu/cpu_backend.hpp"
#include "trainer/exact/cpu/cpu_scratch.hpp"

namespace assay::trainer {

using Kind = program::OperatorKind;
using program::WeightLayout;

namespace {
// rms_norm_parameter_gradient_carry of one sequence, for some columns.
void rms_columns(ColumnShape shape, const float* dy, const float* x, const float* rstd, float* sum) {
    for (std::uint64_t j = 0; j < shape.cols; ++j) {
        float gain = 0.0F;
        for (std::uint64_t t = 0; t < shape.rows; ++t) {
            gain = arithmetic::fma32(dy[t * shape.stride + j], x[t * shape.stride + j] * rstd[t], gain);
        }
        sum[j] = sum[j] + gain;
    }
}
}  // namespace

void CpuBackend::linear(const GroupCall& call) {
    const std::uint32_t index = call.group.operators.front();
    const Operator& one = program_->operators[index];
    const std::uint64_t n = cols(one.outputs[0]);
    const std::uint64_t k = cols(one.operands[0]);
    // The weight as the product's right side [k,n]: x·W of [in,out] and dy·W of [out,in] take it as it lies.
    const bool as_it_lies = (one.kind == Kind::kLinear) == (one.layout == WeightLayout::kInOut);
    Product product{row_count(),       n, k, {in(call, one, 0), k, 1}, {in(call, one, 1), n, 1},
                    out(call, one, 0), n};
    if (!as_it_lies) product.b = {in(call, one, 1), 1, k};
    if (one.kind == Kind::kLinear && one.operands.size() > 2) product.bias = in(call, one, 2);
    product.rule = one.rule;
    note(index, products_->product(product, pool_));
    rows(call, 1);
}

void CpuBackend::weight_gradient(const GroupCall& call) {
    const std::uint32_t index = call.group.operators.front();
    const Operator& one = program_->operators[index];
    // xᵀ·dy for [in,out], dyᵀ·x for [out,in].
    const std::size_t left = one.layout == WeightLayout::kInOut ? 0 : 1;
    const std::uint64_t m = cols(one.operands[left]);
    const std::uint64_t n = cols(one.operands[1 - left]);
    Product product{
        m, n, row_count(), {in(call, one, left), 1, m}, {in(call, one, 1 - left), n, 1}, out(call, one, 0),
        n};
    product.start = ChainStart::kCarry;
    product.rule = one.rule;
    note(index, products_->product(product, pool_));
}

void CpuBackend::column_gradient(const GroupCall& call) {
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
                    rms_columns(shape, dy, in(call, one, 1) + row * n + first, thin(2).data(), sum);
                    finite &= kernels_.all_finite(view(sum, last - first));
                    break;
                default: ASSAY_CHECK(false);
            }
        }
        note(index, finite);
    });
}

}  // namespace assay::trainer
