// SPDX-License-Identifier: Apache-2.0
// The small text files of a model folder. Each is a pure function of its arguments.
#pragma once

#include <string>
#include <string_view>

#include "trainer/data/tokenizer.hpp"
#include "trainer/model/folder_config.hpp"
#include "trainer/model/model_folder.hpp"

namespace assay::trainer {

std::string generation_config_json(const SpecialIds& ids);
std::string tokenizer_config_json(const Tokenizer& tokenizer, std::uint32_t context);
std::string special_tokens_json(const Tokenizer& tokenizer);

/// README.md: the model card.
std::string model_card(const ModelFolderOptions& options, const base::Hash256& parameters_root);

/// assay.json, schema "assay.model/v3"; earlier versions have roots of an earlier law.
std::string provenance_json(const Provenance& provenance, const base::Hash256& parameters_root);

struct ProvenanceFile {
    Provenance provenance;
    base::Hash256 parameters_root;
};
base::Outcome<ProvenanceFile> provenance_from_json(std::string_view json);

}  // namespace assay::trainer
