// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/tokenizer_file.hpp"

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "trainer/data/files.hpp"
#include "trainer/data/json.hpp"

namespace assay::trainer {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::uint64_t kMaxFile = std::uint64_t{64} << 20;

base::Failed<base::Error> refuse(const std::string& what) {
    return base::fail(base::ErrorKind::kUsage, "tokenizer.json cannot be used: " + what,
                      "use a GPT-2-like byte-level BPE tokenizer, such as `assay data pack` writes");
}

/// GPT-2's printable stand-ins: a byte that is a visible Latin-1 character stands for itself, the others
/// take code points from 256 up, in order of the byte (openai/gpt-2, encoder.py, bytes_to_unicode).
const std::array<char32_t, 256>& stand_ins() {
    static const std::array<char32_t, 256> table = [] {
        std::array<char32_t, 256> made{};
        char32_t next = 256;
        for (char32_t byte = 0; byte < 256; ++byte) {
            const bool visible =
                (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
            made[byte] = visible ? byte : next++;
        }
        return made;
    }();
    return table;
}

/// Bytes -> the spelling that tokenizer.json uses (UTF-8; every code point is below 0x800).
std::string spell(std::string_view bytes) {
    std::string text;
    for (const char byte : bytes) {
        const char32_t point = stand_ins()[static_cast<unsigned char>(byte)];
        if (point < 0x80) {
            text.push_back(static_cast<char>(point));
        } else {
            text.push_back(static_cast<char>(0xc0U | (point >> 6)));
            text.push_back(static_cast<char>(0x80U | (point & 0x3fU)));
        }
    }
    return text;
}

/// The bytes that `text` spells; nothing when a character stands for no byte.
std::optional<std::string> unspell(std::string_view text) {
    static const std::map<char32_t, char> bytes = [] {
        std::map<char32_t, char> made;
        for (std::size_t byte = 0; byte < 256; ++byte) {
            made[stand_ins()[byte]] = static_cast<char>(static_cast<unsigned char>(byte));
        }
        return made;
    }();
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        auto point = static_cast<char32_t>(static_cast<unsigned char>(text[i]));
        if (point >= 0x80) {
            if (point >= 0xe0 || i + 1 == text.size()) return std::nullopt;
            point = ((point & 0x1fU) << 6) | (static_cast<unsigned char>(text[++i]) & 0x3fU);
        }
        const auto found = bytes.find(point);
        if (found == bytes.end()) return std::nullopt;
        out.push_back(found->second);
    }
    return out;
}

/// `value[key]` is absent or null.
bool is_empty(const json& value, const char* key) { return !value.contains(key) || value[key].is_null(); }

/// Members that would change ids if they were anything else. Empty when all is well.
std::optional<std::string> other_pipeline(const json& root) {
    if (!is_empty(root, "normalizer")) return "it has a normalizer";
    const json& cut = root.contains("pre_tokenizer") ? root["pre_tokenizer"] : json();
    if (!cut.is_object() || cut.value("type", json()) != json("ByteLevel")) {
        return "its pre-tokenizer is not ByteLevel";
    }
    if (cut.value("add_prefix_space", json(true)) != json(false)) return "it adds a space in front of texts";
    if (cut.value("use_regex", json(true)) != json(true)) return "it does not use the GPT-2 word pattern";
    const json& model = root.contains("model") ? root["model"] : json();
    if (!model.is_object() || model.value("type", json("BPE")) != json("BPE")) return "its model is not BPE";
    if (!is_empty(model, "dropout")) return "it uses dropout";
    if (!is_empty(model, "unk_token")) return "it has an unknown token";
    for (const char* affix : {"continuing_subword_prefix", "end_of_word_suffix"}) {
        if (!is_empty(model, affix) && model[affix] != json("")) return std::string("it has a ") + affix;
    }
    for (const char* flag : {"byte_fallback", "ignore_merges"}) {
        if (!is_empty(model, flag) && model[flag] != json(false)) return std::string("it sets ") + flag;
    }
    return std::nullopt;
}

base::Outcome<BpeTables> read_vocabulary(const json& root, std::map<std::string, std::uint32_t>& ids) {
    const json& vocab = root["model"].contains("vocab") ? root["model"]["vocab"] : json();
    if (!vocab.is_object()) return refuse("its vocabulary is missing");
    for (const auto& item : vocab.items()) {
        if (!item.value().is_number_unsigned() || item.value().get<std::uint64_t>() > 65535) {
            return refuse("the id of \"" + item.key() + "\" is not a number from 0 to 65535");
        }
        ids[item.key()] = item.value().get<std::uint32_t>();
    }
    const json& added = root.contains("added_tokens") ? root["added_tokens"] : json::array();
    if (!added.is_array() || added.size() != 1) return refuse("it must have one added token");
    const json& special = added[0];
    if (!special.is_object() || special.value("content", json()) != json(std::string(kEndOfText)) ||
        special.value("special", json()) != json(true) || !special.contains("id") ||
        !special["id"].is_number_unsigned() || special["id"].get<std::uint64_t>() > 65535) {
        return refuse("its added token is not the special token " + std::string(kEndOfText));
    }
    BpeTables tables;
    tables.end_of_text = special["id"].get<std::uint32_t>();
    const auto [place, fresh] = ids.emplace(std::string(kEndOfText), tables.end_of_text);
    if (place->second != tables.end_of_text) return refuse("the special token has two ids");
    tables.tokens.resize(ids.size());
    for (const auto& [text, id] : ids) {
        if (id >= ids.size())
            return refuse("ids have holes: " + std::to_string(id) + " is above the count of tokens");
        if (!tables.tokens[id].empty()) return refuse("the id " + std::to_string(id) + " is there twice");
        const auto bytes = id == tables.end_of_text ? std::string(kEndOfText) : unspell(text);
        if (!bytes || bytes->empty()) return refuse("the token \"" + text + "\" does not spell bytes");
        tables.tokens[id] = *bytes;
    }
    return tables;
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

}  // namespace

std::string tokenizer_to_json(const Tokenizer& tokenizer) {
    const BpeTables& tables = tokenizer.tables();
    ordered_json vocab = ordered_json::object();
    // Straight into the ordered map's vector: its operator[] searches, which is the square of the size.
    auto& entries = vocab.get_ref<ordered_json::object_t&>();
    for (std::uint32_t id = 0; id < tables.tokens.size(); ++id) {
        const bool special = id == tables.end_of_text;
        static_cast<std::vector<std::pair<const std::string, ordered_json>>&>(entries).emplace_back(
            special ? std::string(kEndOfText) : spell(tables.tokens[id]), ordered_json(id));
    }
    ordered_json merges = ordered_json::array();
    for (const auto& [left, right] : tables.merges) {
        merges.push_back({spell(tables.tokens[left]), spell(tables.tokens[right])});
    }
    const ordered_json byte_level = {
        {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
    ordered_json root;
    root["version"] = "1.0";
    root["truncation"] = nullptr;
    root["padding"] = nullptr;
    root["added_tokens"] = ordered_json::array({{{"id", tables.end_of_text},
                                                 {"content", kEndOfText},
                                                 {"single_word", false},
                                                 {"lstrip", false},
                                                 {"rstrip", false},
                                                 {"normalized", false},
                                                 {"special", true}}});
    root["normalizer"] = nullptr;
    root["pre_tokenizer"] = byte_level;
    root["post_processor"] = nullptr;
    root["decoder"] = byte_level;
    root["model"] = {{"type", "BPE"},
                     {"dropout", nullptr},
                     {"unk_token", nullptr},
                     {"continuing_subword_prefix", nullptr},
                     {"end_of_word_suffix", nullptr},
                     {"fuse_unk", false},
                     {"byte_fallback", false},
                     {"ignore_merges", false}};
    root["model"]["vocab"] = std::move(vocab);
    root["model"]["merges"] = std::move(merges);
    return root.dump(1) + "\n";
}

base::Outcome<Tokenizer> tokenizer_from_json(std::string_view text) {
    ASSAY_ASSIGN(const json root, parse_json(text, "tokenizer.json"));
    if (!root.is_object()) return refuse("it is not an object");
    if (const auto other = other_pipeline(root)) return refuse(*other);
    std::map<std::string, std::uint32_t> ids;
    ASSAY_ASSIGN(BpeTables tables, read_vocabulary(root, ids));
    const json& merges = root["model"].contains("merges") ? root["model"]["merges"] : json();
    if (!merges.is_array()) return refuse("its merges are missing");
    for (const json& merge : merges) {
        const auto halves = merge_halves(merge);
        const std::string where = "merge " + std::to_string(tables.merges.size());
        if (!halves) return refuse(where + " is not a pair of tokens");
        const auto left = ids.find(halves->first);
        const auto right = ids.find(halves->second);
        if (left == ids.end() || right == ids.end())
            return refuse(where + " names a token that does not exist");
        tables.merges.emplace_back(left->second, right->second);
    }
    return Tokenizer::create(std::move(tables));
}

base::Outcome<Tokenizer> read_tokenizer(const std::filesystem::path& path) {
    ASSAY_ASSIGN(const base::Bytes file, read_file(path, kMaxFile));
    return tokenizer_from_json(base::as_text(file));
}

}  // namespace assay::trainer
