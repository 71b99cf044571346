// SPDX-License-Identifier: Apache-2.0
// Reads and writes model folders, as Hugging Face `transformers` loads and saves them (AutoModelForCausalLM,
// GPT-2 and Llama). Ours add assay.json, which names the job that made the model and its parameters root.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "contracts/base/error.hpp"
#include "contracts/base/hash.hpp"
#include "contracts/program/job_spec.hpp"
#include "trainer/model/folder_config.hpp"
#include "trainer/model/folder_tensors.hpp"

namespace assay::trainer {

/// Where a model comes from. Nothing here depends on the time or the machine, so that the same model gives
/// the same folder.
struct Provenance {
    std::string job_name;
    std::string job_id;       ///< as the ledger names it; empty for a model trained without a ledger
    std::string data_source;  ///< Manifest::source
    std::string data_licence;
    std::uint32_t rounds = 0;  ///< rounds done
    std::uint64_t tokens = 0;  ///< tokens trained on, repetitions counted
    /// Blob id of the state that the job started from; empty for a job that started from its seed.
    std::string initial_blob = {};
    friend bool operator==(const Provenance&, const Provenance&) = default;
};

struct ModelFolder {
    program::ModelConfig config;
    SpecialIds ids;
    std::vector<float> parameters;  ///< flat, canonical (contracts/program/tensors.hpp)
    std::string tokenizer_json;     ///< text of tokenizer.json; empty when the folder has none
    Provenance provenance;          ///< empty for a folder made elsewhere
    base::Hash256 parameters_root;  ///< array root of the parameters, recomputed by the reader
};

/// What write_model_folder writes in addition to the parameters.
struct ModelFolderOptions {
    program::ModelConfig config;
    std::string tokenizer_json;  ///< text of tokenizer.json; empty: the folder has no tokenizer
    Provenance provenance;
    SpecialIds ids = {};  ///< all empty: the tokenizer's tokens that begin and end a document
    std::uint64_t max_shard_bytes = kMaxShardBytes;
    base::Bytes certificate = {};  ///< bytes of certificate.bin; empty: the folder has none
};

/// Name of the birth certificate's file. Nothing here reads its content.
inline constexpr const char* kCertificateFile = "certificate.bin";

/// "NAME-model", the folder that a job's model is written to when nobody names one. Fails (kUsage) for a name
/// that is more than the name of a file here, such as "../x": whoever submits a job chooses it.
base::Outcome<std::string> folder_of_job(const std::string& job_name);

/// Writes config.json, generation_config.json, model.safetensors (or shards with their index),
/// tokenizer.json, tokenizer_config.json, special_tokens_map.json, README.md, assay.json and certificate.bin
/// into a folder next to `folder`, then renames that to `folder`, which must be missing, empty, or a model
/// folder of ours (which is replaced, and lies in FOLDER.old meanwhile). So must FOLDER.old be. REQUIRES
/// parameters.size() == program::parameter_count(config). Returns the parameters root. Errors: kUsage (the
/// folder holds something else, tokenizer and config disagree), kFailure (disk).
base::Outcome<base::Hash256> write_model_folder(const std::filesystem::path& folder,
                                                const ModelFolderOptions& options,
                                                std::span<const float> parameters);

/// Reads a folder of `transformers` or one that write_model_folder wrote (folder_config.hpp and
/// folder_tensors.hpp say what is read); `context` as in config_from_json. Errors: kNotFound for a missing
/// folder or file; kUsage for a file that cannot be read as what it should be, or that asks for something
/// unsupported; kVerification when assay.json names another root than the parameters have.
base::Outcome<ModelFolder> read_model_folder(const std::filesystem::path& folder,
                                             std::optional<std::uint32_t> context = std::nullopt);

/// Reads only the folder's config.json, for callers that need no weights; `context` and `context_key` as in
/// config_from_json. Errors as read_model_folder's.
base::Outcome<ConfigFile> read_model_config(const std::filesystem::path& folder,
                                            std::optional<std::uint32_t> context = std::nullopt,
                                            std::string_view context_key = "--context");

}  // namespace assay::trainer
