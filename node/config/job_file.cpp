// SPDX-License-Identifier: Apache-2.0
#include "node/config/job_file.hpp"

#include <toml++/toml.h>

#include <algorithm>

#include "contracts/base/blob_id.hpp"
#include "contracts/program/spec_check.hpp"
#include "node/config/job_keys.hpp"
#include "node/config/toml_errors.hpp"
#include "trainer/data/files.hpp"
#include "trainer/data/manifest.hpp"
#include "trainer/data/token_file.hpp"
#include "trainer/data/tokenizer_file.hpp"
#include "trainer/model/model_folder.hpp"

namespace assay::node {
namespace {

using base::ErrorKind;

constexpr std::uint64_t kMaxJobFile = std::uint64_t{1} << 20;

/// The value as the table's types have it; nothing when it is of another type.
std::optional<JobValue> typed(const JobKey& key, const toml::node& node) {
    const bool whole = node.is_integer();
    if (key.type == JobKeyType::kWhole)
        return whole ? std::optional<JobValue>(node.ref<std::int64_t>()) : std::nullopt;
    if (key.type == JobKeyType::kNumber) {
        if (whole) return JobValue{static_cast<double>(node.ref<std::int64_t>())};
        return node.is_floating_point() ? std::optional<JobValue>(node.ref<double>()) : std::nullopt;
    }
    return node.is_string() ? std::optional<JobValue>(node.ref<std::string>()) : std::nullopt;
}

base::Outcome<void> put_value(const JobKey& key, const toml::node& node, std::string_view file,
                              JobFile& job) {
    const std::string where = at_line(file, node.source()) + key.path();
    const auto value = typed(key, node);
    const std::string fix = "write " + key.path() + " as " + allowed(key);
    if (!value) return base::fail(ErrorKind::kUsage, where + " has the wrong type", fix);
    if (key.limit != nullptr && !field_value(key, *value)) {
        return base::fail(ErrorKind::kUsage, where + " = " + to_toml(*value) + " is not possible", fix);
    }
    if (!is_allowed(key, *value) || !key.put(job, *value)) {
        return base::fail(ErrorKind::kUsage, where + " = " + to_toml(*value) + " is out of range", fix);
    }
    return {};
}

base::Outcome<void> refuse_unknown(const toml::table& root, std::string_view file) {
    std::vector<std::string> sections;
    for (const JobKey& key : job_keys()) {
        if (sections.empty() || sections.back() != key.section) sections.emplace_back(key.section);
    }
    for (const auto& [section, node] : root) {
        const std::string name(section.str());
        if (std::find(sections.begin(), sections.end(), name) == sections.end()) {
            return unknown_name(at_line(file, node.source()), node.is_table() ? "section" : "key", name,
                                sections);
        }
        if (!node.is_table()) {
            return base::fail(ErrorKind::kUsage,
                              at_line(file, node.source()) + "\"" + name + "\" is not a section",
                              "write [" + name + "] on a line of its own and its keys below");
        }
        std::vector<std::string> known;
        for (const JobKey& key : job_keys()) {
            if (key.section == name) known.emplace_back(key.name);
        }
        for (const auto& [key, value] : *node.as_table()) {
            const std::string word(key.str());
            if (std::find(known.begin(), known.end(), word) == known.end()) {
                return unknown_name(at_line(file, value.source()), "key in [" + name + "]", word, known);
            }
        }
    }
    return {};
}

/// Where the key that a rule is about stands, for errors that the table's ranges do not see.
std::string line_of(const toml::table& root, std::string_view file, const std::string& path) {
    const auto node = root.at_path(path);
    return node ? at_line(file, node.node()->source()) : std::string(file) + ": ";
}

base::Failed<base::Error> broken(const std::string& where, program::SpecError error,
                                 const program::JobSpec& spec) {
    return base::fail(ErrorKind::kUsage, where + program::found_text(error, spec) + " breaks a rule",
                      program::to_text(error));
}

/// The rules that tie keys together, of the parts that the text alone says.
base::Outcome<void> check_rules(const toml::table& root, std::string_view file, const program::JobSpec& spec,
                                program::Parts parts) {
    const auto checked = program::check_spec(spec, parts);
    if (checked.ok()) return {};
    return broken(line_of(root, file, std::string(program::key_of(checked.error()))), checked.error(), spec);
}

// What the job file leaves to the family.
void fill_model(program::ModelConfig& model) {
    if (model.family != program::Family::kLlama) return;
    if (model.kv_heads == 0) model.kv_heads = model.heads;
    if (model.hidden == 0) model.hidden = (model.width * 8 / 3 + 63) / 64 * 64;
    if (model.rope_theta == program::Float32(0.0F)) model.rope_theta = 10'000.0F;
}

// As many machines as must be there, unless the file says more.
void fill_terms(program::MarketTerms& terms) {
    if (terms.most == 0) terms.most = terms.gang;
}

const toml::node* node_of(const toml::table& root, const JobKey& key) {
    const toml::table* section = root[key.section].as_table();
    return section == nullptr ? nullptr : section->get(key.name);
}

/// The shape of a job that starts from a folder is the folder's. Its weights fix all of it but Llama's
/// positions, so no other key may stand next to `from`.
bool left_to_folder(const JobKey& key) {
    return key.path() != "model.from" && std::string_view(key.section) == "model";
}

base::Outcome<void> refuse_shape(const toml::table& root, std::string_view file) {
    for (const JobKey& key : job_keys()) {
        const toml::node* node = node_of(root, key);
        if (node == nullptr || !left_to_folder(key) || key.path() == "model.context") continue;
        return base::fail(ErrorKind::kUsage,
                          at_line(file, node->source()) + key.path() +
                              " stands beside model.from, and the folder's config.json says it already",
                          "remove the line; only model.context may stand beside model.from");
    }
    return {};
}

base::Outcome<JobFile> job_from(const toml::table& root, std::string_view file) {
    ASSAY_TRY(refuse_unknown(root, file));
    JobFile job;
    const toml::node_view<const toml::node> from = root.at_path("model.from");
    const bool folder = from && from.value_or(std::string_view()) != "";
    if (folder) ASSAY_TRY(refuse_shape(root, file));
    for (const JobKey& key : job_keys()) {
        const toml::node* node = node_of(root, key);
        if (node != nullptr) {
            ASSAY_TRY(put_value(key, *node, file, job));
        } else if (folder && left_to_folder(key)) {
            continue;
        } else if (key.standard) {
            key.put(job, *key.standard);
        } else {
            return base::fail(
                ErrorKind::kUsage, std::string(file) + ": the key " + key.path() + " is missing",
                "add " + std::string(key.name) + " = … to [" + key.section + "]: " + allowed(key));
        }
    }
    if (job.manifest.empty()) {
        return base::fail(ErrorKind::kUsage, line_of(root, file, "data.manifest") + "data.manifest is empty",
                          "name the manifest.json that `assay data pack` wrote");
    }
    if (!folder) fill_model(job.spec.model);
    fill_terms(job.spec.market.terms);
    const program::Parts own = program::kWholeSpec.without(program::Part::kData);
    ASSAY_TRY(check_rules(root, file, job.spec, folder ? own.without(program::Part::kModel) : own));
    return job;
}

/// spec.model as the folder's config.json has it. Weights are left for whoever needs them.
base::Outcome<void> add_model(JobFile& job, const std::filesystem::path& path) {
    if (job.from.empty()) return {};
    job.from = path.parent_path() / job.from;
    const std::uint32_t context = job.spec.model.context;
    ASSAY_ASSIGN(const auto config,
                 trainer::read_model_config(job.from, context == 0 ? std::nullopt : std::optional(context),
                                            "model.context in the job file"));
    job.spec.model = config.config;
    job.ids = config.ids;
    return {};
}

/// Whether two tokenizers give every text the same ids: all but what stands around texts, and whether added
/// tokens are listed twice, which changes as libraries save a tokenizer again.
bool same_ids(trainer::BpeTables one, trainer::BpeTables other) {
    for (trainer::BpeTables* tables : {&one, &other}) {
        tables->before_text.clear();
        tables->after_text.clear();
        for (trainer::AddedToken& added : tables->added) added.in_vocabulary = false;
    }
    return one == other;
}

/// The numbers of the data must mean to the model what they mean to its own tokenizer, if the folder has one.
base::Outcome<void> check_tokenizer(const JobFile& job) {
    const std::filesystem::path own = job.from / "tokenizer.json";
    std::error_code error;
    if (job.from.empty() || !std::filesystem::exists(own, error)) return {};
    ASSAY_ASSIGN(const auto of_model, trainer::read_tokenizer(own));
    ASSAY_ASSIGN(const auto of_data, trainer::read_tokenizer(job.tokenizer));
    if (same_ids(of_model.tables(), of_data.tables())) return {};
    return base::fail(
        ErrorKind::kUsage,
        "the data was packed with another tokenizer than that of the model folder " + job.from.string(),
        "pack the text again with `assay data pack --tokenizer " + own.string() + "`");
}

base::Outcome<void> add_data(JobFile& job, const std::filesystem::path& path) {
    const std::filesystem::path folder = path.parent_path();
    const bool own_held_out = !job.held_out.empty();
    job.manifest = folder / job.manifest;
    ASSAY_ASSIGN(const base::Bytes file, trainer::read_file(job.manifest, std::uint64_t{1} << 20));
    ASSAY_ASSIGN(const trainer::Manifest manifest, trainer::read_manifest(job.manifest));
    const std::filesystem::path data = job.manifest.parent_path();
    job.train = data / manifest.train.name;
    job.tokenizer = data / manifest.tokenizer.name;
    job.held_out = own_held_out ? folder / job.held_out : data / manifest.held_out.name;
    program::DataConfig& config = job.spec.data;
    config.manifest = base::blob_id(file);
    config.train = manifest.train.id;
    config.train_tokens = manifest.train.tokens;
    config.tokenizer = manifest.tokenizer.id;
    config.held_out = manifest.held_out.id;
    config.held_out_tokens = manifest.held_out.tokens;
    if (manifest.vocabulary != job.spec.model.vocabulary && !job.from.empty()) {
        return base::fail(ErrorKind::kUsage,
                          "the model folder " + job.from.string() + " has a vocabulary of " +
                              std::to_string(job.spec.model.vocabulary) + " and the data was packed with " +
                              std::to_string(manifest.vocabulary),
                          "pack the text with the model's own tokenizer: `assay data pack --tokenizer " +
                              (job.from / "tokenizer.json").string() + "`");
    }
    if (manifest.vocabulary != job.spec.model.vocabulary) {
        return base::fail(
            ErrorKind::kUsage,
            path.string() + ": model.vocabulary is " + std::to_string(job.spec.model.vocabulary) +
                " and the data was packed with " + std::to_string(manifest.vocabulary),
            "set model.vocabulary = " + std::to_string(manifest.vocabulary) + ", or pack the text again");
    }
    if (own_held_out) {
        ASSAY_ASSIGN(const auto tokens, trainer::read_token_file(job.held_out, manifest.vocabulary));
        config.held_out = base::blob_id(trainer::token_file_bytes(tokens, manifest.vocabulary));
        config.held_out_tokens = tokens.size();
    }
    ASSAY_TRY(check_tokenizer(job));
    if (const auto checked = program::check_spec(job.spec); !checked.ok()) {
        return broken(path.string() + ": ", checked.error(), job.spec);
    }
    return {};
}

}  // namespace

base::Outcome<JobFile> parse_job_text(std::string_view text, std::string_view name) {
    try {
        const toml::table root = toml::parse(text, name);
        return job_from(root, name);
    } catch (const toml::parse_error& error) {
        return not_toml(name, error, "see docs/reference/job-file.md for the form of a job file");
    }
}

base::Outcome<JobFile> read_job_file(const std::filesystem::path& path) {
    ASSAY_ASSIGN(const base::Bytes file, trainer::read_file(path, kMaxJobFile));
    ASSAY_ASSIGN(JobFile job, parse_job_text(base::as_text(file), path.string()));
    ASSAY_TRY(add_model(job, path));
    ASSAY_TRY(add_data(job, path));
    return job;
}

std::string job_file_text(const JobFile& job) {
    std::string out;
    std::string section;
    for (const JobKey& key : job_keys()) {
        const bool known = job.from.empty() || !left_to_folder(key);
        if (!known && (key.path() != "model.context" || job.spec.model.context == 0)) continue;
        if (section != key.section) {
            out += (out.empty() ? "[" : "\n[") + std::string(key.section) + "]\n";
            section = key.section;
        }
        out += std::string(key.name) + " = " + to_toml(key.get(job)) + "\n";
    }
    return out;
}

}  // namespace assay::node
