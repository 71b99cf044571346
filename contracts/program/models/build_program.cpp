// SPDX-License-Identifier: Apache-2.0
// What program.hpp and tensors.hpp promise of a model, from the pieces of its family.
#include <algorithm>
#include <utility>

#include "contracts/program/models/decoder.hpp"

namespace assay::program {

std::vector<TensorInfo> parameter_tensors(const ModelConfig& model) {
    const models::DecoderModel decoder = models::decoder_of(model);
    std::vector<TensorInfo> out = decoder.other_parameters().tensors();
    const models::ParameterList layer = decoder.layer_parameters();
    for (std::uint32_t i = 0; i < model.layers; ++i) {
        const std::string prefix = decoder.layers + std::to_string(i) + ".";
        for (const TensorInfo& tensor : layer.tensors()) {
            out.push_back(tensor);
            out.back().name = prefix + tensor.name;
        }
    }
    std::sort(out.begin(), out.end(),
              [](const TensorInfo& a, const TensorInfo& b) { return a.name < b.name; });
    std::uint64_t offset = 0;
    for (TensorInfo& tensor : out) {
        tensor.offset = offset;
        offset += tensor.size();
    }
    return out;
}

std::uint64_t parameter_count(const ModelConfig& model) {
    const models::DecoderModel decoder = models::decoder_of(model);
    return model.layers * decoder.layer_parameters().size() + decoder.other_parameters().size();
}

Program build_step_program(const ModelConfig& model, const TrainConfig& train, Profile profile) {
    models::ProgramBuilder builder(model, profile);
    builder.declare_training(train.clip_norm.value());
    models::add_step(builder, models::decoder_of(model));
    return std::move(builder).take();
}

Program build_evaluate_program(const ModelConfig& model, Profile profile) {
    models::ProgramBuilder builder(model, profile);
    models::add_evaluation(builder, models::decoder_of(model));
    return std::move(builder).take();
}

}  // namespace assay::program
