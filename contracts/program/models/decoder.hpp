// SPDX-License-Identifier: Apache-2.0
// DecoderModel is the order of pieces that all model families share: an embedding; layers of norm, attention,
// residual, norm, mlp, residual; a norm; the head. A family fills it with its pieces and their names.
#pragma once

#include <string>

#include "contracts/program/models/attention.hpp"
#include "contracts/program/models/embedding.hpp"
#include "contracts/program/models/head.hpp"
#include "contracts/program/models/mlp.hpp"
#include "contracts/program/models/norm.hpp"

namespace assay::program::models {

struct DecoderModel {
    std::string layers;  ///< prefix of layers: "h."
    Embedding embedding;
    Norm norm1;
    Attention attention;
    Norm norm2;
    Mlp mlp;
    Norm final_norm;
    LossHead head;

    /// Parameters of one layer, without its prefix, and those outside the layers.
    [[nodiscard]] ParameterList layer_parameters() const;
    [[nodiscard]] ParameterList other_parameters() const;
};

/// Adds the forward pass and the mean loss.
void add_evaluation(ProgramBuilder& builder, const DecoderModel& decoder);
/// Adds forward pass, backward pass and update. REQUIRES declare_training().
void add_step(ProgramBuilder& builder, const DecoderModel& decoder);

/// The pieces of a family.
DecoderModel gpt2(const ModelConfig& model);
DecoderModel llama(const ModelConfig& model);

/// The pieces of the model's family.
DecoderModel decoder_of(const ModelConfig& model);

}  // namespace assay::program::models
