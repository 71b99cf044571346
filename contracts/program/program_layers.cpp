// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/program_builder.hpp"

namespace assay::program {

using arithmetic::kAttentionBlock;

ProgramBuilder::Norm ProgramBuilder::norm(const std::string& name, TensorId x) {
    Norm out;
    out.y = rows(name, Role::kActivation, width_);
    const TensorId gain = parameter(name + ".weight");
    if (llama_) {
        out.rstd = rows(name + ".rstd", Role::kActivation, 1);
        op(OperatorKind::kRmsNorm, name + ".forward", {x, gain}, {out.y, out.rstd},
           {0, context_ * (4 * width_ + 4)});
        return out;
    }
    out.mean = rows(name + ".mean", Role::kActivation, 1);
    out.rstd = rows(name + ".rstd", Role::kActivation, 1);
    op(OperatorKind::kLayerNorm, name + ".forward", {x, gain, parameter(name + ".bias")},
       {out.y, out.mean, out.rstd}, {0, context_ * (7 * width_ + 6)});
    return out;
}

TensorId ProgramBuilder::norm_backward(const std::string& name, TensorId dy, TensorId x, const Norm& norm,
                                       const std::string& out_name) {
    const TensorId dx = rows(out_name, Role::kGradient, width_);
    const TensorId gain = parameter(name + ".weight");
    if (llama_) {
        op(OperatorKind::kRmsNormInputGradient, name + ".input.backward", {dy, x, norm.rstd, gain}, {dx},
           {0, context_ * (7 * width_ + 1)});
        op(OperatorKind::kRmsNormParameterGradient, name + ".parameters.backward", {dy, x, norm.rstd},
           {gradient(name + ".weight")}, {0, 3 * context_ * width_ + width_});
        return dx;
    }
    op(OperatorKind::kLayerNormInputGradient, name + ".input.backward", {dy, x, norm.mean, norm.rstd, gain},
       {dx}, {0, context_ * (10 * width_ + 2)});
    op(OperatorKind::kLayerNormParameterGradient, name + ".parameters.backward",
       {dy, x, norm.mean, norm.rstd}, {gradient(name + ".weight"), gradient(name + ".bias")},
       {0, 5 * context_ * width_ + 2 * width_});
    return dx;
}

TensorId ProgramBuilder::linear(const std::string& name, TensorId x, std::uint64_t in, std::uint64_t out) {
    const TensorId y = rows(name, Role::kActivation, out);
    std::vector<TensorId> operands = {x, parameter(name + ".weight")};
    if (!llama_) operands.push_back(parameter(name + ".bias"));
    op(OperatorKind::kLinear, name + ".forward", std::move(operands), {y},
       {0, context_ * (2 * in * out + (llama_ ? 0 : out))})
        .layout = llama_ ? WeightLayout::kOutIn : WeightLayout::kInOut;
    return y;
}

TensorId ProgramBuilder::linear_backward(const std::string& name, TensorId x, TensorId dy, std::uint64_t in,
                                         std::uint64_t out, const std::string& dx_name) {
    const WeightLayout layout = llama_ ? WeightLayout::kOutIn : WeightLayout::kInOut;
    const TensorId dx = rows(dx_name, Role::kGradient, in);
    const Operations product{0, 2 * context_ * in * out};
    op(OperatorKind::kLinearInputGradient, name + ".input.backward", {dy, parameter(name + ".weight")}, {dx},
       product)
        .layout = layout;
    Operator& weight = op(OperatorKind::kLinearWeightGradient, name + ".weight.backward", {x, dy},
                          {gradient(name + ".weight")}, product);
    weight.layout = layout;
    weight.rule.block = context_;  // a sequence, so that micro-batches leave the bits alone
    if (llama_) return dx;
    op(OperatorKind::kLinearBiasGradient, name + ".bias.backward", {dy}, {gradient(name + ".bias")},
       {0, context_ * out + out});
    return dx;
}

TensorId ProgramBuilder::residual(const std::string& name, TensorId a, TensorId b) {
    const TensorId y = rows(name, Role::kActivation, width_);
    op(OperatorKind::kAdd, name + ".forward", {a, b}, {y}, {0, context_ * width_});
    return y;
}

TensorId ProgramBuilder::residual_backward(const std::string& name, TensorId a, TensorId b) {
    const TensorId y = rows(name + ".gradient", Role::kGradient, width_);
    op(OperatorKind::kAdd, name + ".backward", {a, b}, {y}, {0, context_ * width_});
    return y;
}

TensorId ProgramBuilder::activation_forward(TensorId up) {
    const std::string name = names_.activation;
    const TensorId y = rows(name, Role::kActivation, hidden_);
    op(llama_ ? OperatorKind::kSwiGlu : OperatorKind::kGelu, name + ".forward", {up}, {y},
       {0, context_ * hidden_ * (llama_ ? 25 : 28)});
    return y;
}

TensorId ProgramBuilder::activation_backward(const Layer& t, TensorId dy) {
    const TensorId dx = rows(std::string(names_.up) + ".gradient", Role::kGradient, up_);
    op(llama_ ? OperatorKind::kSwiGluGradient : OperatorKind::kGeluGradient,
       std::string(names_.activation) + ".backward", {t.up, dy}, {dx},
       {0, context_ * hidden_ * (llama_ ? 31 : 36)});
    return dx;
}

TensorId ProgramBuilder::layer_forward(TensorId x) {
    const std::string attention = names_.attention;
    Layer t;
    t.x = x;
    t.norm1 = norm(names_.norm1, x);
    t.qkv = linear(names_.qkv, t.norm1.y, width_, qkv_);
    attention_forward(t);
    const TensorId projected = linear(names_.out, t.o, width_, width_);
    t.middle = residual(attention + ".residual", x, projected);
    t.norm2 = norm(names_.norm2, t.middle);
    t.up = linear(names_.up, t.norm2.y, width_, up_);
    t.activation = activation_forward(t.up);
    const TensorId out = linear(names_.down, t.activation, hidden_, width_);
    layers_.push_back(t);
    return residual("mlp.residual", t.middle, out);
}

TensorId ProgramBuilder::layer_backward(const Layer& t, TensorId dy) {
    const std::string attention = names_.attention;
    const TensorId dactivation = linear_backward(names_.down, t.activation, dy, hidden_, width_,
                                                 std::string(names_.activation) + ".gradient");
    const TensorId dup = activation_backward(t, dactivation);
    const TensorId dnorm2 =
        linear_backward(names_.up, t.norm2.y, dup, width_, up_, std::string(names_.norm2) + ".gradient");
    const TensorId dbranch2 = norm_backward(names_.norm2, dnorm2, t.middle, t.norm2, "mlp.input.gradient");
    const TensorId dmiddle = residual_backward("mlp.residual", dy, dbranch2);
    const TensorId d_o =
        linear_backward(names_.out, t.o, dmiddle, width_, width_, attention + ".values.gradient");
    const TensorId dqkv = attention_backward(t, d_o);
    const TensorId dnorm1 =
        linear_backward(names_.qkv, t.norm1.y, dqkv, width_, qkv_, std::string(names_.norm1) + ".gradient");
    const TensorId dbranch1 =
        norm_backward(names_.norm1, dnorm1, t.x, t.norm1, attention + ".input.gradient");
    return residual_backward(attention + ".residual", dmiddle, dbranch1);
}

void ProgramBuilder::attention_forward(Layer& t) {
    const std::string name = names_.attention;
    if (llama_) {
        op(OperatorKind::kRope, name + ".rope.forward", {t.qkv}, {t.qkv},
           {0, context_ * 3 * (qkv_ + width_) / 2});
    }
    const TensorId scores = head_matrix(name + ".scores", Role::kActivation, context_);
    op(OperatorKind::kAttentionScores, name + ".scores.forward", {t.qkv}, {scores},
       {0, pairs_ * (2 * head_dim_ + 1)});
    const TensorId max = head_matrix(name + ".max", Role::kActivation, 1);
    op(OperatorKind::kSoftmaxMax, name + ".max.forward", {scores}, {max}, {0, pairs_});
    const TensorId e = head_matrix(name + ".exp", Role::kActivation, context_);
    op(OperatorKind::kSoftmaxExp, name + ".exp.forward", {scores, max}, {e}, {0, 21 * pairs_});
    const TensorId total = head_matrix(name + ".sum", Role::kActivation, 1);
    op(OperatorKind::kSoftmaxSum, name + ".sum.forward", {e}, {total}, {0, pairs_});
    t.p = head_matrix(name + ".probabilities", Role::kActivation, context_);
    op(OperatorKind::kSoftmaxDivide, name + ".probabilities.forward", {e, total}, {t.p}, {0, pairs_});
    t.o = rows(name + ".values", Role::kActivation, width_);
    op(OperatorKind::kAttentionValues, name + ".values.forward", {t.p, t.qkv}, {t.o},
       {0, pairs_ * 2 * head_dim_})
        .rule.block = kAttentionBlock;
}

TensorId ProgramBuilder::attention_backward(const Layer& t, TensorId d_o) {
    const std::string name = names_.attention;
    const TensorId dqkv = rows(std::string(names_.qkv) + ".gradient", Role::kGradient, qkv_);
    const Operations product{0, pairs_ * 2 * head_dim_};
    op(OperatorKind::kAttentionValueGradient, name + ".value.backward", {t.p, d_o}, {dqkv}, product)
        .rule.block = kAttentionBlock;
    const TensorId dp = head_matrix(name + ".probabilities.gradient", Role::kGradient, context_);
    op(OperatorKind::kAttentionProbabilityGradient, name + ".probabilities.backward", {d_o, t.qkv}, {dp},
       product);
    const TensorId dot = head_matrix(name + ".dot", Role::kGradient, 1);
    op(OperatorKind::kSoftmaxDot, name + ".dot.backward", {dp, t.p}, {dot}, {0, 2 * pairs_});
    const TensorId ds = head_matrix(name + ".scores.gradient", Role::kGradient, context_);
    op(OperatorKind::kSoftmaxGradient, name + ".scores.backward", {dp, t.p, dot}, {ds}, {0, 3 * pairs_});
    op(OperatorKind::kAttentionQueryGradient, name + ".query.backward", {ds, t.qkv}, {dqkv}, product)
        .rule.block = kAttentionBlock;
    op(OperatorKind::kAttentionKeyGradient, name + ".key.backward", {ds, t.qkv}, {dqkv}, product).rule.block =
        kAttentionBlock;
    if (llama_) {
        op(OperatorKind::kRopeGradient, name + ".rope.backward", {dqkv}, {dqkv},
           {0, context_ * 3 * (qkv_ + width_) / 2});
    }
    return dqkv;
}

}  // namespace assay::program
