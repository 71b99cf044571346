// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/tokenizer_file.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "trainer/data/byte_spelling.hpp"
#include "trainer/data/files.hpp"
#include "trainer/data/json.hpp"
#include "trainer/data/tokenizer_pipeline.hpp"

namespace assay::trainer {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::uint64_t kMaxTokens = std::uint64_t{1} << 22;

/// The model's members other than vocabulary and merges. An unknown token and byte fallback are for
/// characters that no token spells, and here every byte has one.
base::Outcome<bool> read_model_members(const json& model) {
    ASSAY_TRY(check_keys(model, "model",
                         {"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix",
                          "fuse_unk", "byte_fallback", "ignore_merges", "vocab", "merges"}));
    if (model.contains("type") && model["type"] != json("BPE"))
        return refuse_field("model.type", model["type"], "\"BPE\"");
    const json& dropout = member(model, "dropout");
    if (!dropout.is_null() && dropout != json(0.0)) return refuse_field("model.dropout", dropout, "null");
    for (const char* affix : {"continuing_subword_prefix", "end_of_word_suffix"}) {
        const json& value = member(model, affix);
        if (!value.is_null() && value != json(""))
            return refuse_field(std::string("model.") + affix, value, "null");
    }
    const json& ignore = member(model, "ignore_merges");
    if (!ignore.is_null() && !ignore.is_boolean())
        return refuse_field("model.ignore_merges", ignore, "true, false");
    return ignore == json(true);
}

/// One row of `added_tokens`; its spelling goes into `spelling`.
base::Outcome<AddedToken> read_added(const json& row, const std::string& field, std::string& spelling) {
    ASSAY_TRY(check_keys(row, field,
                         {"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"}));
    AddedToken token;
    const json& id = member(row, "id");
    if (!id.is_number_unsigned() || id.get<std::uint64_t>() >= kMaxTokens)
        return refuse_field(field + ".id", id, "a number below " + std::to_string(kMaxTokens));
    token.id = id.get<std::uint32_t>();
    const json& content = member(row, "content");
    if (!content.is_string() || content == json(""))
        return refuse_field(field + ".content", content, "a text");
    spelling = content.get<std::string>();
    for (const char* flag : {"single_word", "lstrip", "rstrip"}) {
        if (member(row, flag) != json(false) && !member(row, flag).is_null())
            return refuse_field(field + "." + flag, row[flag], "false");
    }
    for (const char* flag : {"normalized", "special"}) {
        if (!member(row, flag).is_boolean())
            return refuse_field(field + "." + flag, member(row, flag), "true, false");
    }
    token.normalised = row["normalized"].get<bool>();
    token.special = row["special"].get<bool>();
    return token;
}

/// Tokens by id, from the vocabulary and the added tokens; `ids` are the spellings that merges may name.
base::Outcome<void> read_tokens(const json& root, std::map<std::string, std::uint32_t>& ids,
                                BpeTables& tables) {
    const json& vocab = member(member(root, "model"), "vocab");
    if (!vocab.is_object()) return refuse_tokenizer("\"model.vocab\" is not an object of tokens");
    for (const auto& item : vocab.items()) {
        if (!item.value().is_number_unsigned() || item.value().get<std::uint64_t>() >= kMaxTokens) {
            return refuse_field("model.vocab." + item.key(), item.value(),
                                "a number below " + std::to_string(kMaxTokens));
        }
        ids[item.key()] = item.value().get<std::uint32_t>();
    }
    const std::size_t in_vocabulary = ids.size();
    std::map<std::uint32_t, std::string> spellings;
    const json& added = member(root, "added_tokens");
    if (!added.is_array() && !added.is_null()) return refuse_field("added_tokens", added, "a list");
    for (std::size_t i = 0; i < added.size(); ++i) {
        const std::string field = "added_tokens[" + std::to_string(i) + "]";
        std::string spelling;
        ASSAY_ASSIGN(AddedToken token, read_added(added[i], field, spelling));
        const auto [place, fresh] = ids.emplace(spelling, token.id);
        token.in_vocabulary = !fresh;
        // tokenizers numbers new tokens itself, in the order of the file, and ignores the id written here.
        const std::uint64_t expected = fresh ? ids.size() - 1 : place->second;
        if (token.id != expected)
            return refuse_field(field + ".id", json(token.id), std::to_string(expected) + " for this token");
        if (!spellings.emplace(token.id, spelling).second)
            return refuse_tokenizer("\"" + field + "\" is there twice");
        tables.added.push_back(token);
    }
    std::sort(tables.added.begin(), tables.added.end(),
              [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; });
    tables.tokens.resize(ids.size());
    for (const auto& [text, id] : ids) {
        const std::string what = "\"model.vocab\" gives \"" + text + "\" the id " + std::to_string(id);
        if (id >= ids.size() || (id >= in_vocabulary && !spellings.contains(id)))
            return refuse_tokenizer(what + ", but has " + std::to_string(in_vocabulary) + " tokens");
        if (!tables.tokens[id].empty()) return refuse_tokenizer(what + ", which another token has");
        const auto special = spellings.find(id);
        const auto bytes = special == spellings.end() ? unspell_bytes(text) : special->second;
        if (!bytes || bytes->empty()) return refuse_tokenizer(what + ", but the text spells no bytes");
        tables.tokens[id] = *bytes;
    }
    return {};
}

/// The two halves of a merge, written ["a", "b"] or "a b".
std::optional<std::pair<std::string, std::string>> merge_halves(const json& merge) {
    if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
        return std::pair{merge[0].get<std::string>(), merge[1].get<std::string>()};
    }
    if (!merge.is_string()) return std::nullopt;
    const auto text = merge.get<std::string>();
    const std::size_t space = text.find(' ');
    if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos) return std::nullopt;
    return std::pair{text.substr(0, space), text.substr(space + 1)};
}

base::Outcome<void> read_merges(const json& merges, const std::map<std::string, std::uint32_t>& ids,
                                BpeTables& tables) {
    if (!merges.is_array()) return refuse_tokenizer("\"model.merges\" is not a list of merges");
    for (std::size_t i = 0; i < merges.size(); ++i) {
        const std::string field = "model.merges[" + std::to_string(i) + "]";
        const auto halves = merge_halves(merges[i]);
        if (!halves) return refuse_field(field, merges[i], "[\"a\", \"b\"] or \"a b\"");
        const auto left = ids.find(halves->first);
        const auto right = ids.find(halves->second);
        if (left == ids.end() || right == ids.end())
            return refuse_field(field, merges[i], "two tokens of \"model.vocab\"");
        tables.merges.emplace_back(left->second, right->second);
    }
    return {};
}

ordered_json model_json(const BpeTables& tables) {
    ordered_json vocab = ordered_json::object();
    // Straight into the ordered map's vector: its operator[] searches, which is the square of the size.
    auto& entries = static_cast<std::vector<std::pair<const std::string, ordered_json>>&>(
        vocab.get_ref<ordered_json::object_t&>());
    std::size_t next_added = 0;
    for (std::uint32_t id = 0; id < tables.tokens.size(); ++id) {
        const AddedToken* added = nullptr;
        if (next_added < tables.added.size() && tables.added[next_added].id == id)
            added = &tables.added[next_added++];
        if (added != nullptr && !added->in_vocabulary) continue;
        entries.emplace_back(added != nullptr ? tables.tokens[id] : spell_bytes(tables.tokens[id]),
                             ordered_json(id));
    }
    ordered_json merges = ordered_json::array();
    for (const auto& [left, right] : tables.merges) {
        merges.push_back({spell_bytes(tables.tokens[left]), spell_bytes(tables.tokens[right])});
    }
    ordered_json model = {{"type", "BPE"},
                          {"dropout", nullptr},
                          {"unk_token", nullptr},
                          {"continuing_subword_prefix", nullptr},
                          {"end_of_word_suffix", nullptr},
                          {"fuse_unk", false},
                          {"byte_fallback", false},
                          {"ignore_merges", tables.ignore_merges}};
    model["vocab"] = std::move(vocab);
    model["merges"] = std::move(merges);
    return model;
}

}  // namespace

std::string tokenizer_to_json(const Tokenizer& tokenizer) {
    const BpeTables& tables = tokenizer.tables();
    ordered_json root;
    root["version"] = "1.0";
    root["truncation"] = nullptr;
    root["padding"] = nullptr;
    root["added_tokens"] = ordered_json::array();
    for (const AddedToken& token : tables.added) {
        root["added_tokens"].push_back({{"id", token.id},
                                        {"content", tables.tokens[token.id]},
                                        {"single_word", false},
                                        {"lstrip", false},
                                        {"rstrip", false},
                                        {"normalized", token.normalised},
                                        {"special", token.special}});
    }
    root["normalizer"] = normalizer_json(tables);
    root["pre_tokenizer"] = pre_tokenizer_json(tables);
    root["post_processor"] = post_processor_json(tables);
    root["decoder"] = byte_level_json(true);
    root["model"] = model_json(tables);
    return root.dump(1) + "\n";
}

base::Outcome<Tokenizer> tokenizer_from_json(std::string_view text) {
    ASSAY_ASSIGN(const json root, parse_json(text, "tokenizer.json"));
    ASSAY_TRY(check_keys(root, "",
                         {"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer",
                          "post_processor", "decoder", "model"}));
    BpeTables tables;
    ASSAY_ASSIGN(tables.ignore_merges, read_model_members(member(root, "model")));
    std::map<std::string, std::uint32_t> ids;
    ASSAY_TRY(read_tokens(root, ids, tables));
    ASSAY_TRY(read_merges(member(member(root, "model"), "merges"), ids, tables));
    ASSAY_TRY(read_pipeline(root, tables));
    return Tokenizer::create(std::move(tables));
}

base::Outcome<Tokenizer> read_tokenizer(const std::filesystem::path& path) {
    ASSAY_ASSIGN(const base::Bytes file, read_file(path, kMaxTokenizerFile));
    return tokenizer_from_json(base::as_text(file));
}

}  // namespace assay::trainer
