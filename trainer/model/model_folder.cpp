// SPDX-License-Identifier: Apache-2.0
#include "trainer/model/model_folder.hpp"

#include <unistd.h>

#include <optional>
#include <utility>

#include "contracts/base/check.hpp"
#include "contracts/program/state_root.hpp"
#include "contracts/program/tensors.hpp"
#include "trainer/data/files.hpp"
#include "trainer/data/tokenizer_file.hpp"
#include "trainer/model/folder_files.hpp"

namespace assay::trainer {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxSmallFile = std::uint64_t{64} << 20;

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
    const bool replaceable = status.type() == fs::file_type::directory &&
                             (fs::is_empty(folder, error) ||
                              (fs::is_regular_file(folder / "assay.json", error) &&
                               (fs::is_regular_file(folder / "model.safetensors", error) ||
                                fs::is_regular_file(folder / "model.safetensors.index.json", error))));
    if (replaceable) return {};
    return base::fail(base::ErrorKind::kUsage, folder.string() + " exists and is not a model folder",
                      "name another folder, or remove this one yourself");
}

/// Where the folder that is replaced lies meanwhile.
fs::path place_of_old(const fs::path& folder) {
    fs::path old = folder;
    old += ".old";
    return old;
}

/// Puts the finished `temporary` in the place of `folder`.
base::Outcome<void> replace_folder(const fs::path& temporary, const fs::path& folder) {
    std::error_code error;
    const fs::path old = place_of_old(folder);
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

/// The tokenizer of the folder, which has as many tokens as the model; nothing when there is none.
base::Outcome<std::optional<Tokenizer>> tokenizer_of(const std::string& text,
                                                     const program::ModelConfig& config) {
    std::optional<Tokenizer> none;
    if (text.empty()) return none;
    ASSAY_ASSIGN(Tokenizer tokenizer, tokenizer_from_json(text));
    if (tokenizer.vocabulary() == config.vocabulary) return std::optional<Tokenizer>(std::move(tokenizer));
    return base::fail(
        base::ErrorKind::kUsage,
        "tokenizer.json has " + std::to_string(tokenizer.vocabulary()) +
            " tokens and the model's vocabulary (\"vocab_size\") is " + std::to_string(config.vocabulary),
        "use the tokenizer.json that belongs to the model; padded vocabularies are not supported");
}

base::Outcome<void> write_files(const fs::path& folder, const ModelFolderOptions& options,
                                std::span<const float> parameters, const std::optional<Tokenizer>& tokenizer,
                                const base::Hash256& root) {
    SpecialIds ids = options.ids;
    if (ids == SpecialIds{} && tokenizer) {
        ids = {tokenizer->begin_of_document(), {}, tokenizer->end_of_document()};
        if (ids.pad) ids.end.push_back(*ids.pad);
    }
    std::vector<std::pair<const char*, std::string>> files = {
        {"config.json", config_json(options.config, ids)},
        {"generation_config.json", generation_config_json(ids)},
        {"README.md", model_card(options, root)},
        {"assay.json", provenance_json(options.provenance, root)},
    };
    if (tokenizer) {
        files.emplace_back("tokenizer.json", options.tokenizer_json);
        files.emplace_back("tokenizer_config.json",
                           tokenizer_config_json(*tokenizer, options.config.context));
        files.emplace_back("special_tokens_map.json", special_tokens_json(*tokenizer));
    }
    for (const auto& [name, text] : files) ASSAY_TRY(write_file(folder / name, base::as_bytes(text)));
    if (!options.certificate.empty()) ASSAY_TRY(write_file(folder / kCertificateFile, options.certificate));
    return write_weights(folder, options.config, parameters, options.max_shard_bytes);
}

base::Outcome<std::string> read_text(const fs::path& path) {
    ASSAY_ASSIGN(const base::Bytes file, read_file(path, kMaxSmallFile));
    return std::string(base::as_text(file));
}

base::Outcome<ConfigFile> config_of(const fs::path& folder, std::optional<std::uint32_t> context,
                                    std::string_view context_key = "--context") {
    std::error_code error;
    if (!fs::is_directory(folder, error)) {
        return base::fail(base::ErrorKind::kNotFound, "there is no model folder " + folder.string(),
                          "check the path");
    }
    ASSAY_ASSIGN(const std::string config, read_text(folder / "config.json"));
    return config_from_json(config, context, context_key);
}

base::Outcome<ModelFolder> read_folder(const fs::path& folder, std::optional<std::uint32_t> context) {
    std::error_code error;
    ModelFolder out;
    ASSAY_ASSIGN(const ConfigFile read, config_of(folder, context));
    out.config = read.config;
    out.ids = read.ids;
    if (fs::exists(folder / "tokenizer.json", error)) {
        ASSAY_ASSIGN(out.tokenizer_json, read_text(folder / "tokenizer.json"));
        ASSAY_TRY(tokenizer_of(out.tokenizer_json, out.config));
    }
    ASSAY_ASSIGN(out.parameters, read_weights(folder, out.config));
    out.parameters_root = program::array_root(program::parameter_tensors(out.config), out.parameters);
    if (!fs::exists(folder / "assay.json", error)) return out;
    ASSAY_ASSIGN(const std::string from, read_text(folder / "assay.json"));
    ASSAY_ASSIGN(ProvenanceFile provenance, provenance_from_json(from));
    out.provenance = std::move(provenance.provenance);
    if (out.parameters_root != provenance.parameters_root) {
        return changed(folder, "its parameters have the root " + out.parameters_root.brief() +
                                   "… and assay.json says " + provenance.parameters_root.brief() + "…");
    }
    return out;
}

/// Errors say which folder they are about.
template <class Value>
base::Outcome<Value> naming(const fs::path& folder, base::Outcome<Value> outcome) {
    if (outcome.ok()) return outcome;
    base::Error error = outcome.error();
    if (error.what.find(folder.string()) == std::string::npos)
        error.what = folder.string() + ": " + error.what;
    return base::failed(std::move(error));
}

}  // namespace

base::Outcome<std::string> folder_of_job(const std::string& job_name) {
    const bool plain = !job_name.empty() && job_name.front() != '.' && job_name.front() != '-' &&
                       job_name.find('/') == std::string::npos;
    if (plain) return job_name + "-model";
    return base::fail(base::ErrorKind::kUsage, "the job's name '" + job_name + "' is no name for a folder",
                      "name the folder with --out");
}

base::Outcome<base::Hash256> write_model_folder(const fs::path& folder, const ModelFolderOptions& options,
                                                std::span<const float> parameters) {
    ASSAY_CHECK(parameters.size() == program::parameter_count(options.config));
    ASSAY_ASSIGN(const std::optional<Tokenizer> tokenizer,
                 tokenizer_of(options.tokenizer_json, options.config));
    // "models/m/" and "models/m" are the same folder; without this the neighbour would lie inside.
    const fs::path target = folder.has_filename() ? folder : folder.parent_path();
    ASSAY_TRY(check_target(target));
    ASSAY_TRY(check_target(place_of_old(target)));
    const base::Hash256 root = program::array_root(program::parameter_tensors(options.config), parameters);
    fs::path temporary = target;
    temporary += ".new." + std::to_string(::getpid());
    std::error_code error;
    fs::remove_all(temporary, error);
    ASSAY_TRY(make_folder(temporary));
    const auto written = write_files(temporary, options, parameters, tokenizer, root);
    if (!written.ok()) {
        fs::remove_all(temporary, error);
        return base::failed(written.error());
    }
    ASSAY_TRY(replace_folder(temporary, target));
    return root;
}

base::Outcome<ModelFolder> read_model_folder(const fs::path& folder, std::optional<std::uint32_t> context) {
    return naming(folder, read_folder(folder, context));
}

base::Outcome<ConfigFile> read_model_config(const fs::path& folder, std::optional<std::uint32_t> context,
                                            std::string_view context_key) {
    return naming(folder, config_of(folder, context, context_key));
}

}  // namespace assay::trainer
