// SPDX-License-Identifier: Apache-2.0
// The weights of a model folder: converts between tensors with transformers' names and shapes and the flat
// array of contracts/program/tensors.hpp. Every tensor of a file is one range of the array: our tensors that
// are several in a file (Llama's q, k and v, its gate and up) stack these by rows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "contracts/base/error.hpp"
#include "contracts/program/job_spec.hpp"

namespace assay::trainer {

/// A tensor of a model folder and its place in the flat array.
struct FolderTensor {
    std::string name;                  ///< with its prefix: "model.layers.0.self_attn.q_proj.weight"
    std::vector<std::uint64_t> shape;  ///< one size or two
    std::uint64_t offset = 0;
    std::uint64_t count = 0;
};

/// Every tensor that a folder of this model holds, sorted by offset. A tied head is not among them.
std::vector<FolderTensor> folder_tensors(const program::ModelConfig& config);

/// Size from which weights are cut into several files, as `transformers` did until version 5.
inline constexpr std::uint64_t kMaxShardBytes = 5'000'000'000;

/// Reads model.safetensors, or the files of model.safetensors.index.json. Types may be F32, BF16 and F16;
/// names may lack the family's prefix. A tied head may be present when it equals the embedding. Buffers that
/// old versions of transformers saved (GPT-2's masks, Llama's rotary frequencies) are ignored. Errors:
/// kNotFound (no file); kUsage (a tensor that is missing, repeated, unknown, or of another shape or type; a
/// number that is not finite; a file that cannot be read as what it should be); kFailure (disk).
base::Outcome<std::vector<float>> read_weights(const std::filesystem::path& folder,
                                               const program::ModelConfig& config);

/// Writes model.safetensors, or, when the tensors have more than `max_shard_bytes`,
/// model-00001-of-0000N.safetensors and so on with model.safetensors.index.json. Tensors stay whole, so a
/// file can be larger than that. REQUIRES parameters.size() == program::parameter_count(config). Errors:
/// kFailure (disk).
base::Outcome<void> write_weights(const std::filesystem::path& folder, const program::ModelConfig& config,
                                  std::span<const float> parameters, std::uint64_t max_shard_bytes);

}  // namespace assay::trainer
