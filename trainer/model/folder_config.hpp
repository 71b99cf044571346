// SPDX-License-Identifier: Apache-2.0
// Reads and writes a model folder's config.json for the two families, as transformers 4 and 5 write it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contracts/base/error.hpp"
#include "contracts/program/job_spec.hpp"

namespace assay::trainer {

/// Ids for text generation; none of them changes what the model computes.
struct SpecialIds {
    std::optional<std::uint32_t> begin;  ///< bos_token_id
    std::vector<std::uint32_t> end;      ///< eos_token_id: none, one or several; any of them ends a text
    std::optional<std::uint32_t> pad;    ///< pad_token_id
    friend bool operator==(const SpecialIds&, const SpecialIds&) = default;
};

struct ConfigFile {
    program::ModelConfig config;
    SpecialIds ids;  ///< those below the vocabulary
};

/// Writes a GPT2LMHeadModel or LlamaForCausalLM. Both `dtype` (transformers 5) and `torch_dtype` (4) are
/// written, and for Llama both `rope_parameters` (5) and `rope_theta` (4).
std::string config_json(const program::ModelConfig& config, const SpecialIds& ids);

/// Reads config.json. Refuses anything that would compute another function than ours, and any key that is not
/// known to leave the function unchanged, naming the key, its value and what is supported. Sizes must be
/// present; any other missing key has the default of transformers. Llama's weights do not depend on the
/// number of positions, so `context`, when given, replaces a max_position_embeddings that is not smaller.
/// `context_key` is the option that the error advises for that. Errors: kUsage.
base::Outcome<ConfigFile> config_from_json(std::string_view json,
                                           std::optional<std::uint32_t> context = std::nullopt,
                                           std::string_view context_key = "--context");

}  // namespace assay::trainer
