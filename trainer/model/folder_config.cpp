// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/folder_config.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "contracts/program/spec_check.hpp"
#include "trainer/data/json.hpp"

namespace assay::trainer {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using program::Family;
using program::Float32;
using program::Limit;
using program::ModelConfig;

base::Failed<base::Error> refuse(const std::string& what) {
    return base::fail(base::ErrorKind::kUsage, "config.json cannot be used: " + what,
                      "use a GPT-2 or Llama model whose config.json has only what is supported "
                      "(docs/formats/model-folder.md)");
}

/// A key that must have one of these values; absent, it has the first.
struct Fixed {
    const char* key;
    std::vector<json> values;
};

/// Keys that never change the function: names, defaults of generation, dropout (training here has none),
/// heads of other tasks.
constexpr std::array kHarmless = {"_name_or_path",
                                  "architectures",
                                  "attention_dropout",
                                  "attention_probs_dropout_prob",
                                  "attn_pdrop",
                                  "auto_map",
                                  "bad_words_ids",
                                  "begin_suppress_tokens",
                                  "bos_token_id",
                                  "chunk_size_feed_forward",
                                  "decoder_start_token_id",
                                  "diversity_penalty",
                                  "do_sample",
                                  "dtype",
                                  "early_stopping",
                                  "embd_pdrop",
                                  "encoder_no_repeat_ngram_size",
                                  "eos_token_id",
                                  "exponential_decay_length_penalty",
                                  "finetuning_task",
                                  "forced_bos_token_id",
                                  "forced_eos_token_id",
                                  "gradient_checkpointing",
                                  "id2label",
                                  "initializer_range",
                                  "label2id",
                                  "length_penalty",
                                  "max_length",
                                  "min_length",
                                  "n_ctx",
                                  "no_repeat_ngram_size",
                                  "num_beam_groups",
                                  "num_beams",
                                  "num_return_sequences",
                                  "output_attentions",
                                  "output_hidden_states",
                                  "output_scores",
                                  "pad_token_id",
                                  "prefix",
                                  "problem_type",
                                  "remove_invalid_values",
                                  "repetition_penalty",
                                  "resid_pdrop",
                                  "return_dict",
                                  "return_dict_in_generate",
                                  "sep_token_id",
                                  "summary_activation",
                                  "summary_first_dropout",
                                  "summary_proj_to_labels",
                                  "summary_type",
                                  "summary_use_proj",
                                  "suppress_tokens",
                                  "task_specific_params",
                                  "temperature",
                                  "tf_legacy_loss",
                                  "tokenizer_class",
                                  "top_k",
                                  "top_p",
                                  "torch_dtype",
                                  "torchscript",
                                  "transformers_version",
                                  "typical_p",
                                  "use_bfloat16",
                                  "use_cache"};

/// `own` and what both families fix.
std::vector<Fixed> with_common(std::vector<Fixed> own) {
    const std::vector<Fixed> common = {
        {"add_cross_attention", {false}},   {"cross_attention_hidden_size", {nullptr}},
        {"is_decoder", {false, true}},      {"is_encoder_decoder", {false}},
        {"tie_encoder_decoder", {false}},   {"pruned_heads", {json::object()}},
        {"quantization_config", {nullptr}},
    };
    own.insert(own.end(), common.begin(), common.end());
    return own;
}

const std::vector<Fixed>& fixed_keys(Family family) {
    static const std::vector<Fixed> gpt2 = with_common({
        {"activation_function", {"gelu_new", "gelu_pytorch_tanh"}},
        {"layer_norm_epsilon", {1e-5}},
        {"tie_word_embeddings", {true}},
        {"scale_attn_weights", {true}},
        {"scale_attn_by_inverse_layer_idx", {false}},
        {"reorder_and_upcast_attn", {false}},
    });
    static const std::vector<Fixed> llama = with_common({
        {"hidden_act", {"silu"}},
        {"attention_bias", {false}},
        {"mlp_bias", {false}},
        {"pretraining_tp", {1}},
        {"partial_rotary_factor", {1.0}},
    });
    return family == Family::kGpt2 ? gpt2 : llama;
}

/// Takes keys of the object and remembers the first thing that was wrong.
class ConfigReader {
public:
    explicit ConfigReader(const json& root) : root_(root) {}

    [[nodiscard]] const json& value(const std::string& key) {
        static const json null;
        asked_.insert(key);
        const auto found = root_.find(key);
        return found == root_.end() ? null : *found;
    }
    void refuse_value(const std::string& key, const json& value, const std::string& supported) {
        if (wrong_) return;
        std::string shown = value.dump(-1, ' ', true);
        if (shown.size() > 120) shown = shown.substr(0, 120) + "…";
        const bool missing = value.is_null() && !root_.contains(key);
        wrong_ = "\"" + key + "\" is " + (missing ? "missing" : shown) + "; supported: " + supported;
    }
    std::uint32_t size(const char* key, const Limit& limit) {
        const json& number = value(key);
        const std::uint64_t got = number.is_number_unsigned() ? number.get<std::uint64_t>() : 0;
        if (!limit.allows(got)) refuse_value(key, number, limit.range());
        return static_cast<std::uint32_t>(got);
    }
    std::uint32_t size(const char* key, std::uint64_t most) {
        const json& number = value(key);
        const std::uint64_t got = number.is_number_unsigned() ? number.get<std::uint64_t>() : 0;
        if (got < 1 || got > most) refuse_value(key, number, "from 1 to " + std::to_string(most));
        return static_cast<std::uint32_t>(got);
    }
    Float32 number(const std::string& key, const json& found, double standard, const Limit& limit) {
        const double got = found.is_number() ? found.get<double>() : found.is_null() ? standard : -1.0;
        const bool small = std::abs(got) <= std::numeric_limits<float>::max();
        const Float32 number = small ? static_cast<float>(got) : -1.0F;
        if (limit.allows(number)) return number;
        refuse_value(key, found, limit.range());
        return static_cast<float>(standard);
    }
    void fixed(const Fixed& key) {
        const json& found = value(key.key);
        if (!root_.contains(key.key)) return;
        if (std::find(key.values.begin(), key.values.end(), found) != key.values.end()) return;
        std::string supported;
        for (const json& one : key.values) supported += (supported.empty() ? "" : ", ") + one.dump();
        refuse_value(key.key, found, supported);
    }
    [[nodiscard]] base::Outcome<void> finish() {
        for (const auto& item : root_.items()) {
            if (asked_.contains(item.key())) continue;
            if (std::find(kHarmless.begin(), kHarmless.end(), item.key()) != kHarmless.end()) continue;
            refuse_value(item.key(), item.value(), "no such key");
        }
        if (wrong_) return refuse(*wrong_);
        return {};
    }

private:
    const json& root_;
    std::set<std::string> asked_;
    std::optional<std::string> wrong_;
};

/// A position more than a job's context costs nothing: Llama has no weights for it.
constexpr std::uint64_t kMaxPositions = std::uint64_t{1} << 31;

/// The range of a job's key.
const Limit& of_job(std::string_view key) { return program::limit_of(key, Family::kLlama); }

void read_gpt2(ConfigReader& reader, std::optional<std::uint32_t> context, ModelConfig& config) {
    config.layers = reader.size("n_layer", of_job("model.layers"));
    config.width = reader.size("n_embd", of_job("model.width"));
    config.heads = reader.size("n_head", of_job("model.heads"));
    config.context = reader.size("n_positions", of_job("model.context"));
    config.vocabulary = reader.size("vocab_size", of_job("model.vocabulary"));
    const json& inner = reader.value("n_inner");
    if (!inner.is_null() && inner != json(4 * std::uint64_t{config.width}))
        reader.refuse_value("n_inner", inner, "null, " + std::to_string(4 * std::uint64_t{config.width}));
    if (context && *context != config.context)
        reader.refuse_value(
            "n_positions", config.context,
            "the context " + std::to_string(*context) + " that was asked for: GPT-2 learns its positions");
}

/// rope_theta, and nothing that scales the frequencies: `rope_scaling` of transformers 4, `rope_parameters`
/// of 5.
void read_rope(ConfigReader& reader, ModelConfig& config) {
    json theta = reader.value("rope_theta");
    for (const char* key : {"rope_scaling", "rope_parameters"}) {
        const json& rope = reader.value(key);
        if (rope.is_null()) continue;
        const char* supported = "null, {\"rope_type\": \"default\"} with \"rope_theta\"";
        if (!rope.is_object()) {
            reader.refuse_value(key, rope, supported);
            continue;
        }
        bool good = true;
        for (const auto& item : rope.items()) {
            if (item.key() == "rope_type" || item.key() == "type") {
                good = good && item.value() == "default";
            } else if (item.key() == "rope_theta") {
                good = good && (theta.is_null() || theta == item.value());
                theta = item.value();
            } else {
                good = good && item.key() == "partial_rotary_factor" && item.value() == 1.0;
            }
        }
        if (!good) reader.refuse_value(key, rope, supported);
    }
    config.rope_theta = reader.number("rope_theta", theta, 10000.0, of_job("model.rope_theta"));
}

void read_llama(ConfigReader& reader, std::optional<std::uint32_t> context, std::string_view context_key,
                ModelConfig& config) {
    config.layers = reader.size("num_hidden_layers", of_job("model.layers"));
    config.width = reader.size("hidden_size", of_job("model.width"));
    config.heads = reader.size("num_attention_heads", of_job("model.heads"));
    config.kv_heads = reader.value("num_key_value_heads").is_null()
                          ? config.heads
                          : reader.size("num_key_value_heads", of_job("model.kv_heads"));
    config.hidden = reader.size("intermediate_size", of_job("model.hidden"));
    config.vocabulary = reader.size("vocab_size", of_job("model.vocabulary"));
    const std::uint32_t positions = reader.size("max_position_embeddings", kMaxPositions);
    config.context = context.value_or(positions);
    const Limit& contexts = of_job("model.context");
    if (config.context > positions || !contexts.allows(std::uint64_t{config.context})) {
        reader.refuse_value(
            "max_position_embeddings", positions,
            context ? "at least the context " + std::to_string(*context) + " that was asked for"
                    : contexts.range() + "; give a smaller context with " + std::string(context_key));
    }
    const json& head = reader.value("head_dim");
    if (config.heads != 0 && !head.is_null() && head != json(config.width / config.heads))
        reader.refuse_value(
            "head_dim", head,
            "hidden_size / num_attention_heads = " + std::to_string(config.width / config.heads));
    const json& tied = reader.value("tie_word_embeddings");
    if (!tied.is_null() && !tied.is_boolean())
        reader.refuse_value("tie_word_embeddings", tied, "true, false");
    config.head = tied == json(true) ? program::Head::kTied : program::Head::kUntied;
    config.norm_epsilon =
        reader.number("rms_norm_eps", reader.value("rms_norm_eps"), 1e-6, of_job("model.norm_epsilon"));
    read_rope(reader, config);
}

/// The rules that tie sizes together are those of a job; only the model's are asked.
base::Outcome<void> check_sizes(const ModelConfig& config) {
    program::JobSpec spec;
    spec.model = config;
    const auto checked = program::check_spec(spec, program::Part::kModel);
    if (checked.ok()) return {};
    return refuse(program::to_text(checked.error()) + " (layers " + std::to_string(config.layers) +
                  ", width " + std::to_string(config.width) + ", heads " + std::to_string(config.heads) +
                  ", key and value heads " + std::to_string(config.key_value_heads()) + ", context " +
                  std::to_string(config.context) + ", vocabulary " + std::to_string(config.vocabulary) + ")");
}

/// The ids of a key: one, or a list of them. Ids outside the vocabulary are left out.
std::vector<std::uint32_t> special_ids(const json& root, const char* key, std::uint32_t vocabulary) {
    const json found = root.value(key, json());
    const json list = found.is_array() ? found : json::array({found});
    std::vector<std::uint32_t> ids;
    for (const json& id : list) {
        if (id.is_number_unsigned() && id.get<std::uint64_t>() < vocabulary)
            ids.push_back(id.get<std::uint32_t>());
    }
    return ids;
}

std::optional<std::uint32_t> special_id(const json& root, const char* key, std::uint32_t vocabulary) {
    const auto ids = special_ids(root, key, vocabulary);
    return ids.empty() ? std::nullopt : std::optional(ids.front());
}

/// The shortest decimal that reads back as the same binary32, as a person would write it.
double decimal(Float32 number) {
    std::array<char, 40> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number.value());
    double value = 0;
    std::from_chars(digits.data(), end.ptr, value);
    return value;
}

ordered_json end_json(const SpecialIds& ids) {
    if (ids.end.empty()) return {};
    return ids.end.size() == 1 ? ordered_json(ids.end.front()) : ordered_json(ids.end);
}

void write_gpt2(const ModelConfig& config, ordered_json& out) {
    out["architectures"] = {"GPT2LMHeadModel"};
    out["model_type"] = "gpt2";
    for (const char* key : {"activation_function", "layer_norm_epsilon", "tie_word_embeddings",
                            "scale_attn_weights", "scale_attn_by_inverse_layer_idx",
                            "reorder_and_upcast_attn", "add_cross_attention", "is_encoder_decoder"}) {
        for (const Fixed& fixed : fixed_keys(Family::kGpt2)) {
            if (std::string_view(fixed.key) == key) out[key] = fixed.values.front();
        }
    }
    out["n_inner"] = nullptr;
    out["use_cache"] = true;
    out["vocab_size"] = config.vocabulary;
    out["n_positions"] = config.context;
    out["n_ctx"] = config.context;
    out["n_embd"] = config.width;
    out["n_layer"] = config.layers;
    out["n_head"] = config.heads;
    for (const char* dropout : {"attn_pdrop", "embd_pdrop", "resid_pdrop", "summary_first_dropout"}) {
        out[dropout] = 0.0;
    }
}

void write_llama(const ModelConfig& config, ordered_json& out) {
    out["architectures"] = {"LlamaForCausalLM"};
    out["model_type"] = "llama";
    out["hidden_act"] = "silu";
    out["attention_bias"] = false;
    out["attention_dropout"] = 0.0;
    out["mlp_bias"] = false;
    out["pretraining_tp"] = 1;
    out["tie_word_embeddings"] = config.head == program::Head::kTied;
    out["use_cache"] = true;
    out["vocab_size"] = config.vocabulary;
    out["max_position_embeddings"] = config.context;
    out["hidden_size"] = config.width;
    out["intermediate_size"] = config.hidden;
    out["num_hidden_layers"] = config.layers;
    out["num_attention_heads"] = config.heads;
    out["num_key_value_heads"] = config.kv_heads;
    out["head_dim"] = config.head_dim();
    out["rms_norm_eps"] = decimal(config.norm_epsilon);
    out["rope_theta"] = decimal(config.rope_theta);
    out["rope_scaling"] = nullptr;
    out["rope_parameters"] = {{"rope_type", "default"}, {"rope_theta", decimal(config.rope_theta)}};
}

}  // namespace

std::string config_json(const ModelConfig& config, const SpecialIds& ids) {
    ordered_json out;
    if (config.family == Family::kGpt2) {
        write_gpt2(config, out);
    } else {
        write_llama(config, out);
    }
    out["initializer_range"] = 0.02;
    const auto put = [&out](const char* key, std::optional<std::uint32_t> id) {
        out[key] = id ? ordered_json(*id) : ordered_json();
    };
    put("bos_token_id", ids.begin);
    out["eos_token_id"] = end_json(ids);
    if (ids.pad) put("pad_token_id", ids.pad);
    out["dtype"] = "float32";
    out["torch_dtype"] = "float32";
    return out.dump(2) + "\n";
}

base::Outcome<ConfigFile> config_from_json(std::string_view text, std::optional<std::uint32_t> context,
                                           std::string_view context_key) {
    ASSAY_ASSIGN(const json root, parse_json(text, "config.json"));
    if (!root.is_object()) return refuse("it is not an object");
    ConfigReader reader(root);
    ConfigFile file;
    const json& type = reader.value("model_type");
    const json architectures = root.value("architectures", json());
    const bool gpt2 = type == "gpt2";
    if (!gpt2 && type != "llama") reader.refuse_value("model_type", type, "\"gpt2\", \"llama\"");
    const char* expected = gpt2 ? "GPT2LMHeadModel" : "LlamaForCausalLM";
    if (!architectures.is_null() && architectures != json::array({expected}))
        reader.refuse_value("architectures", architectures, json::array({expected}).dump());
    ASSAY_TRY(gpt2 || type == "llama" ? base::Outcome<void>{} : reader.finish());
    file.config.family = gpt2 ? Family::kGpt2 : Family::kLlama;
    for (const Fixed& key : fixed_keys(file.config.family)) reader.fixed(key);
    if (gpt2) {
        read_gpt2(reader, context, file.config);
    } else {
        read_llama(reader, context, context_key, file.config);
    }
    ASSAY_TRY(reader.finish());
    ASSAY_TRY(check_sizes(file.config));
    file.ids = {special_id(root, "bos_token_id", file.config.vocabulary),
                special_ids(root, "eos_token_id", file.config.vocabulary),
                special_id(root, "pad_token_id", file.config.vocabulary)};
    return file;
}

}  // namespace assay::trainer
