// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/folder_files.hpp"

#include <nlohmann/json.hpp>

#include "contracts/program/tensors.hpp"
#include "trainer/data/json.hpp"

namespace assay::trainer {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr const char* kSchema = "assay.model/v3";

// Versions 1 and 2 name a root of an earlier law, which says nothing about these weights any more.
bool is_of_earlier_law(const std::string& schema) {
    return schema == "assay.model/v1" || schema == "assay.model/v2";
}

/// bos_token, eos_token and so on, as far as the tokenizer has them.
ordered_json special_texts(const Tokenizer& tokenizer) {
    ordered_json out = ordered_json::object();
    const auto& tokens = tokenizer.tables().tokens;
    if (const auto begin = tokenizer.begin_of_document()) out["bos_token"] = tokens[*begin];
    if (const auto end = tokenizer.end_of_document()) {
        out["eos_token"] = tokens[*end];
        out["pad_token"] = tokens[*end];
    }
    return out;
}

}  // namespace

std::string generation_config_json(const SpecialIds& ids) {
    ordered_json out;
    out["_from_model_config"] = true;
    if (ids.begin) out["bos_token_id"] = *ids.begin;
    if (ids.end.size() == 1) out["eos_token_id"] = ids.end.front();
    if (ids.end.size() > 1) out["eos_token_id"] = ids.end;
    if (ids.pad) out["pad_token_id"] = *ids.pad;
    return out.dump(2) + "\n";
}

std::string tokenizer_config_json(const Tokenizer& tokenizer, std::uint32_t context) {
    ordered_json out = special_texts(tokenizer);
    out["add_prefix_space"] = false;
    out["clean_up_tokenization_spaces"] = false;
    out["model_max_length"] = context;
    out["tokenizer_class"] = "PreTrainedTokenizerFast";
    return out.dump(2) + "\n";
}

std::string special_tokens_json(const Tokenizer& tokenizer) {
    return special_texts(tokenizer).dump(2) + "\n";
}

std::string model_card(const ModelFolderOptions& options, const base::Hash256& parameters_root) {
    const program::ModelConfig& config = options.config;
    const Provenance& from = options.provenance;
    const bool gpt2 = config.family == program::Family::kGpt2;
    const std::string family = gpt2 ? "gpt2" : "llama";
    const std::string shaped = gpt2 ? "GPT-2" : "Llama";
    std::string out = "---\nlibrary_name: transformers\npipeline_tag: text-generation\ntags:\n- " + family +
                      "\n- assay\n---\n\n";
    out += "# " + (from.job_name.empty() ? "A " + shaped + " model" : from.job_name) + "\n\n";
    out += "A language model of the " + shaped + " family";
    out += from.rounds == 0
               ? ".\n\n"
               : ", trained by machines that did not have to trust each other: every\n"
                 "step can be recomputed bit for bit from the job, its data and the run record.\n\n";
    const auto row = [&out](const std::string& name, const std::string& value) {
        out += "| " + name + " | " + value + " |\n";
    };
    out += "| | |\n|---|---|\n";
    row("parameters", std::to_string(program::parameter_count(config)));
    row("layers, width, heads", std::to_string(config.layers) + ", " + std::to_string(config.width) + ", " +
                                    std::to_string(config.heads));
    row("context", std::to_string(config.context) + " tokens");
    row("vocabulary", std::to_string(config.vocabulary) + " tokens");
    row("rounds", std::to_string(from.rounds));
    row("tokens trained on", std::to_string(from.tokens));
    if (!from.job_id.empty()) row("job", "`" + from.job_id + "`");
    if (!from.initial_blob.empty()) row("started from the weights of blob", "`" + from.initial_blob + "`");
    row("parameters root", "`" + parameters_root.hex() + "`");
    out += "\n## Data\n\n" + (from.data_source.empty() ? std::string("Not told.") : from.data_source) +
           "\n\nLicence of the data: " + (from.data_licence.empty() ? "unknown" : from.data_licence) + ".\n";
    out +=
        "\n## Use\n\n```python\nfrom transformers import AutoModelForCausalLM, AutoTokenizer\n"
        "model = AutoModelForCausalLM.from_pretrained(\".\")\n"
        "tokenizer = AutoTokenizer.from_pretrained(\".\")\n```\n";
    return out;
}

std::string provenance_json(const Provenance& from, const base::Hash256& parameters_root) {
    ordered_json out = {{"schema", kSchema},
                        {"parameters_root", parameters_root.hex()},
                        {"job_name", from.job_name},
                        {"job_id", from.job_id},
                        {"data_source", from.data_source},
                        {"data_licence", from.data_licence},
                        {"rounds", from.rounds},
                        {"tokens", from.tokens}};
    if (!from.initial_blob.empty()) out["initial_blob"] = from.initial_blob;
    return out.dump(2) + "\n";
}

base::Outcome<ProvenanceFile> provenance_from_json(std::string_view text) {
    ASSAY_ASSIGN(const json root, parse_json(text, "assay.json"));
    ObjectReader reader(root, "assay.json");
    const std::string schema = reader.text("schema");
    if (is_of_earlier_law(schema)) {
        reader.refuse("its root is of an earlier law (" + schema +
                      "); without assay.json the weights are read as a folder made elsewhere");
    } else if (schema != kSchema) {
        reader.refuse(std::string("its schema is not ") + kSchema);
    }
    ProvenanceFile file;
    file.parameters_root = reader.hash("parameters_root");
    file.provenance.job_name = reader.text("job_name");
    file.provenance.job_id = reader.text("job_id");
    file.provenance.data_source = reader.text("data_source");
    file.provenance.data_licence = reader.text("data_licence");
    file.provenance.rounds = static_cast<std::uint32_t>(reader.number("rounds", 0, 0xffffffffU));
    file.provenance.tokens = reader.number("tokens", 0, UINT64_MAX);
    if (reader.has("initial_blob")) file.provenance.initial_blob = reader.hash("initial_blob").hex();
    ASSAY_TRY(reader.finish());
    return file;
}

}  // namespace assay::trainer
