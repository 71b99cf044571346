// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/folder_files.hpp"

#include <array>
#include <nlohmann/json.hpp>

#include "contracts/program/tensors.hpp"
#include "trainer/data/json.hpp"

namespace assay::trainer {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr const char* kSchema = "assay.model/v1";

base::Failed<base::Error> refuse(const std::string& what) {
    return base::fail(base::ErrorKind::kUsage, "config.json cannot be used: " + what,
                      "use a GPT-2 model folder, such as `assay model export` writes");
}

/// Members that must have one value, or be absent where that is what transformers takes by default.
struct Fixed {
    const char* key;
    json value;
    bool may_be_absent;
};

const std::array<Fixed, 11>& fixed_members() {
    static const std::array<Fixed, 11> members = {{
        {"model_type", "gpt2", false},
        {"activation_function", "gelu_new", true},
        {"layer_norm_epsilon", 1e-5, true},
        {"tie_word_embeddings", true, true},
        {"n_inner", nullptr, true},
        {"scale_attn_weights", true, true},
        {"scale_attn_by_inverse_layer_idx", false, true},
        {"reorder_and_upcast_attn", false, true},
        {"add_cross_attention", false, true},
        {"is_encoder_decoder", false, true},
        {"use_cache", true, true},
    }};
    return members;
}

}  // namespace

std::string config_json(const program::ModelConfig& config, std::uint32_t end_of_text) {
    ordered_json out;
    out["architectures"] = {"GPT2LMHeadModel"};
    for (const Fixed& member : fixed_members()) out[member.key] = member.value;
    out["vocab_size"] = config.vocabulary;
    out["n_positions"] = config.context;
    out["n_ctx"] = config.context;
    out["n_embd"] = config.width;
    out["n_layer"] = config.layers;
    out["n_head"] = config.heads;
    for (const char* dropout : {"attn_pdrop", "embd_pdrop", "resid_pdrop", "summary_first_dropout"}) {
        out[dropout] = 0.0;
    }
    out["initializer_range"] = 0.02;
    out["bos_token_id"] = end_of_text;
    out["eos_token_id"] = end_of_text;
    out["dtype"] = "float32";
    out["torch_dtype"] = "float32";
    return out.dump(2) + "\n";
}

base::Outcome<program::ModelConfig> config_from_json(std::string_view text) {
    ASSAY_ASSIGN(const json root, parse_json(text, "config.json"));
    if (!root.is_object()) return refuse("it is not an object");
    for (const Fixed& member : fixed_members()) {
        if (!root.contains(member.key) && member.may_be_absent) continue;
        if (!root.contains(member.key) || root[member.key] != member.value) {
            return refuse(std::string("\"") + member.key + "\" is not " + member.value.dump());
        }
    }
    program::ModelConfig config;
    const auto take = [&root](const char* key, std::uint64_t most, std::uint32_t& target) {
        if (!root.contains(key) || !root[key].is_number_unsigned()) return false;
        const auto value = root[key].get<std::uint64_t>();
        target = static_cast<std::uint32_t>(value);
        return value >= 1 && value <= most;
    };
    // The bounds of contracts/program/spec_check.hpp, so that counts below cannot overflow.
    if (!take("n_layer", 1024, config.layers) || !take("n_embd", 65536, config.width) ||
        !take("n_head", 65536, config.heads) || !take("n_positions", 16384, config.context) ||
        !take("vocab_size", 65536, config.vocabulary)) {
        return refuse("a size of the model is missing or out of range");
    }
    if (config.width % config.heads != 0) return refuse("n_head does not divide n_embd");
    return config;
}

std::string generation_config_json(std::uint32_t end_of_text) {
    const ordered_json out = {{"_from_model_config", true},
                              {"bos_token_id", end_of_text},
                              {"eos_token_id", end_of_text},
                              {"pad_token_id", end_of_text}};
    return out.dump(2) + "\n";
}

std::string tokenizer_config_json(std::uint32_t context) {
    const ordered_json out = {{"add_prefix_space", false},   {"bos_token", kEndOfText},
                              {"eos_token", kEndOfText},     {"unk_token", kEndOfText},
                              {"pad_token", kEndOfText},     {"clean_up_tokenization_spaces", false},
                              {"model_max_length", context}, {"tokenizer_class", "PreTrainedTokenizerFast"}};
    return out.dump(2) + "\n";
}

std::string special_tokens_json() {
    const ordered_json out = {{"bos_token", kEndOfText},
                              {"eos_token", kEndOfText},
                              {"pad_token", kEndOfText},
                              {"unk_token", kEndOfText}};
    return out.dump(2) + "\n";
}

std::string model_card(const ModelFolderOptions& options, const base::Hash256& model_root) {
    const program::ModelConfig& config = options.config;
    const Provenance& from = options.provenance;
    std::string out =
        "---\nlibrary_name: transformers\npipeline_tag: text-generation\ntags:\n- gpt2\n- assay\n---\n\n";
    out += "# " + (from.job_name.empty() ? std::string("A GPT-2 model") : from.job_name) + "\n\n";
    out +=
        "A GPT-2 shaped language model, trained by machines that did not have to trust each other: every\n"
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
    row("model root", "`" + model_root.hex() + "`");
    out += "\n## Data\n\n" + (from.data_source.empty() ? std::string("Not told.") : from.data_source) +
           "\n\nLicence of the data: " + (from.data_licence.empty() ? "unknown" : from.data_licence) + ".\n";
    out +=
        "\n## Use\n\n```python\nfrom transformers import AutoModelForCausalLM, AutoTokenizer\n"
        "model = AutoModelForCausalLM.from_pretrained(\".\")\n"
        "tokenizer = AutoTokenizer.from_pretrained(\".\")\n```\n";
    return out;
}

std::string provenance_json(const Provenance& from, const base::Hash256& model_root) {
    const ordered_json out = {{"schema", kSchema},
                              {"model_root", model_root.hex()},
                              {"job_name", from.job_name},
                              {"job_id", from.job_id},
                              {"data_source", from.data_source},
                              {"data_licence", from.data_licence},
                              {"rounds", from.rounds},
                              {"tokens", from.tokens}};
    return out.dump(2) + "\n";
}

base::Outcome<ProvenanceFile> provenance_from_json(std::string_view text) {
    ASSAY_ASSIGN(const json root, parse_json(text, "assay.json"));
    ObjectReader reader(root, "assay.json");
    if (reader.text("schema") != kSchema) reader.refuse(std::string("its schema is not ") + kSchema);
    ProvenanceFile file;
    file.model_root = reader.hash("model_root");
    file.provenance.job_name = reader.text("job_name");
    file.provenance.job_id = reader.text("job_id");
    file.provenance.data_source = reader.text("data_source");
    file.provenance.data_licence = reader.text("data_licence");
    file.provenance.rounds = static_cast<std::uint32_t>(reader.number("rounds", 0, 0xffffffffU));
    file.provenance.tokens = reader.number("tokens", 0, UINT64_MAX);
    ASSAY_TRY(reader.finish());
    return file;
}

}  // namespace assay::trainer
