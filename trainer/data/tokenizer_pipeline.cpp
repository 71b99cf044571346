// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/tokenizer_pipeline.hpp"

#include <algorithm>

namespace assay::trainer {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr const char* kPreTokenizers =
    "ByteLevel with add_prefix_space false and use_regex true, or a Sequence of Split with the pattern of "
    "GPT-2 or Llama 3 and ByteLevel with use_regex false";

std::string type_of(const json& part) {
    const json& type = member(part, "type");
    return type.is_string() ? type.get<std::string>() : std::string();
}

/// `part[key]`, where tokenizers takes `standard` for a key that is not there.
base::Outcome<bool> flag(const json& part, const std::string& field, const char* key, bool standard) {
    if (!part.contains(key)) return standard;
    if (!part[key].is_boolean()) return refuse_field(field + "." + key, part[key], "true, false");
    return part[key].get<bool>();
}

base::Outcome<void> read_normalizer(const json& part, const std::string& field, BpeTables& tables) {
    if (part.is_null()) return {};
    const std::string type = type_of(part);
    if (type == "NFC") {
        tables.nfc = true;
        return check_keys(part, field, {"type"});
    }
    if (type != "Sequence" || !member(part, "normalizers").is_array())
        return refuse_field(field, part, "null, NFC");
    const json& parts = part["normalizers"];
    for (std::size_t i = 0; i < parts.size(); ++i) {
        ASSAY_TRY(read_normalizer(parts[i], field + ".normalizers[" + std::to_string(i) + "]", tables));
    }
    return check_keys(part, field, {"type", "normalizers"});
}

/// Returns whether the part cuts words itself.
base::Outcome<bool> read_byte_level(const json& part, const std::string& field) {
    if (type_of(part) != "ByteLevel") return refuse_field(field, part, kPreTokenizers);
    ASSAY_TRY(check_keys(part, field, {"type", "add_prefix_space", "trim_offsets", "use_regex"}));
    ASSAY_ASSIGN(const bool prefix, flag(part, field, "add_prefix_space", true));
    if (prefix) return refuse_field(field + ".add_prefix_space", json(true), "false");
    return flag(part, field, "use_regex", true);
}

base::Outcome<SplitRule> read_split(const json& part, const std::string& field) {
    if (type_of(part) != "Split") return refuse_field(field, part, kPreTokenizers);
    ASSAY_TRY(check_keys(part, field, {"type", "pattern", "behavior", "invert"}));
    if (member(part, "behavior") != json("Isolated"))
        return refuse_field(field + ".behavior", member(part, "behavior"), "\"Isolated\"");
    ASSAY_ASSIGN(const bool inverted, flag(part, field, "invert", false));
    if (inverted) return refuse_field(field + ".invert", json(true), "false");
    const json& pattern = member(part, "pattern");
    for (const SplitRule rule : {SplitRule::kGpt2, SplitRule::kLlama3}) {
        if (member(pattern, "Regex") == json(std::string(split_pattern(rule))) && pattern.size() == 1)
            return rule;
    }
    return refuse_field(field + ".pattern", pattern, "the patterns of GPT-2 and Llama 3 as {\"Regex\": …}");
}

base::Outcome<void> read_pre_tokenizer(const json& part, BpeTables& tables) {
    const std::string field = "pre_tokenizer";
    if (type_of(part) == "ByteLevel") {
        ASSAY_ASSIGN(const bool cuts, read_byte_level(part, field));
        if (!cuts) return refuse_field(field + ".use_regex", json(false), kPreTokenizers);
        tables.split = SplitRule::kGpt2;
        return {};
    }
    const json& parts = member(part, "pretokenizers");
    if (type_of(part) != "Sequence" || !parts.is_array() || parts.size() != 2)
        return refuse_field(field, part, kPreTokenizers);
    ASSAY_TRY(check_keys(part, field, {"type", "pretokenizers"}));
    ASSAY_ASSIGN(tables.split, read_split(parts[0], field + ".pretokenizers[0]"));
    ASSAY_ASSIGN(const bool cuts, read_byte_level(parts[1], field + ".pretokenizers[1]"));
    if (cuts) return refuse_field(field + ".pretokenizers[1].use_regex", json(true), "false");
    return {};
}

// "pair" is the template around two texts in one input. Nothing here makes such inputs, so it is ignored:
// packing and model folders keep the file's own text.
base::Outcome<void> read_template(const json& part, const std::string& field, BpeTables& tables) {
    ASSAY_TRY(check_keys(part, field, {"type", "single", "pair", "special_tokens"}));
    const json& single = member(part, "single");
    const std::string supported = "special tokens before and after one {\"Sequence\": {\"id\": \"A\"}}";
    if (!single.is_array()) return refuse_field(field + ".single", single, supported);
    bool after = false;
    for (const json& piece : single) {
        if (member(member(piece, "Sequence"), "id") == json("A") && !after) {
            after = true;
            continue;
        }
        const json& name = member(member(piece, "SpecialToken"), "id");
        if (!name.is_string()) return refuse_field(field + ".single", single, supported);
        const json& ids =
            member(member(member(part, "special_tokens"), name.get_ref<const std::string&>().c_str()), "ids");
        const bool one = ids.is_array() && ids.size() == 1 && ids[0].is_number_unsigned() &&
                         ids[0].get<std::uint64_t>() < tables.tokens.size();
        if (!one) return refuse_field(field + ".special_tokens", ids, "one id of the vocabulary each");
        (after ? tables.after_text : tables.before_text).push_back(ids[0].get<std::uint32_t>());
    }
    if (!after) return refuse_field(field + ".single", single, supported);
    return {};
}

// ByteLevel as a post-processor changes offsets, and no ids.
base::Outcome<void> read_post_processor(const json& part, const std::string& field, BpeTables& tables) {
    const std::string type = type_of(part);
    if (part.is_null() || type == "ByteLevel") return {};
    if (type == "TemplateProcessing") return read_template(part, field, tables);
    const json& parts = member(part, "processors");
    if (type != "Sequence" || !parts.is_array())
        return refuse_field(field, part, "null, ByteLevel, TemplateProcessing, or a Sequence of these");
    for (std::size_t i = 0; i < parts.size(); ++i) {
        ASSAY_TRY(read_post_processor(parts[i], field + ".processors[" + std::to_string(i) + "]", tables));
    }
    return check_keys(part, field, {"type", "processors"});
}

ordered_json special_piece(const BpeTables& tables, std::uint32_t id, int type) {
    return {{"SpecialToken", {{"id", tables.tokens[id]}, {"type_id", type}}}};
}

/// The pieces around the texts A, or A and B.
ordered_json template_pieces(const BpeTables& tables, int texts) {
    ordered_json pieces = ordered_json::array();
    for (int text = 0; text < texts; ++text) {
        for (const std::uint32_t id : tables.before_text) pieces.push_back(special_piece(tables, id, text));
        pieces.push_back({{"Sequence", {{"id", text == 0 ? "A" : "B"}, {"type_id", text}}}});
        for (const std::uint32_t id : tables.after_text) pieces.push_back(special_piece(tables, id, text));
    }
    return pieces;
}

}  // namespace

base::Failed<base::Error> refuse_tokenizer(const std::string& what) {
    return base::fail(base::ErrorKind::kUsage, "tokenizer.json cannot be used: " + what,
                      "use a byte-level BPE tokenizer with the word pattern of GPT-2 or Llama 3");
}

base::Failed<base::Error> refuse_field(const std::string& field, const json& value,
                                       const std::string& supported) {
    std::string shown = value.dump(-1, ' ', true);  // ASCII, so that the cut below is UTF-8
    if (shown.size() > 120) shown = shown.substr(0, 120) + "…";
    return refuse_tokenizer("\"" + field + "\" is " + shown + "; supported: " + supported);
}

base::Outcome<void> check_keys(const json& value, const std::string& field,
                               std::initializer_list<const char*> known) {
    if (!value.is_object()) return refuse_field(field, value, "an object");
    for (const auto& item : value.items()) {
        if (std::find(known.begin(), known.end(), item.key()) == known.end()) {
            return refuse_tokenizer("the key \"" + (field.empty() ? "" : field + ".") + item.key() +
                                    "\" is not known");
        }
    }
    return {};
}

const json& member(const json& object, const char* key) {
    static const json null;
    if (!object.is_object()) return null;
    const auto found = object.find(key);
    return found == object.end() ? null : *found;
}

base::Outcome<void> read_pipeline(const json& root, BpeTables& tables) {
    for (const char* key : {"truncation", "padding"}) {
        if (!member(root, key).is_null()) return refuse_field(key, root[key], "null");
    }
    ASSAY_TRY(read_normalizer(member(root, "normalizer"), "normalizer", tables));
    ASSAY_TRY(read_pre_tokenizer(member(root, "pre_tokenizer"), tables));
    ASSAY_TRY(read_post_processor(member(root, "post_processor"), "post_processor", tables));
    if (type_of(member(root, "decoder")) != "ByteLevel")
        return refuse_field("decoder", member(root, "decoder"), "ByteLevel");
    return {};
}

ordered_json byte_level_json(bool use_regex) {
    return {
        {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", use_regex}};
}

ordered_json normalizer_json(const BpeTables& tables) {
    return tables.nfc ? ordered_json{{"type", "NFC"}} : ordered_json();
}

ordered_json pre_tokenizer_json(const BpeTables& tables) {
    if (tables.split == SplitRule::kGpt2) return byte_level_json(true);
    const ordered_json split = {{"type", "Split"},
                                {"pattern", {{"Regex", split_pattern(tables.split)}}},
                                {"behavior", "Isolated"},
                                {"invert", false}};
    return {{"type", "Sequence"}, {"pretokenizers", ordered_json::array({split, byte_level_json(false)})}};
}

ordered_json post_processor_json(const BpeTables& tables) {
    if (tables.before_text.empty() && tables.after_text.empty()) return {};
    ordered_json specials = ordered_json::object();
    for (const std::vector<std::uint32_t>* around : {&tables.before_text, &tables.after_text}) {
        for (const std::uint32_t id : *around) {
            const std::string& name = tables.tokens[id];
            specials[name] = {
                {"id", name}, {"ids", ordered_json::array({id})}, {"tokens", ordered_json::array({name})}};
        }
    }
    return {{"type", "TemplateProcessing"},
            {"single", template_pieces(tables, 1)},
            {"pair", template_pieces(tables, 2)},
            {"special_tokens", specials}};
}

}  // namespace assay::trainer
