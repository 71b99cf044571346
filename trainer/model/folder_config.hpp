// SPDX-License-Identifier: Apache-2.0
// Gives model folders config.json of the two families, as transformers 4 and 5 write it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contracts/base/error.hpp"
#include "contracts/program/job_spec.hpp"

namespace assay::trainer {

/// Ids that generation needs; none of them changes what the model computes.
struct SpecialIds {
    std::optional<std::uint32_t> begin;  ///< bos_token_id
    std::vector<std::uint32_t> end;      ///< eos_token_id: none, one, or a list of any of which ends a text
    std::optional<std::uint32_t> pad;    ///< pad_token_id
    friend bool operator==(const SpecialIds&, const SpecialIds&) = default;
};

struct ConfigFile {
    program::ModelConfig config;
    SpecialIds ids;  ///< those below the vocabulary
};

/// GPT2LMHeadModel or LlamaForCausalLM. Both `dtype` (transformers 5) and `torch_dtype` (4) are written, and
/// for Llama both `rope_parameters` (5) and `rope_theta` (4).
std::string config_json(const program::ModelConfig& config, const SpecialIds& ids);

/// Reads config.json; refuses anything that would compute another function than ours, and any key that is not
/// known to leave the function alone, by name, value and what is supported. A key that is absent has the
/// value that transformers gives it; sizes must be there. Llama's weights do not depend on the number of
/// positions: `context`, when given, is taken instead of a max_position_embeddings that is not smaller.
/// `context_key`: where the reader can say so, for the error that advises it. Errors: kUsage.
base::Outcome<ConfigFile> config_from_json(std::string_view json,
                                           std::optional<std::uint32_t> context = std::nullopt,
                                           std::string_view context_key = "--context");

}  // namespace assay::trainer
