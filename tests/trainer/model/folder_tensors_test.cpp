// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/folder_tensors.hpp"

#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "contracts/program/tensors.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"
#include "trainer/data/files.hpp"
#include "trainer/model/safetensors.hpp"

using namespace assay;
using namespace assay::trainer;
using program::ModelConfig;
namespace fs = std::filesystem;

namespace {

ModelConfig gpt2() { return {.layers = 1, .width = 8, .heads = 2, .context = 4, .vocabulary = 20}; }

ModelConfig llama(program::Head head) {
    return {.family = program::Family::kLlama,
            .layers = 2,
            .width = 8,
            .heads = 4,
            .context = 4,
            .vocabulary = 20,
            .kv_heads = 2,
            .hidden = 12,
            .rope_theta = 10000.0F,
            .norm_epsilon = 1e-6F,
            .head = head};
}

std::vector<float> numbers(const ModelConfig& config) {
    std::vector<float> out(program::parameter_count(config));
    std::iota(out.begin(), out.end(), 1.0F);
    return out;
}

/// The tensors of a folder as another program could have written them.
std::vector<SafetensorsTensor> tensors_of(const ModelConfig& config, const std::vector<float>& values) {
    std::vector<SafetensorsTensor> out;
    for (const FolderTensor& tensor : folder_tensors(config)) {
        out.push_back({tensor.name, tensor.shape, std::span(values).subspan(tensor.offset, tensor.count)});
    }
    return out;
}

SafetensorsTensor& find(std::vector<SafetensorsTensor>& tensors, const std::string& name) {
    for (SafetensorsTensor& tensor : tensors) {
        if (tensor.name == name) return tensor;
    }
    FAIL("no tensor " << name);
    return tensors.front();
}

}  // namespace

TEST_CASE("names and shapes are those of transformers, and q, k, v, gate and up are rows of one tensor") {
    std::set<std::string> names;
    std::uint64_t offset = 0;
    for (const FolderTensor& tensor : folder_tensors(llama(program::Head::kUntied))) {
        names.insert(tensor.name);
        CHECK(tensor.offset == offset);  // no number belongs to two tensors or to none
        offset += tensor.count;
        if (tensor.name == "model.layers.1.self_attn.q_proj.weight")
            CHECK(tensor.shape == std::vector<std::uint64_t>{8, 8});
        if (tensor.name == "model.layers.1.self_attn.k_proj.weight")
            CHECK(tensor.shape == std::vector<std::uint64_t>{4, 8});
        if (tensor.name == "model.layers.1.mlp.up_proj.weight")
            CHECK(tensor.shape == std::vector<std::uint64_t>{12, 8});
        if (tensor.name == "model.layers.1.mlp.down_proj.weight")
            CHECK(tensor.shape == std::vector<std::uint64_t>{8, 12});
        if (tensor.name == "model.norm.weight") CHECK(tensor.shape == std::vector<std::uint64_t>{8});
    }
    CHECK(offset == program::parameter_count(llama(program::Head::kUntied)));
    CHECK(names.size() == 3 + 2 * 9);
    CHECK(names.contains("lm_head.weight"));
    CHECK(names.contains("model.embed_tokens.weight"));
    CHECK(folder_tensors(gpt2()).front().name == "transformer.h.0.attn.c_attn.bias");
}

TEST_CASE("weights read back bit for bit from one file and from shards") {
    for (const ModelConfig& config : {gpt2(), llama(program::Head::kTied), llama(program::Head::kUntied)}) {
        for (const std::uint64_t limit : {kMaxShardBytes, std::uint64_t{700}, std::uint64_t{1}}) {
            const test::TemporaryFolder folder;
            const std::vector<float> values = numbers(config);
            REQUIRE(write_weights(folder.path(), config, values, limit).ok());
            CHECK(fs::exists(folder / "model.safetensors") == (limit == kMaxShardBytes));
            const auto back = read_weights(folder.path(), config);
            if (!back.ok()) FAIL(back.error().what);
            CHECK(*back == values);
        }
    }
}

TEST_CASE("names without prefix, a tied head and old buffers are read") {
    const test::TemporaryFolder folder;
    const ModelConfig config = llama(program::Head::kTied);
    const std::vector<float> values = numbers(config);
    auto tensors = tensors_of(config, values);
    for (SafetensorsTensor& tensor : tensors) tensor.name = tensor.name.substr(sizeof("model.") - 1);
    SafetensorsTensor head = find(tensors, "embed_tokens.weight");
    head.name = "lm_head.weight";
    tensors.push_back(head);
    const std::vector<float> frequencies = {1.0F, std::numeric_limits<float>::quiet_NaN()};
    tensors.push_back({"model.layers.0.self_attn.rotary_emb.inv_freq", {2}, frequencies});
    REQUIRE(write_safetensors(folder / "model.safetensors", tensors).ok());
    const auto back = read_weights(folder.path(), config);
    if (!back.ok()) FAIL(back.error().what);
    CHECK(*back == values);

    std::vector<float> other(head.values.begin(), head.values.end());
    other.back() += 1.0F;
    tensors[tensors.size() - 2].values = other;
    REQUIRE(write_safetensors(folder / "model.safetensors", tensors).ok());
    const auto refused = read_weights(folder.path(), config);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().what.find("lm_head.weight differs from the embedding") != std::string::npos);
}

TEST_CASE("a tensor missing, there twice, unknown, of another shape or not finite is refused by its name") {
    const ModelConfig config = gpt2();
    const std::vector<float> values = numbers(config);
    const auto check = [&](const std::function<void(std::vector<SafetensorsTensor>&)>& change,
                           const char* words) {
        const test::TemporaryFolder folder;
        auto tensors = tensors_of(config, values);
        change(tensors);
        REQUIRE(write_safetensors(folder / "model.safetensors", tensors).ok());
        const auto read = read_weights(folder.path(), config);
        REQUIRE_FALSE(read.ok());
        INFO(read.error().what);
        CHECK(read.error().kind == base::ErrorKind::kUsage);
        CHECK(read.error().what.find(words) != std::string::npos);
    };
    check([](auto& t) { t.erase(t.begin()); }, "transformer.h.0.attn.c_attn.bias is missing");
    check(
        [](auto& t) {
            t.push_back({"wpe.weight", t.front().shape, t.front().values});
        },
        "wpe.weight is there twice");
    check(
        [](auto& t) {
            t.push_back({"transformer.h.1.ln_1.bias", t.front().shape, t.front().values});
        },
        "transformer.h.1.ln_1.bias belongs to no model");
    check(
        [](auto& t) {
            find(t, "transformer.wpe.weight").shape = {8, 4};
        },
        "transformer.wpe.weight has the shape [8, 4]; config.json asks for [4, 8]");
    std::vector<float> broken(values.begin(), values.begin() + 24);
    broken[5] = std::numeric_limits<float>::quiet_NaN();
    check([&](auto& t) { find(t, "transformer.h.0.attn.c_attn.bias").values = broken; },
          "\"transformer.h.0.attn.c_attn.bias\" holds a NaN at element 5");
}

TEST_CASE("an index that does not fit its files is refused") {
    const ModelConfig config = gpt2();
    const auto check = [&](const std::function<void(nlohmann::json&, const fs::path&)>& change,
                           base::ErrorKind kind, const std::string& words) {
        const test::TemporaryFolder folder;
        REQUIRE(write_weights(folder.path(), config, numbers(config), 700).ok());
        const fs::path path = folder / "model.safetensors.index.json";
        nlohmann::json index = nlohmann::json::parse(std::ifstream(path));
        change(index, folder.path());
        std::ofstream(path) << index.dump();
        const auto read = read_weights(folder.path(), config);
        REQUIRE_FALSE(read.ok());
        INFO(read.error().what);
        CHECK(read.error().kind == kind);
        CHECK(read.error().what.find(words) != std::string::npos);
    };
    using base::ErrorKind;
    const char* name = "transformer.wte.weight";
    check([&](auto& index, const auto&) { index["weight_map"].erase("transformer.h.0.ln_1.bias"); },
          ErrorKind::kUsage, "does not say so");
    check([&](auto& index, const auto&) { index["weight_map"]["more"] = index["weight_map"][name]; },
          ErrorKind::kUsage, "tensors and its files have");
    check([&](auto& index, const auto&) { index["weight_map"][name] = "../model.safetensors"; },
          ErrorKind::kUsage, "no safetensors file of the folder");
    check([&](auto& index, const auto&) { index["weight_map"][name] = "other.safetensors"; },
          ErrorKind::kNotFound, "other.safetensors");
    check([&](auto& index, const auto&) { index.erase("weight_map"); }, ErrorKind::kUsage, "weight_map");
    check(
        [&](auto& index, const auto& folder) {
            fs::remove(folder / index["weight_map"][name].template get<std::string>());
        },
        ErrorKind::kNotFound, "there is no file");
    const test::TemporaryFolder empty;
    std::ofstream(empty / "pytorch_model.bin") << "pickle";
    const auto pickle = read_weights(empty.path(), config);
    REQUIRE_FALSE(pickle.ok());
    CHECK(pickle.error().kind == ErrorKind::kNotFound);
    CHECK(pickle.error().fix.find("pickle") != std::string::npos);
}
