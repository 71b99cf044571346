// SPDX-License-Identifier: Apache-2.0
// Reads and writes the parts of tokenizer.json around its model: normalizer, pre_tokenizer, post_processor,
// decoder.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>

#include "trainer/data/tokenizer.hpp"

namespace assay::trainer {

/// The error "tokenizer.json cannot be used: "FIELD" is VALUE; supported: …". Its fix says which tokenizers
/// are read.
base::Failed<base::Error> refuse_field(const std::string& field, const nlohmann::json& value,
                                       const std::string& supported);
base::Failed<base::Error> refuse_tokenizer(const std::string& what);

/// Checks that `value` is an object with no other keys than these. Errors: kUsage, naming the field.
base::Outcome<void> check_keys(const nlohmann::json& value, const std::string& field,
                               std::initializer_list<const char*> known);

/// The member, or JSON null when it is missing.
const nlohmann::json& member(const nlohmann::json& object, const char* key);

/// Fills split, nfc, before_text and after_text. Refuses every part that would give other ids, or another
/// text, than our tokenizer. REQUIRES an object. Errors: kUsage.
base::Outcome<void> read_pipeline(const nlohmann::json& root, BpeTables& tables);

nlohmann::ordered_json normalizer_json(const BpeTables& tables);
nlohmann::ordered_json pre_tokenizer_json(const BpeTables& tables);
nlohmann::ordered_json post_processor_json(const BpeTables& tables);
nlohmann::ordered_json byte_level_json(bool use_regex);

}  // namespace assay::trainer
