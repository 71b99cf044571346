// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/manifest.hpp"

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "contracts/base/blob_id.hpp"
#include "contracts/program/limits.hpp"
#include "trainer/data/files.hpp"
#include "trainer/data/json.hpp"
#include "trainer/data/token_file.hpp"
#include "trainer/data/tokenizer_file.hpp"

namespace assay::trainer {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr const char* kSchema = "assay.data/v2";
constexpr std::uint64_t kMaxFile = kTokenFileHeader + 4 * kTokenFileMaxTokens;
constexpr std::uint64_t kMaxTokenizer = std::uint64_t{64} << 20;

ordered_json file_json(const DataFile& file) {
    ordered_json out = {{"name", file.name}, {"bytes", file.bytes}};
    if (file.tokens != 0) out["tokens"] = file.tokens;
    out["id"] = file.id.hex();
    return out;
}

bool is_plain_name(const std::string& name) {
    return !name.empty() && name.size() <= 255 && name != "." && name != ".." &&
           name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
}

/// `vocabulary`: of a file of tokens; 0 of one without.
base::Outcome<DataFile> file_from(const json& value, const char* key, std::uint32_t vocabulary) {
    const bool has_tokens = vocabulary != 0;
    ObjectReader reader(value, std::string("the manifest's \"") + key + "\"");
    DataFile file;
    file.name = reader.text("name");
    file.bytes = reader.number("bytes", 1, kMaxFile);
    if (has_tokens) file.tokens = reader.number("tokens", 1, kTokenFileMaxTokens);
    file.id = reader.hash("id");
    if (!is_plain_name(file.name)) reader.refuse("its name is not that of a file beside the manifest");
    if (has_tokens && file.bytes != token_file_size(file.tokens, vocabulary)) {
        reader.refuse("its bytes do not fit its tokens");
    }
    ASSAY_TRY(reader.finish());
    return file;
}

base::Failed<base::Error> differs(const std::filesystem::path& path, const std::string& what) {
    return base::fail(base::ErrorKind::kVerification, path.string() + " " + what,
                      "the file was changed after packing: fetch it again or pack the text again");
}

base::Outcome<base::Bytes> check_file(const DataFile& file, const std::filesystem::path& folder) {
    const std::filesystem::path path = folder / file.name;
    ASSAY_ASSIGN(base::Bytes bytes, read_file(path, kMaxFile));
    if (bytes.size() != file.bytes) {
        return differs(path, "has " + std::to_string(bytes.size()) + " bytes; its manifest says " +
                                 std::to_string(file.bytes));
    }
    const base::Hash256 id = base::blob_id(bytes);
    if (id != file.id) {
        return differs(path,
                       "has the content " + id.brief() + "…; its manifest says " + file.id.brief() + "…");
    }
    return bytes;
}

}  // namespace

std::string manifest_to_json(const Manifest& manifest) {
    ordered_json root;
    root["schema"] = kSchema;
    root["source"] = manifest.source;
    root["licence"] = manifest.licence;
    root["split"] = manifest.split;
    root["text_bytes"] = manifest.text_bytes;
    root["documents"] = manifest.documents;
    root["vocabulary"] = manifest.vocabulary;
    root["token_type"] = token_form(manifest.vocabulary).type;
    root["tokenizer"] = file_json(manifest.tokenizer);
    root["train"] = file_json(manifest.train);
    root["held_out"] = file_json(manifest.held_out);
    return root.dump(2) + "\n";
}

base::Outcome<Manifest> manifest_from_json(std::string_view text) {
    ASSAY_ASSIGN(const json root, parse_json(text, "the manifest"));
    ObjectReader reader(root, "the manifest");
    const std::string schema = reader.text("schema");
    if (schema == "assay.data/v1") {
        reader.refuse("its ids are of an earlier law (" + schema + "): pack the data again");
    } else if (schema != kSchema) {
        reader.refuse(std::string("its schema is not ") + kSchema);
    }
    Manifest manifest;
    manifest.source = reader.text("source");
    manifest.licence = reader.text("licence");
    manifest.split = reader.text("split");
    manifest.text_bytes = reader.number("text_bytes", 1, std::uint64_t{1} << 50);
    manifest.documents = reader.number("documents", 1, std::uint64_t{1} << 50);
    manifest.vocabulary = static_cast<std::uint32_t>(reader.number("vocabulary", 2, program::kMaxVocabulary));
    const std::string_view type = token_form(manifest.vocabulary).type;
    if (reader.text("token_type") != type) reader.refuse("its token type is not " + std::string(type));
    const json tokenizer = reader.value("tokenizer");
    const json train = reader.value("train");
    const json held_out = reader.value("held_out");
    ASSAY_TRY(reader.finish());
    ASSAY_ASSIGN(manifest.tokenizer, file_from(tokenizer, "tokenizer", 0));
    ASSAY_ASSIGN(manifest.train, file_from(train, "train", manifest.vocabulary));
    ASSAY_ASSIGN(manifest.held_out, file_from(held_out, "held_out", manifest.vocabulary));
    return manifest;
}

base::Outcome<Manifest> read_manifest(const std::filesystem::path& path) {
    ASSAY_ASSIGN(const base::Bytes file, read_file(path, kMaxManifestFile));
    auto manifest = manifest_from_json(base::as_text(file));
    if (manifest.ok()) return manifest;
    base::Error error = manifest.error();
    error.what = path.string() + ": " + error.what;
    return base::failed(std::move(error));
}

base::Outcome<void> check_data_files(const Manifest& manifest, const std::filesystem::path& folder) {
    ASSAY_ASSIGN(const base::Bytes tokenizer_file, check_file(manifest.tokenizer, folder));
    if (tokenizer_file.size() > kMaxTokenizer)
        return differs(folder / manifest.tokenizer.name, "is too large");
    ASSAY_ASSIGN(const Tokenizer tokenizer, tokenizer_from_json(base::as_text(tokenizer_file)));
    if (tokenizer.vocabulary() != manifest.vocabulary) {
        return differs(folder / manifest.tokenizer.name, "has " + std::to_string(tokenizer.vocabulary()) +
                                                             " tokens; its manifest says " +
                                                             std::to_string(manifest.vocabulary));
    }
    for (const DataFile* file : {&manifest.train, &manifest.held_out}) {
        ASSAY_ASSIGN(const base::Bytes bytes, check_file(*file, folder));
        const auto tokens = parse_token_file(bytes, manifest.vocabulary);
        if (!tokens.ok()) return differs(folder / file->name, "is refused: " + tokens.error().what);
    }
    return {};
}

std::string show(const Manifest& manifest) {
    std::string out;
    const auto line = [&out](const char* name, const std::string& value) {
        std::array<char, 32> label{};
        std::snprintf(label.data(), label.size(), "%-12s ", name);
        out += label.data() + value + "\n";
    };
    const auto file_line = [&line](const char* name, const DataFile& file) {
        std::string value = file.name + "  " + std::to_string(file.bytes) + " bytes";
        if (file.tokens != 0) value += "  " + std::to_string(file.tokens) + " tokens";
        line(name, value + "  " + file.id.hex());
    };
    line("source", manifest.source);
    line("licence", manifest.licence);
    line("text", std::to_string(manifest.text_bytes) + " bytes, " + std::to_string(manifest.documents) +
                     (manifest.documents == 1 ? " document" : " documents"));
    line("vocabulary", std::to_string(manifest.vocabulary) + " tokens");
    line("split", manifest.split);
    file_line("train", manifest.train);
    file_line("held out", manifest.held_out);
    file_line("tokenizer", manifest.tokenizer);
    return out;
}

}  // namespace assay::trainer
