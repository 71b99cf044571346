// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "contracts/program/program.hpp"

namespace assay::program {

namespace {

// Activations of a layer that the backward pass reads.
struct LayerTensors {
    TensorId x = 0, norm1 = 0, mean1 = 0, rstd1 = 0;
    TensorId qkv = 0, p = 0, o = 0;
    TensorId middle = 0, norm2 = 0, mean2 = 0, rstd2 = 0;
    TensorId fc = 0, gelu = 0;
};

struct Norm {
    TensorId y = 0, mean = 0, rstd = 0;
};

class Builder {
public:
    Builder(const ModelConfig& model, Profile profile)
        : width_(model.width),
          context_(model.context),
          vocabulary_(model.vocabulary),
          heads_(model.heads),
          head_dim_(model.width / model.heads),
          pairs_(heads_ * (context_ * (context_ + 1) / 2)) {
        program_.model = model;
        program_.profile = profile;
        program_.parameters = parameter_tensors(model);
        declare_per_parameter("", Role::kParameter);
    }

    void forward() {
        inputs_ = tensor("inputs", Role::kTokens, {0, 1}, context_);
        targets_ = tensor("targets", Role::kTokens, {0, 1}, context_);
        TensorId x = rows("embedding", Role::kActivation, width_);
        op(OperatorKind::kEmbedding, "embedding.forward",
           {inputs_, parameter("wte.weight"), parameter("wpe.weight")}, {x}, {0, context_ * width_});
        for (layer_ = 0; layer_ < static_cast<std::int32_t>(program_.model.layers); ++layer_) {
            x = layer_forward(x);
        }
        layer_ = -1;
        last_ = x;
        final_ = layer_norm("ln_f", x);
        loss_forward();
    }

    void step(const TrainConfig& train) {
        program_.clip_norm = train.clip_norm.value();
        declare_per_parameter(".first_moment", Role::kFirstMoment);
        declare_per_parameter(".second_moment", Role::kSecondMoment);
        declare_per_parameter(".gradient", Role::kParameterGradient);
        forward();
        TensorId dx = loss_backward();
        for (layer_ = static_cast<std::int32_t>(program_.model.layers) - 1; layer_ >= 0; --layer_) {
            dx = layer_backward(layers_[static_cast<std::size_t>(layer_)], dx);
        }
        layer_ = -1;
        const TensorId embedding =
            tensor("wte.weight.gradient.embedding", Role::kParameterGradient, {vocabulary_, 0}, width_);
        op(OperatorKind::kEmbeddingGradient, "embedding.backward", {inputs_, dx},
           {embedding, gradient("wpe.weight")}, {0, 2 * context_ * width_});
        op(OperatorKind::kTiedGradient, "wte.tied.backward", {head_gradient_, embedding},
           {gradient("wte.weight")}, {vocabulary_ * width_, 0});
        optimizer();
    }

    Program take() && { return std::move(program_); }

private:
    TensorId tensor(std::string name, Role role, Extent extent, std::uint64_t cols) {
        program_.tensors.push_back({std::move(name), role, extent, cols});
        return static_cast<TensorId>(program_.tensors.size() - 1);
    }
    TensorId rows(const std::string& name, Role role, std::uint64_t cols) {
        return tensor(prefix() + name, role, {0, context_}, cols);
    }
    TensorId head_matrix(const std::string& name, Role role, std::uint64_t cols) {
        return tensor(prefix() + name, role, {0, heads_ * context_}, cols);
    }
    [[nodiscard]] std::string prefix() const {
        return layer_ < 0 ? std::string() : "h." + std::to_string(layer_) + ".";
    }
    void op(OperatorKind kind, const std::string& name, std::vector<TensorId> operands,
            std::vector<TensorId> outputs, Operations count) {
        program_.operators.push_back(
            {kind, prefix() + name, layer_, std::move(operands), std::move(outputs), count});
    }

    void declare_per_parameter(const std::string& suffix, Role role) {
        if (role == Role::kParameterGradient) first_gradient_ = program_.tensors.size();
        if (role == Role::kFirstMoment) first_moment_ = program_.tensors.size();
        if (role == Role::kSecondMoment) second_moment_ = program_.tensors.size();
        for (const TensorInfo& info : program_.parameters) {
            tensor(info.name + suffix, role, {info.rows, 0}, info.cols);
        }
    }
    [[nodiscard]] TensorId parameter(const std::string& name) const {
        return static_cast<TensorId>(tensor_index(program_.parameters, prefix() + name));
    }
    [[nodiscard]] TensorId gradient(const std::string& name) const {
        return static_cast<TensorId>(first_gradient_) + parameter(name);
    }

    Norm layer_norm(const std::string& name, TensorId x) {
        const Norm out{rows(name, Role::kActivation, width_), rows(name + ".mean", Role::kActivation, 1),
                       rows(name + ".rstd", Role::kActivation, 1)};
        op(OperatorKind::kLayerNorm, name + ".forward",
           {x, parameter(name + ".weight"), parameter(name + ".bias")}, {out.y, out.mean, out.rstd},
           {0, context_ * (7 * width_ + 6)});
        return out;
    }

    TensorId linear(const std::string& name, TensorId x, std::uint64_t in, std::uint64_t out) {
        const TensorId y = rows(name, Role::kActivation, out);
        op(OperatorKind::kLinear, name + ".forward",
           {x, parameter(name + ".weight"), parameter(name + ".bias")}, {y},
           {0, context_ * (2 * in * out + out)});
        return y;
    }

    TensorId residual(const std::string& name, TensorId a, TensorId b) {
        const TensorId y = rows(name, Role::kActivation, width_);
        op(OperatorKind::kAdd, name + ".forward", {a, b}, {y}, {0, context_ * width_});
        return y;
    }

    TensorId residual_backward(const std::string& name, TensorId a, TensorId b) {
        const TensorId y = rows(name + ".gradient", Role::kGradient, width_);
        op(OperatorKind::kAdd, name + ".backward", {a, b}, {y}, {0, context_ * width_});
        return y;
    }

    TensorId layer_forward(TensorId x) {
        LayerTensors t;
        t.x = x;
        const Norm norm1 = layer_norm("ln_1", x);
        t.norm1 = norm1.y, t.mean1 = norm1.mean, t.rstd1 = norm1.rstd;
        t.qkv = linear("attn.c_attn", t.norm1, width_, 3 * width_);
        attention_forward(t);
        const TensorId projected = linear("attn.c_proj", t.o, width_, width_);
        t.middle = residual("attn.residual", x, projected);
        const Norm norm2 = layer_norm("ln_2", t.middle);
        t.norm2 = norm2.y, t.mean2 = norm2.mean, t.rstd2 = norm2.rstd;
        t.fc = linear("mlp.c_fc", t.norm2, width_, 4 * width_);
        t.gelu = rows("mlp.gelu", Role::kActivation, 4 * width_);
        op(OperatorKind::kGelu, "mlp.gelu.forward", {t.fc}, {t.gelu}, {0, context_ * 4 * width_ * 28});
        const TensorId out = linear("mlp.c_proj", t.gelu, 4 * width_, width_);
        layers_.push_back(t);
        return residual("mlp.residual", t.middle, out);
    }

    void attention_forward(LayerTensors& t) {
        const TensorId scores = head_matrix("attn.scores", Role::kActivation, context_);
        op(OperatorKind::kAttentionScores, "attn.scores.forward", {t.qkv}, {scores},
           {0, pairs_ * (2 * head_dim_ + 1)});
        const TensorId max = head_matrix("attn.max", Role::kActivation, 1);
        op(OperatorKind::kSoftmaxMax, "attn.max.forward", {scores}, {max}, {0, pairs_});
        const TensorId e = head_matrix("attn.exp", Role::kActivation, context_);
        op(OperatorKind::kSoftmaxExp, "attn.exp.forward", {scores, max}, {e}, {0, 21 * pairs_});
        const TensorId total = head_matrix("attn.sum", Role::kActivation, 1);
        op(OperatorKind::kSoftmaxSum, "attn.sum.forward", {e}, {total}, {0, pairs_});
        t.p = head_matrix("attn.probabilities", Role::kActivation, context_);
        op(OperatorKind::kSoftmaxDivide, "attn.probabilities.forward", {e, total}, {t.p}, {0, pairs_});
        t.o = rows("attn.values", Role::kActivation, width_);
        op(OperatorKind::kAttentionValues, "attn.values.forward", {t.p, t.qkv}, {t.o},
           {0, pairs_ * 2 * head_dim_});
    }

    void loss_forward() {
        logits_ = rows("lm_head", Role::kActivation, vocabulary_);
        op(OperatorKind::kHead, "lm_head.forward", {final_.y, parameter("wte.weight")}, {logits_},
           {0, 2 * context_ * width_ * vocabulary_});
        const std::uint64_t cells = context_ * vocabulary_;
        const TensorId max = rows("loss.max", Role::kActivation, 1);
        op(OperatorKind::kLossMax, "loss.max.forward", {logits_}, {max}, {0, cells});
        exp_ = rows("loss.exp", Role::kActivation, vocabulary_);
        op(OperatorKind::kLossExp, "loss.exp.forward", {logits_, max}, {exp_}, {0, 21 * cells});
        exp_sum_ = rows("loss.sum", Role::kActivation, 1);
        op(OperatorKind::kLossSum, "loss.sum.forward", {exp_}, {exp_sum_}, {0, cells});
        const TensorId losses = rows("loss.tokens", Role::kActivation, 1);
        op(OperatorKind::kLossTokens, "loss.tokens.forward", {logits_, max, exp_sum_, targets_}, {losses},
           {0, 22 * context_});
        program_.loss = tensor("loss", Role::kScalar, {1, 0}, 1);
        op(OperatorKind::kLossTotal, "loss.total.forward", {losses}, {program_.loss}, {1, context_ + 1});
    }

    // The gradient of the last layer's output.
    TensorId loss_backward() {
        const TensorId dlogits = rows("lm_head.gradient", Role::kGradient, vocabulary_);
        op(OperatorKind::kLossGradient, "loss.backward", {exp_, exp_sum_, targets_}, {dlogits},
           {0, 2 * context_ * vocabulary_ + context_});
        const TensorId dh = rows("ln_f.gradient", Role::kGradient, width_);
        const Operations product{0, 2 * context_ * width_ * vocabulary_};
        op(OperatorKind::kHeadInputGradient, "lm_head.input.backward", {dlogits, parameter("wte.weight")},
           {dh}, product);
        head_gradient_ =
            tensor("wte.weight.gradient.head", Role::kParameterGradient, {vocabulary_, 0}, width_);
        op(OperatorKind::kHeadWeightGradient, "lm_head.weight.backward", {dlogits, final_.y},
           {head_gradient_}, product);
        return layer_norm_backward("ln_f", dh, last_, final_, "last.gradient");
    }

    TensorId layer_norm_backward(const std::string& name, TensorId dy, TensorId x, const Norm& norm,
                                 const std::string& out_name) {
        const TensorId dx = rows(out_name, Role::kGradient, width_);
        op(OperatorKind::kLayerNormInputGradient, name + ".input.backward",
           {dy, x, norm.mean, norm.rstd, parameter(name + ".weight")}, {dx},
           {0, context_ * (10 * width_ + 2)});
        op(OperatorKind::kLayerNormParameterGradient, name + ".parameters.backward",
           {dy, x, norm.mean, norm.rstd}, {gradient(name + ".weight"), gradient(name + ".bias")},
           {0, 5 * context_ * width_ + 2 * width_});
        return dx;
    }

    TensorId linear_backward(const std::string& name, TensorId x, TensorId dy, std::uint64_t in,
                             std::uint64_t out, const std::string& dx_name) {
        const TensorId dx = rows(dx_name, Role::kGradient, in);
        const Operations product{0, 2 * context_ * in * out};
        op(OperatorKind::kLinearInputGradient, name + ".input.backward", {dy, parameter(name + ".weight")},
           {dx}, product);
        op(OperatorKind::kLinearWeightGradient, name + ".weight.backward", {x, dy},
           {gradient(name + ".weight")}, product);
        op(OperatorKind::kLinearBiasGradient, name + ".bias.backward", {dy}, {gradient(name + ".bias")},
           {0, context_ * out + out});
        return dx;
    }

    TensorId layer_backward(const LayerTensors& t, TensorId dy) {
        const TensorId dgelu =
            linear_backward("mlp.c_proj", t.gelu, dy, 4 * width_, width_, "mlp.gelu.gradient");
        const TensorId dfc = rows("mlp.c_fc.gradient", Role::kGradient, 4 * width_);
        op(OperatorKind::kGeluGradient, "mlp.gelu.backward", {t.fc, dgelu}, {dfc},
           {0, context_ * 4 * width_ * 36});
        const TensorId dnorm2 =
            linear_backward("mlp.c_fc", t.norm2, dfc, width_, 4 * width_, "ln_2.gradient");
        const TensorId dbranch2 =
            layer_norm_backward("ln_2", dnorm2, t.middle, {t.norm2, t.mean2, t.rstd2}, "mlp.input.gradient");
        const TensorId dmiddle = residual_backward("mlp.residual", dy, dbranch2);
        const TensorId d_o =
            linear_backward("attn.c_proj", t.o, dmiddle, width_, width_, "attn.values.gradient");
        const TensorId dqkv = attention_backward(t, d_o);
        const TensorId dnorm1 =
            linear_backward("attn.c_attn", t.norm1, dqkv, width_, 3 * width_, "ln_1.gradient");
        const TensorId dbranch1 =
            layer_norm_backward("ln_1", dnorm1, t.x, {t.norm1, t.mean1, t.rstd1}, "attn.input.gradient");
        return residual_backward("attn.residual", dmiddle, dbranch1);
    }

    TensorId attention_backward(const LayerTensors& t, TensorId d_o) {
        const TensorId dqkv = rows("attn.c_attn.gradient", Role::kGradient, 3 * width_);
        const Operations product{0, pairs_ * 2 * head_dim_};
        op(OperatorKind::kAttentionValueGradient, "attn.value.backward", {t.p, d_o}, {dqkv}, product);
        const TensorId dp = head_matrix("attn.probabilities.gradient", Role::kGradient, context_);
        op(OperatorKind::kAttentionProbabilityGradient, "attn.probabilities.backward", {d_o, t.qkv}, {dp},
           product);
        const TensorId dot = head_matrix("attn.dot", Role::kGradient, 1);
        op(OperatorKind::kSoftmaxDot, "attn.dot.backward", {dp, t.p}, {dot}, {0, 2 * pairs_});
        const TensorId ds = head_matrix("attn.scores.gradient", Role::kGradient, context_);
        op(OperatorKind::kSoftmaxGradient, "attn.scores.backward", {dp, t.p, dot}, {ds}, {0, 3 * pairs_});
        op(OperatorKind::kAttentionQueryGradient, "attn.query.backward", {ds, t.qkv}, {dqkv}, product);
        op(OperatorKind::kAttentionKeyGradient, "attn.key.backward", {ds, t.qkv}, {dqkv}, product);
        return dqkv;
    }

    void optimizer() {
        std::vector<TensorId> gradients;
        for (TensorId i = 0; i < program_.parameters.size(); ++i) {
            gradients.push_back(static_cast<TensorId>(first_gradient_) + i);
        }
        const std::uint64_t count = parameter_count(program_.model);
        program_.norm = tensor("norm", Role::kScalar, {1, 0}, 1);
        op(OperatorKind::kGlobalNorm, "norm", gradients, {program_.norm}, {2 * count, 0});
        const TensorId clip = tensor("clip", Role::kScalar, {1, 0}, 1);
        op(OperatorKind::kClip, "clip", {program_.norm}, {clip}, {3, 0});
        for (TensorId i = 0; i < program_.parameters.size(); ++i) {
            const TensorId m = static_cast<TensorId>(first_moment_) + i;
            const TensorId v = static_cast<TensorId>(second_moment_) + i;
            op(OperatorKind::kAdamW, program_.parameters[i].name + ".adamw", {gradients[i], clip, i, m, v},
               {i, m, v}, {17 * program_.parameters[i].size(), 0});
        }
    }

    Program program_;
    std::uint64_t width_, context_, vocabulary_, heads_, head_dim_;
    std::uint64_t pairs_;  // (query, key) pairs of all heads of a sequence
    std::int32_t layer_ = -1;
    std::size_t first_gradient_ = 0, first_moment_ = 0, second_moment_ = 0;
    TensorId inputs_ = 0, targets_ = 0, last_ = 0, logits_ = 0, exp_ = 0, exp_sum_ = 0, head_gradient_ = 0;
    Norm final_;
    std::vector<LayerTensors> layers_;
};

}  // namespace

Program build_step_program(const ModelConfig& model, const TrainConfig& train, Profile profile) {
    Builder builder(model, profile);
    builder.step(train);
    return std::move(builder).take();
}

Program build_evaluate_program(const ModelConfig& model, Profile profile) {
    Builder builder(model, profile);
    builder.forward();
    return std::move(builder).take();
}

}  // namespace assay::program
