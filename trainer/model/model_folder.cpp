// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/model_folder.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "contracts/base/check.hpp"
#include "contracts/program/state_root.hpp"
#include "contracts/program/tensors.hpp"
#include "trainer/data/files.hpp"
#include "trainer/data/tokenizer_file.hpp"
#include "trainer/model/folder_files.hpp"
#include "trainer/model/safetensors.hpp"

namespace assay::trainer {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxSmallFile = std::uint64_t{64} << 20;
constexpr std::uint64_t kMaxModelFile = std::uint64_t{1} << 37;
/// GPT2LMHeadModel names its parameters below this; the canonical names leave it out.
constexpr std::string_view kPrefix = "transformer.";

std::vector<SafetensorsEntry> entries_of(const program::ModelConfig& config) {
    std::vector<SafetensorsEntry> out;
    for (const program::TensorInfo& tensor : program::parameter_tensors(config)) {
        SafetensorsEntry entry;
        entry.name = std::string(kPrefix) + tensor.name;
        entry.shape = tensor.is_vector ? std::vector<std::uint64_t>{tensor.cols}
                                       : std::vector<std::uint64_t>{tensor.rows, tensor.cols};
        entry.offset = tensor.offset;
        entry.count = tensor.size();
        out.push_back(std::move(entry));
    }
    return out;
}

base::Failed<base::Error> changed(const fs::path& folder, const std::string& what) {
    return base::fail(base::ErrorKind::kVerification,
                      "the model folder " + folder.string() + " was changed: " + what,
                      "fetch or export the model again");
}

/// A folder may be replaced only when losing it loses nothing of the user's.
base::Outcome<void> check_target(const fs::path& folder) {
    std::error_code error;
    const fs::file_status status = fs::symlink_status(folder, error);
    if (status.type() == fs::file_type::not_found) return {};
    const bool replaceable =
        status.type() == fs::file_type::directory &&
        (fs::is_empty(folder, error) || (fs::is_regular_file(folder / "assay.json", error) &&
                                         fs::is_regular_file(folder / "model.safetensors", error)));
    if (replaceable) return {};
    return base::fail(base::ErrorKind::kUsage, folder.string() + " exists and is not a model folder",
                      "name another folder, or remove this one yourself");
}

/// Puts the finished `temporary` in the place of `folder`.
base::Outcome<void> replace_folder(const fs::path& temporary, const fs::path& folder) {
    std::error_code error;
    fs::path old = folder;
    old += ".old";
    fs::remove_all(old, error);
    error.clear();
    if (fs::exists(folder)) fs::rename(folder, old, error);
    if (!error) fs::rename(temporary, folder, error);
    if (error) {
        return base::fail(base::ErrorKind::kFailure,
                          "cannot put the model into " + folder.string() + ": " + error.message(),
                          "check that you may write there; the finished model is in " + temporary.string());
    }
    fs::remove_all(old, error);
    return {};
}

base::Outcome<void> write_files(const fs::path& folder, const ModelFolderOptions& options,
                                std::span<const float> parameters, std::uint32_t end_of_text,
                                const base::Hash256& root) {
    const std::vector<std::pair<const char*, std::string>> files = {
        {"config.json", config_json(options.config, end_of_text)},
        {"generation_config.json", generation_config_json(end_of_text)},
        {"tokenizer.json", options.tokenizer_json},
        {"tokenizer_config.json", tokenizer_config_json(options.config.context)},
        {"special_tokens_map.json", special_tokens_json()},
        {"README.md", model_card(options, root)},
        {"assay.json", provenance_json(options.provenance, root)},
    };
    for (const auto& [name, text] : files) ASSAY_TRY(write_file(folder / name, base::as_bytes(text)));
    return write_file(folder / "model.safetensors",
                      safetensors_bytes(entries_of(options.config), parameters));
}

base::Outcome<std::string> read_text(const fs::path& path) {
    ASSAY_ASSIGN(const base::Bytes file, read_file(path, kMaxSmallFile));
    return std::string(base::as_text(file));
}

/// The parameters in canonical order, from tensors in whatever order the file has them.
base::Outcome<std::vector<float>> gather(const SafetensorsFile& file, const program::ModelConfig& config,
                                         const fs::path& folder) {
    const std::vector<SafetensorsEntry> expected = entries_of(config);
    if (file.tensors.size() != expected.size()) {
        return changed(folder, "model.safetensors has " + std::to_string(file.tensors.size()) +
                                   " tensors and config.json stands for " + std::to_string(expected.size()));
    }
    std::map<std::string_view, const SafetensorsEntry*> by_name;
    for (const SafetensorsEntry& tensor : file.tensors) by_name[tensor.name] = &tensor;
    std::vector<float> parameters(static_cast<std::size_t>(program::parameter_count(config)));
    for (const SafetensorsEntry& want : expected) {
        const auto found = by_name.find(want.name);
        if (found == by_name.end()) return changed(folder, "the tensor " + want.name + " is missing");
        if (found->second->shape != want.shape) {
            return changed(folder, "the tensor " + want.name + " has another shape than config.json says");
        }
        const auto from = file.data.begin() + static_cast<std::ptrdiff_t>(found->second->offset);
        std::copy_n(from, want.count, parameters.begin() + static_cast<std::ptrdiff_t>(want.offset));
    }
    return parameters;
}

base::Outcome<ModelFolder> read_folder(const fs::path& folder) {
    std::error_code error;
    if (!fs::is_directory(folder, error)) {
        return base::fail(base::ErrorKind::kNotFound, "there is no model folder " + folder.string(),
                          "check the path");
    }
    ModelFolder out;
    ASSAY_ASSIGN(const std::string config, read_text(folder / "config.json"));
    ASSAY_ASSIGN(out.config, config_from_json(config));
    ASSAY_ASSIGN(out.tokenizer_json, read_text(folder / "tokenizer.json"));
    ASSAY_ASSIGN(const Tokenizer tokenizer, tokenizer_from_json(out.tokenizer_json));
    if (tokenizer.vocabulary() != out.config.vocabulary) {
        return changed(folder, "tokenizer.json has " + std::to_string(tokenizer.vocabulary()) +
                                   " tokens and config.json says " + std::to_string(out.config.vocabulary));
    }
    ASSAY_ASSIGN(const std::string from, read_text(folder / "assay.json"));
    ASSAY_ASSIGN(ProvenanceFile provenance, provenance_from_json(from));
    ASSAY_ASSIGN(const base::Bytes weights, read_file(folder / "model.safetensors", kMaxModelFile));
    ASSAY_ASSIGN(const SafetensorsFile file, parse_safetensors(weights));
    ASSAY_ASSIGN(out.parameters, gather(file, out.config, folder));
    out.provenance = std::move(provenance.provenance);
    out.model_root = program::array_root(program::parameter_tensors(out.config), out.parameters);
    if (out.model_root != provenance.model_root) {
        return changed(folder, "its parameters have the root " + out.model_root.brief() +
                                   "… and assay.json says " + provenance.model_root.brief() + "…");
    }
    return out;
}

}  // namespace

base::Outcome<base::Hash256> write_model_folder(const fs::path& folder, const ModelFolderOptions& options,
                                                std::span<const float> parameters) {
    ASSAY_CHECK(parameters.size() == program::parameter_count(options.config));
    ASSAY_ASSIGN(const Tokenizer tokenizer, tokenizer_from_json(options.tokenizer_json));
    if (tokenizer.vocabulary() != options.config.vocabulary) {
        return base::fail(base::ErrorKind::kUsage,
                          "the tokenizer has " + std::to_string(tokenizer.vocabulary()) +
                              " tokens and the model " + std::to_string(options.config.vocabulary),
                          "use the tokenizer.json that was packed with the model's data");
    }
    // "models/m/" and "models/m" are the same folder; without this the neighbour would lie inside.
    const fs::path target = folder.has_filename() ? folder : folder.parent_path();
    ASSAY_TRY(check_target(target));
    const base::Hash256 root = program::array_root(program::parameter_tensors(options.config), parameters);
    fs::path temporary = target;
    temporary += ".new." + std::to_string(::getpid());
    std::error_code error;
    fs::remove_all(temporary, error);
    ASSAY_TRY(make_folder(temporary));
    const auto written =
        write_files(temporary, options, parameters, tokenizer.end_of_document().value_or(0), root);
    if (!written.ok()) {
        fs::remove_all(temporary, error);
        return base::failed(written.error());
    }
    ASSAY_TRY(replace_folder(temporary, target));
    return root;
}

base::Outcome<ModelFolder> read_model_folder(const fs::path& folder) {
    auto read = read_folder(folder);
    if (read.ok()) return read;
    base::Error error = read.error();
    if (error.what.find(folder.string()) == std::string::npos)
        error.what = folder.string() + ": " + error.what;
    return base::failed(std::move(error));
}

}  // namespace assay::trainer
