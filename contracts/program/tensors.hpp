// SPDX-License-Identifier: Apache-2.0
// The canonical parameters of a model. Names and orientation are those of Hugging Face, without the
// "transformer." or "model." prefix (GPT-2's Conv1D weights are [in,out], Llama's are [out,in]). Tensors are
// in byte order of their names, row-major, a tied head once, concatenated without padding. Products of Llama
// that read the same rows are one here: self_attn.qkv_proj stacks the rows of q_proj, k_proj and v_proj,
// mlp.gate_up_proj those of gate_proj and up_proj (docs/formats/model-folder.md). The families in models/
// define which tensors there are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "contracts/program/job_spec.hpp"

namespace assay::program {

struct TensorInfo {
    std::string name;
    std::uint64_t rows = 0;  ///< 1 for a 1-d tensor
    std::uint64_t cols = 0;
    std::uint64_t offset = 0;      ///< of its first element in the flat array
    bool is_vector = false;        ///< 1-d in the model file
    bool writes_residual = false;  ///< matrix of a product whose output is added to the residual stream

    [[nodiscard]] std::uint64_t size() const { return rows * cols; }
    /// Whether weight decay applies: to matrices only, not to biases and gains.
    [[nodiscard]] bool decays() const { return !is_vector; }
};

/// In canonical order. REQUIRES sizes that check_spec accepts (spec_check.hpp).
std::vector<TensorInfo> parameter_tensors(const ModelConfig& model);

/// Numbers in the flat array.
std::uint64_t parameter_count(const ModelConfig& model);

/// Place of `name` in `tensors`. REQUIRES that it is there.
std::size_t tensor_index(const std::vector<TensorInfo>& tensors, std::string_view name);

}  // namespace assay::program
