// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/folder_tensors.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "contracts/base/check.hpp"
#include "contracts/program/tensors.hpp"
#include "trainer/data/files.hpp"
#include "trainer/data/json.hpp"
#include "trainer/model/safetensors.hpp"

namespace assay::trainer {
namespace {

namespace fs = std::filesystem;
using base::ErrorKind;
using nlohmann::json;
using nlohmann::ordered_json;
using program::Family;

constexpr const char* kOneFile = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";
constexpr std::uint64_t kMaxIndex = std::uint64_t{64} << 20;

const char* prefix_of(const program::ModelConfig& config) {
    return config.family == Family::kGpt2 ? "transformer." : "model.";
}

base::Failed<base::Error> refuse(const fs::path& folder, const std::string& what) {
    return base::fail(ErrorKind::kUsage, folder.string() + ": " + what,
                      "use a folder that `save_pretrained` of transformers or `assay model export` wrote");
}

/// The parts of a fused tensor by name and rows; none for a tensor that is the same in the folder.
std::vector<std::pair<const char*, std::uint64_t>> parts_of(const program::ModelConfig& config,
                                                            std::string_view name) {
    const std::uint64_t head = config.head_dim();
    if (name.ends_with("self_attn.qkv_proj.weight")) {
        return {{"q_proj", config.heads * head},
                {"k_proj", config.kv_heads * head},
                {"v_proj", config.kv_heads * head}};
    }
    if (name.ends_with("mlp.gate_up_proj.weight"))
        return {{"gate_proj", config.hidden}, {"up_proj", config.hidden}};
    return {};
}

/// Name without the family's prefix.
std::string bare(const program::ModelConfig& config, const std::string& name) {
    const std::string prefix = prefix_of(config);
    return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
}

/// Buffers that are no parameters: old checkpoints have them, their content follows from the config.
bool is_buffer(const program::ModelConfig& config, const std::string& name) {
    if (config.family == Family::kGpt2) {
        return name.starts_with("h.") &&
               (name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias"));
    }
    return name.starts_with("layers.") && name.ends_with(".self_attn.rotary_emb.inv_freq");
}

std::string shape_text(const std::vector<std::uint64_t>& shape) {
    std::string out = "[";
    for (const std::uint64_t size : shape) out += (out.size() > 1 ? ", " : "") + std::to_string(size);
    return out + "]";
}

/// A tensor of the open files.
struct Found {
    const SafetensorsReader* file = nullptr;
    const SafetensorsEntry* entry = nullptr;
};

/// weight_map of the index: which file has which tensor. File names stay inside the folder.
base::Outcome<std::map<std::string, std::string>> read_index(const fs::path& folder) {
    ASSAY_ASSIGN(const base::Bytes file, read_file(folder / kIndex, kMaxIndex));
    ASSAY_ASSIGN(const json root, parse_json(base::as_text(file), (folder / kIndex).string()));
    if (!root.is_object() || !root.contains("weight_map") || !root["weight_map"].is_object())
        return refuse(folder, std::string(kIndex) + " has no object \"weight_map\"");
    std::map<std::string, std::string> out;
    for (const auto& item : root["weight_map"].items()) {
        const std::string name = item.value().is_string() ? item.value().get<std::string>() : std::string();
        if (!name.ends_with(".safetensors") || name.find('/') != std::string::npos || name.front() == '.')
            return refuse(folder, std::string(kIndex) + " gives \"" + item.key() +
                                      "\" no safetensors file of the folder");
        out[item.key()] = name;
    }
    return out;
}

/// Opens the folder's files, each once.
base::Outcome<std::vector<SafetensorsReader>> open_files(const fs::path& folder) {
    std::vector<SafetensorsReader> files;
    std::error_code ignored;
    if (fs::exists(folder / kOneFile, ignored) || !fs::exists(folder / kIndex, ignored)) {
        if (!fs::exists(folder / kOneFile, ignored)) {
            const bool pickle = fs::exists(folder / "pytorch_model.bin", ignored);
            return base::fail(
                ErrorKind::kNotFound, folder.string() + " has neither " + kOneFile + " nor " + kIndex,
                pickle ? "pytorch_model.bin is pickle, which is never read: load the model with "
                         "transformers and save it again with save_pretrained"
                       : "check the path");
        }
        ASSAY_ASSIGN(SafetensorsReader file, SafetensorsReader::open(folder / kOneFile));
        files.push_back(std::move(file));
        return files;
    }
    ASSAY_ASSIGN(const auto index, read_index(folder));
    std::set<std::string> names;
    for (const auto& [tensor, file] : index) names.insert(file);
    std::size_t tensors = 0;
    for (const std::string& name : names) {
        ASSAY_ASSIGN(SafetensorsReader file, SafetensorsReader::open(folder / name));
        for (const SafetensorsEntry& entry : file.header().tensors) {
            const auto told = index.find(entry.name);
            if (told == index.end() || told->second != name)
                return refuse(folder, "tensor \"" + entry.name + "\" is in " + name + ", and " + kIndex +
                                          " does not say so");
            ++tensors;
        }
        files.push_back(std::move(file));
    }
    if (tensors != index.size())
        return refuse(folder, std::string(kIndex) + " names " + std::to_string(index.size()) +
                                  " tensors and its files have " + std::to_string(tensors));
    return files;
}

/// An lm_head.weight next to a tied embedding must have the same numbers.
base::Outcome<void> check_tied_head(const fs::path& folder, const Found& head,
                                    std::span<const float> embedding) {
    if (head.entry->count != embedding.size())
        return refuse(folder, "lm_head.weight has the shape " + shape_text(head.entry->shape) +
                                  ", and config.json ties it to the embedding");
    std::vector<float> values(embedding.size());
    ASSAY_TRY(head.file->read(*head.entry, values));
    if (std::memcmp(values.data(), embedding.data(), embedding.size_bytes()) != 0)
        return refuse(folder,
                      "lm_head.weight differs from the embedding, and config.json ties them "
                      "(\"tie_word_embeddings\")");
    return {};
}

}  // namespace

std::vector<FolderTensor> folder_tensors(const program::ModelConfig& config) {
    std::vector<FolderTensor> out;
    for (const program::TensorInfo& tensor : program::parameter_tensors(config)) {
        // An untied head is named next to the model, without its prefix.
        const std::string prefix = tensor.name == "lm_head.weight" ? "" : prefix_of(config);
        const auto parts = parts_of(config, tensor.name);
        if (parts.empty()) {
            out.push_back({prefix + tensor.name,
                           tensor.is_vector ? std::vector<std::uint64_t>{tensor.cols}
                                            : std::vector<std::uint64_t>{tensor.rows, tensor.cols},
                           tensor.offset, tensor.size()});
            continue;
        }
        const std::size_t stem = tensor.name.rfind('.', tensor.name.size() - sizeof(".weight")) + 1;
        std::uint64_t offset = tensor.offset;
        for (const auto& [part, rows] : parts) {
            out.push_back({prefix + tensor.name.substr(0, stem) + part + ".weight",
                           {rows, tensor.cols},
                           offset,
                           rows * tensor.cols});
            offset += rows * tensor.cols;
        }
        ASSAY_CHECK(offset == tensor.offset + tensor.size());
    }
    return out;
}

base::Outcome<std::vector<float>> read_weights(const fs::path& folder, const program::ModelConfig& config) {
    ASSAY_ASSIGN(const std::vector<SafetensorsReader> files, open_files(folder));
    std::map<std::string, Found> found;
    for (const SafetensorsReader& file : files) {
        for (const SafetensorsEntry& entry : file.header().tensors) {
            const std::string name = bare(config, entry.name);
            if (is_buffer(config, name)) continue;
            if (!found.emplace(name, Found{&file, &entry}).second)
                return refuse(folder, "the tensor " + name + " is there twice");
        }
    }
    const std::vector<FolderTensor> tensors = folder_tensors(config);
    for (const FolderTensor& tensor : tensors) {
        const auto place = found.find(bare(config, tensor.name));
        if (place == found.end()) return refuse(folder, "the tensor " + tensor.name + " is missing");
        if (place->second.entry->shape != tensor.shape)
            return refuse(folder, "the tensor " + tensor.name + " has the shape " +
                                      shape_text(place->second.entry->shape) + "; config.json asks for " +
                                      shape_text(tensor.shape));
    }
    std::vector<float> parameters(static_cast<std::size_t>(program::parameter_count(config)));
    for (const FolderTensor& tensor : tensors) {
        const auto place = found.find(bare(config, tensor.name));
        ASSAY_TRY(place->second.file->read(*place->second.entry,
                                           std::span(parameters).subspan(tensor.offset, tensor.count)));
        found.erase(place);
    }
    if (const auto head = found.find("lm_head.weight"); head != found.end()) {
        const auto names = program::parameter_tensors(config);
        const program::TensorInfo& embedding = names[program::tensor_index(
            names, config.family == Family::kGpt2 ? "wte.weight" : "embed_tokens.weight")];
        ASSAY_TRY(check_tied_head(folder, head->second,
                                  std::span(parameters).subspan(embedding.offset, embedding.size())));
        found.erase(head);
    }
    if (!found.empty())
        return refuse(folder, "the tensor " + found.begin()->second.entry->name +
                                  " belongs to no model that config.json describes");
    return parameters;
}

base::Outcome<void> write_weights(const fs::path& folder, const program::ModelConfig& config,
                                  std::span<const float> parameters, std::uint64_t max_shard_bytes) {
    ASSAY_CHECK(parameters.size() == program::parameter_count(config));
    std::vector<std::vector<SafetensorsTensor>> shards(1);
    std::uint64_t bytes = 0;
    for (const FolderTensor& tensor : folder_tensors(config)) {
        if (bytes > 0 && bytes + 4 * tensor.count > max_shard_bytes) {
            shards.emplace_back();
            bytes = 0;
        }
        bytes += 4 * tensor.count;
        shards.back().push_back({tensor.name, tensor.shape, parameters.subspan(tensor.offset, tensor.count)});
    }
    if (shards.size() == 1) return write_safetensors(folder / kOneFile, std::move(shards.front()));
    std::map<std::string, std::string> weight_map;
    for (std::size_t i = 0; i < shards.size(); ++i) {
        char name[64];
        std::snprintf(name, sizeof name, "model-%05zu-of-%05zu.safetensors", i + 1, shards.size());
        for (const SafetensorsTensor& tensor : shards[i]) weight_map[tensor.name] = name;
        ASSAY_TRY(write_safetensors(folder / name, std::move(shards[i])));
    }
    const ordered_json index = {
        {"metadata", {{"total_parameters", parameters.size()}, {"total_size", 4 * parameters.size()}}},
        {"weight_map", weight_map}};
    return write_file(folder / kIndex, base::as_bytes(index.dump(2) + "\n"));
}

}  // namespace assay::trainer
