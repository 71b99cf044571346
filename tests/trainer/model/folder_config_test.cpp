// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/folder_config.hpp"

#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"

using namespace assay;
using namespace assay::trainer;
using nlohmann::json;
using program::Family;
using program::Head;

namespace {

/// As transformers 5.23 saves a GPT2LMHeadModel.
json gpt2_file() {
    return json::parse(R"({"activation_function": "gelu_new", "add_cross_attention": false,
        "architectures": ["GPT2LMHeadModel"], "attn_pdrop": 0.1, "bos_token_id": 50256, "dtype": "float32",
        "embd_pdrop": 0.1, "eos_token_id": 50256, "initializer_range": 0.02, "layer_norm_epsilon": 1e-05,
        "model_type": "gpt2", "n_embd": 16, "n_head": 2, "n_inner": null, "n_layer": 2, "n_positions": 32,
        "pad_token_id": null, "reorder_and_upcast_attn": false, "resid_pdrop": 0.1,
        "scale_attn_by_inverse_layer_idx": false, "scale_attn_weights": true, "summary_activation": null,
        "summary_first_dropout": 0.1, "summary_proj_to_labels": true, "summary_type": "cls_index",
        "summary_use_proj": true, "tie_word_embeddings": true, "transformers_version": "5.23.0",
        "use_cache": true, "vocab_size": 300})");
}

/// As transformers 5.23 saves a LlamaForCausalLM.
json llama_file() {
    return json::parse(R"({"architectures": ["LlamaForCausalLM"], "attention_bias": false,
        "attention_dropout": 0.0, "bos_token_id": 1, "dtype": "float32", "eos_token_id": [2, 3],
        "head_dim": 4,
        "hidden_act": "silu", "hidden_size": 16, "initializer_range": 0.02, "intermediate_size": 40,
        "max_position_embeddings": 32, "mlp_bias": false, "model_type": "llama", "num_attention_heads": 4,
        "num_hidden_layers": 2, "num_key_value_heads": 2, "pad_token_id": null, "pretraining_tp": 1,
        "rms_norm_eps": 1e-06, "rope_parameters": {"rope_theta": 500000.0, "rope_type": "default"},
        "tie_word_embeddings": false, "transformers_version": "5.23.0", "use_cache": true,
        "vocab_size": 300})");
}

/// The file with one key changed must be refused with a message that has `words`.
void check_refused(json file, const char* key, const json& value, const std::string& words) {
    file[key] = value;
    const auto read = config_from_json(file.dump());
    INFO(key << " = " << value.dump());
    REQUIRE_FALSE(read.ok());
    CHECK(read.error().kind == base::ErrorKind::kUsage);
    INFO(read.error().what);
    CHECK(read.error().what.find(words) != std::string::npos);
}

program::ModelConfig read(const json& file) {
    const auto config = config_from_json(file.dump());
    if (!config.ok()) FAIL(config.error().what);
    return config->config;
}

}  // namespace

TEST_CASE("config.json of transformers 5 is read for both families, and what is written reads back") {
    const program::ModelConfig gpt2 = read(gpt2_file());
    CHECK(gpt2 ==
          program::ModelConfig{.layers = 2, .width = 16, .heads = 2, .context = 32, .vocabulary = 300});
    const auto llama = config_from_json(llama_file().dump());
    REQUIRE(llama.ok());
    CHECK(llama->config == program::ModelConfig{.family = Family::kLlama,
                                                .layers = 2,
                                                .width = 16,
                                                .heads = 4,
                                                .context = 32,
                                                .vocabulary = 300,
                                                .kv_heads = 2,
                                                .hidden = 40,
                                                .rope_theta = 500000.0F,
                                                .norm_epsilon = 1e-6F,
                                                .head = Head::kUntied});
    CHECK(llama->ids == SpecialIds{1, {2, 3}, {}});
    for (const auto& config : {gpt2, llama->config}) {
        for (const SpecialIds& ids : {SpecialIds{7, {8}, 9}, SpecialIds{7, {8, 3, 5}, {}}, SpecialIds{}}) {
            const auto back = config_from_json(config_json(config, ids));
            if (!back.ok()) FAIL(back.error().what);
            CHECK(back->config == config);
            CHECK(back->ids == ids);
        }
    }
    json padded = llama_file();
    padded["eos_token_id"] = {2, 300, "end", 4};  // as many as the vocabulary holds
    CHECK(config_from_json(padded.dump())->ids.end == std::vector<std::uint32_t>{2, 4});
}

TEST_CASE("config.json of transformers 4 and keys that are left out mean what transformers takes them for") {
    json file = llama_file();
    file.erase("rope_parameters");
    file["rope_theta"] = 10000.0;
    file["rope_scaling"] = nullptr;
    for (const char* key : {"attention_bias", "mlp_bias", "head_dim", "pretraining_tp", "hidden_act"})
        file.erase(key);
    CHECK(read(file).rope_theta == program::Float32(10000.0F));
    file.erase("rope_theta");
    CHECK(read(file).rope_theta == program::Float32(10000.0F));
    file.erase("num_key_value_heads");
    CHECK(read(file).kv_heads == 4);
    file.erase("tie_word_embeddings");
    CHECK(read(file).head == Head::kUntied);
    file.erase("rms_norm_eps");
    CHECK(read(file).norm_epsilon == program::Float32(1e-6F));
    file["rope_scaling"] = {{"type", "default"}};
    CHECK(read(file).rope_theta == program::Float32(10000.0F));
    json gpt2 = gpt2_file();
    gpt2["activation_function"] = "gelu_pytorch_tanh";  // the same function
    gpt2["n_inner"] = 64;
    CHECK(read(gpt2) == read(gpt2_file()));
}

TEST_CASE("what the families do not cover is refused by key, value and what is supported") {
    check_refused(gpt2_file(), "model_type", "bert",
                  "\"model_type\" is \"bert\"; supported: \"gpt2\", \"llama\"");
    check_refused(gpt2_file(), "activation_function", "relu",
                  "\"activation_function\" is \"relu\"; supported: \"gelu_new\", \"gelu_pytorch_tanh\"");
    check_refused(gpt2_file(), "n_inner", 65, "\"n_inner\" is 65; supported: null, 64");
    check_refused(gpt2_file(), "layer_norm_epsilon", 1e-6, "\"layer_norm_epsilon\" is 1e-06");
    check_refused(gpt2_file(), "tie_word_embeddings", false, "\"tie_word_embeddings\" is false");
    check_refused(gpt2_file(), "scale_attn_weights", false, "\"scale_attn_weights\"");
    check_refused(gpt2_file(), "scale_attn_by_inverse_layer_idx", true,
                  "\"scale_attn_by_inverse_layer_idx\" is true");
    check_refused(gpt2_file(), "reorder_and_upcast_attn", true, "\"reorder_and_upcast_attn\"");
    check_refused(gpt2_file(), "add_cross_attention", true, "\"add_cross_attention\"");
    check_refused(gpt2_file(), "quantization_config", {{"bits", 4}},
                  "\"quantization_config\" is {\"bits\":4}");
    check_refused(gpt2_file(), "architectures", {"GPT2ForSequenceClassification"}, "\"architectures\"");
    check_refused(gpt2_file(), "n_head", 3, "heads");
    check_refused(gpt2_file(), "n_layer", 0, "\"n_layer\" is 0; supported: from 1 to 1024");
    check_refused(gpt2_file(), "n_embd", nullptr, "\"n_embd\"");
    check_refused(gpt2_file(), "n_positions", 32768, "\"n_positions\" is 32768");
    check_refused(gpt2_file(), "colour", "red", "\"colour\" is \"red\"; supported: no such key");
    check_refused(llama_file(), "hidden_act", "gelu", "\"hidden_act\" is \"gelu\"; supported: \"silu\"");
    check_refused(llama_file(), "attention_bias", true, "\"attention_bias\" is true");
    check_refused(llama_file(), "mlp_bias", true, "\"mlp_bias\" is true");
    check_refused(llama_file(), "head_dim", 8,
                  "\"head_dim\" is 8; supported: hidden_size / num_attention_heads = 4");
    check_refused(llama_file(), "rope_scaling", {{"rope_type", "llama3"}, {"factor", 8.0}},
                  "\"rope_scaling\" is {\"factor\":8.0,\"rope_type\":\"llama3\"}");
    check_refused(llama_file(), "rope_parameters", {{"rope_type", "linear"}, {"factor", 2.0}},
                  "\"rope_parameters\"");
    check_refused(llama_file(), "rope_theta", 10000.0, "\"rope_parameters\"");  // the two disagree
    check_refused(llama_file(), "num_key_value_heads", 3, "kv_heads");
    check_refused(llama_file(), "pretraining_tp", 2, "\"pretraining_tp\" is 2");
    check_refused(llama_file(), "sliding_window", 4096, "\"sliding_window\" is 4096");
    check_refused(llama_file(), "tie_word_embeddings", "yes", "\"tie_word_embeddings\"");
    check_refused(llama_file(), "rms_norm_eps", 0.0, "\"rms_norm_eps\"");
    check_refused(llama_file(), "max_position_embeddings", 131072, "give a smaller context with --context");
    json missing = llama_file();
    missing.erase("intermediate_size");
    check_refused(missing, "vocab_size", 300, "\"intermediate_size\" is missing");
}

TEST_CASE("a smaller context may be asked of Llama, not of GPT-2") {
    json file = llama_file();
    file["max_position_embeddings"] = 131072;
    const auto read = config_from_json(file.dump(), 1024);
    REQUIRE(read.ok());
    CHECK(read->config.context == 1024);
    CHECK_FALSE(config_from_json(llama_file().dump(), 64).ok());
    CHECK_FALSE(config_from_json(gpt2_file().dump(), 16).ok());
}
