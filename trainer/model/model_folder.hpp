// SPDX-License-Identifier: Apache-2.0
// Model folder: what Hugging Face `transformers` loads with AutoModelForCausalLM.from_pretrained (GPT-2),
// plus assay.json, which says by which job the model was made and what its root is.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "contracts/base/error.hpp"
#include "contracts/base/hash.hpp"
#include "contracts/program/job_spec.hpp"

namespace assay::trainer {

/// Where a model comes from. Nothing here depends on the time or the machine, so that the same model gives
/// the same folder.
struct Provenance {
    std::string job_name;
    std::string job_id;       ///< as the ledger names it; empty for a model trained alone
    std::string data_source;  ///< Manifest::source
    std::string data_licence;
    std::uint32_t rounds = 0;  ///< rounds done
    std::uint64_t tokens = 0;  ///< tokens trained on, repetitions counted
    friend bool operator==(const Provenance&, const Provenance&) = default;
};

struct ModelFolder {
    program::ModelConfig config;
    std::vector<float> parameters;  ///< flat, canonical (contracts/program/tensors.hpp)
    std::string tokenizer_json;
    Provenance provenance;
    base::Hash256 model_root;  ///< array root of the parameters, recomputed by the reader
};

/// What write_model_folder writes, beside the parameters.
struct ModelFolderOptions {
    program::ModelConfig config;
    std::string tokenizer_json;  ///< text of tokenizer.json
    Provenance provenance;
};

/// Writes config.json, generation_config.json, model.safetensors, tokenizer.json, tokenizer_config.json,
/// special_tokens_map.json, README.md and assay.json into a neighbour folder, then renames it to `folder`,
/// which must be missing, empty, or a model folder of ours (that one is replaced).
/// REQUIRES parameters.size() == program::parameter_count(config). Returns the model root.
/// Errors: kUsage (the folder holds something else, tokenizer and config disagree), kFailure (disk).
base::Outcome<base::Hash256> write_model_folder(const std::filesystem::path& folder,
                                                const ModelFolderOptions& options,
                                                std::span<const float> parameters);

/// Reads a folder that write_model_folder wrote. Errors: kNotFound for a missing folder or file, kUsage for
/// a file that cannot be read as what it should be, kVerification when files, config and model root do not
/// agree (a changed folder).
base::Outcome<ModelFolder> read_model_folder(const std::filesystem::path& folder);

}  // namespace assay::trainer
