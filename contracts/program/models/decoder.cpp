// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/models/decoder.hpp"

#include "contracts/program/models/update.hpp"

namespace assay::program::models {

namespace {

class DecoderBuilder {
public:
    DecoderBuilder(ProgramBuilder& builder, const DecoderModel& decoder) : builder_(builder), d_(decoder) {}

    void forward() {
        inputs_ = builder_.words("inputs");
        targets_ = builder_.words("targets");
        TensorId x = d_.embedding.forward(builder_, inputs_);
        for (std::uint32_t i = 0; i < builder_.model().layers; ++i) {
            builder_.enter_layer(d_.layers, i);
            x = layer_forward(x);
            builder_.leave_layer();
        }
        final_ = d_.final_norm.forward(builder_, x);
        head_ = d_.head.forward(builder_, final_.y, targets_);
    }

    void backward() {
        const LossHead::Gradients head =
            d_.head.backward(builder_, head_, targets_, d_.final_norm.name + ".gradient");
        TensorId dx = d_.final_norm.backward(builder_, final_, head.dh, "last.gradient");
        for (std::uint32_t i = builder_.model().layers; i-- > 0;) {
            builder_.enter_layer(d_.layers, i);
            dx = layer_backward(layers_[i], dx);
            builder_.leave_layer();
        }
        d_.embedding.backward(builder_, inputs_, dx, head.of_tied_weight);
    }

private:
    // What a layer's forward pass leaves to its backward pass.
    struct Layer {
        Norm::Rows norm1;
        Attention::Rows attention;
        Norm::Rows norm2;
        Mlp::Rows mlp;
    };

    TensorId layer_forward(TensorId x) {
        Layer layer;
        layer.norm1 = d_.norm1.forward(builder_, x);
        const TensorId attended = d_.attention.forward(builder_, layer.norm1.y, layer.attention);
        const TensorId middle = residual(d_.attention.name + ".residual", x, attended);
        layer.norm2 = d_.norm2.forward(builder_, middle);
        const TensorId out = d_.mlp.forward(builder_, layer.norm2.y, layer.mlp);
        layers_.push_back(std::move(layer));
        return residual(d_.mlp.name + ".residual", middle, out);
    }

    TensorId layer_backward(const Layer& layer, TensorId dy) {
        const TensorId dnorm2 = d_.mlp.backward(builder_, layer.mlp, dy, d_.norm2.name + ".gradient");
        const TensorId dbranch2 =
            d_.norm2.backward(builder_, layer.norm2, dnorm2, d_.mlp.name + ".input.gradient");
        const TensorId dmiddle = residual_backward(d_.mlp.name + ".residual", dy, dbranch2);
        const TensorId dnorm1 =
            d_.attention.backward(builder_, layer.attention, dmiddle, d_.norm1.name + ".gradient");
        const TensorId dbranch1 =
            d_.norm1.backward(builder_, layer.norm1, dnorm1, d_.attention.name + ".input.gradient");
        return residual_backward(d_.attention.name + ".residual", dmiddle, dbranch1);
    }

    TensorId residual(const std::string& name, TensorId a, TensorId b) {
        const TensorId y = builder_.rows(name, TensorRole::kActivation, builder_.model().width);
        builder_.add(OperatorKind::kAdd, name + ".forward", {a, b}, {y});
        return y;
    }
    TensorId residual_backward(const std::string& name, TensorId a, TensorId b) {
        const TensorId y = builder_.rows(name + ".gradient", TensorRole::kGradient, builder_.model().width);
        builder_.add(OperatorKind::kAdd, name + ".backward", {a, b}, {y});
        return y;
    }

    ProgramBuilder& builder_;
    const DecoderModel& d_;
    TensorId inputs_ = 0;
    TensorId targets_ = 0;
    std::vector<Layer> layers_;
    Norm::Rows final_;
    LossHead::Rows head_;
};

}  // namespace

ParameterList DecoderModel::layer_parameters() const {
    ParameterList list;
    norm1.list_parameters(list);
    attention.list_parameters(list);
    norm2.list_parameters(list);
    mlp.list_parameters(list);
    return list;
}

ParameterList DecoderModel::other_parameters() const {
    ParameterList list;
    embedding.list_parameters(list);
    final_norm.list_parameters(list);
    head.list_parameters(list);
    return list;
}

void add_evaluation(ProgramBuilder& builder, const DecoderModel& decoder) {
    DecoderBuilder(builder, decoder).forward();
}

void add_step(ProgramBuilder& builder, const DecoderModel& decoder) {
    DecoderBuilder passes(builder, decoder);
    passes.forward();
    passes.backward();
    add_update(builder);
}

DecoderModel decoder_of(const ModelConfig& model) {
    switch (model.family) {
        case Family::kGpt2: return gpt2(model);
        case Family::kLlama: break;
    }
    return llama(model);
}

}  // namespace assay::program::models
