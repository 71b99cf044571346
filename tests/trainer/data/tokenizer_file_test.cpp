// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/tokenizer_file.hpp"

#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"

using namespace assay;
using namespace assay::trainer;
using nlohmann::json;

namespace {

json good_file() {
    const std::string_view none[] = {std::string_view()};
    return json::parse(tokenizer_to_json(*train_tokenizer(none, 257)));
}

/// The member at a JSON pointer set to `value`: the file must be refused with a message that names `field`.
void check_refused(const std::string& pointer, const json& value, const std::string& field) {
    json file = good_file();
    file[json::json_pointer(pointer)] = value;
    const auto read = tokenizer_from_json(file.dump());
    INFO(pointer << " = " << value.dump());
    REQUIRE_FALSE(read.ok());
    CHECK(read.error().kind == base::ErrorKind::kUsage);
    INFO(read.error().what);
    CHECK(read.error().what.find(field) != std::string::npos);
}

}  // namespace

TEST_CASE("what would give other ids is refused by the name of its field") {
    REQUIRE(tokenizer_from_json(good_file().dump()).ok());
    check_refused("/model/type", "WordPiece", "\"model.type\" is \"WordPiece\"; supported: \"BPE\"");
    check_refused("/model/dropout", 0.1, "\"model.dropout\" is 0.1");
    check_refused("/model/continuing_subword_prefix", "##", "model.continuing_subword_prefix");
    check_refused("/model/end_of_word_suffix", "</w>", "model.end_of_word_suffix");
    check_refused("/model/ignore_merges", 1, "model.ignore_merges");
    check_refused("/model/colour", 1, "\"model.colour\" is not known");
    check_refused("/model/merges", json::array({"a"}), "model.merges[0]");
    check_refused("/model/merges", json::array({json::array({"a", "zz"})}), "model.merges[0]");
    check_refused("/model/merges", json::array({json::array({"a", "b"})}), "merge 0 makes a token");
    check_refused("/model/vocab/a", 400, "the id 400");
    check_refused("/model/vocab/a", 2, "which another token has");
    check_refused("/model/vocab/a", -1, "model.vocab.a");
    check_refused("/model/vocab/\xe2\x82\xac", 257, "spells no bytes");
    check_refused("/normalizer", {{"type", "NFKC"}}, "\"normalizer\" is {\"type\":\"NFKC\"}");
    check_refused("/normalizer", {{"type", "Sequence"}, {"normalizers", {{{"type", "Lowercase"}}}}},
                  "normalizer.normalizers[0]");
    check_refused("/pre_tokenizer", nullptr, "\"pre_tokenizer\" is null");
    check_refused("/pre_tokenizer/type", "Metaspace", "pre_tokenizer");
    check_refused("/pre_tokenizer/add_prefix_space", true, "pre_tokenizer.add_prefix_space");
    check_refused("/pre_tokenizer/use_regex", false, "pre_tokenizer.use_regex");
    check_refused("/post_processor", {{"type", "BertProcessing"}}, "post_processor");
    check_refused("/decoder", {{"type", "Metaspace"}}, "decoder");
    check_refused("/truncation", {{"max_length", 5}}, "\"truncation\" is");
    check_refused("/padding", {{"pad_id", 5}}, "\"padding\" is");
    check_refused("/added_tokens/0/lstrip", true, "added_tokens[0].lstrip");
    check_refused("/added_tokens/0/single_word", true, "added_tokens[0].single_word");
    check_refused("/added_tokens/0/id", 7, "added_tokens[0].id");
    check_refused("/added_tokens/0/content", "", "added_tokens[0].content");
    check_refused("/added_tokens/0/special", nullptr, "added_tokens[0].special");
}

TEST_CASE("a pattern of neither family is refused and quoted") {
    json file = good_file();
    file["pre_tokenizer"] = {
        {"type", "Sequence"},
        {"pretokenizers",
         {{{"type", "Split"}, {"pattern", {{"Regex", "\\d+"}}}, {"behavior", "Isolated"}, {"invert", false}},
          {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}}}};
    const auto other = tokenizer_from_json(file.dump());
    REQUIRE_FALSE(other.ok());
    CHECK(other.error().what.find("pre_tokenizer.pretokenizers[0].pattern") != std::string::npos);
    file["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] =
        std::string(split_pattern(SplitRule::kLlama3));
    const auto llama = tokenizer_from_json(file.dump());
    REQUIRE(llama.ok());
    CHECK(llama->tables().split == SplitRule::kLlama3);
}

TEST_CASE("documents begin and end with the tokens that the file has for it") {
    json file = good_file();
    CHECK(tokenizer_from_json(file.dump())->begin_of_document() == 0U);
    const auto add = [&](std::uint32_t id, const char* name) {
        file["added_tokens"].push_back({{"id", id},
                                        {"content", name},
                                        {"single_word", false},
                                        {"lstrip", false},
                                        {"rstrip", false},
                                        {"normalized", false},
                                        {"special", true}});
    };
    file["model"]["vocab"].erase("<|endoftext|>");
    file["added_tokens"].clear();
    for (auto& id : file["model"]["vocab"]) id = id.get<std::uint32_t>() - 1;
    const auto bare = tokenizer_from_json(file.dump());
    REQUIRE(bare.ok());
    CHECK_FALSE(bare->begin_of_document().has_value());
    add(256, "<|begin_of_text|>");
    add(257, "<|end_of_text|>");
    const auto both = tokenizer_from_json(file.dump());
    REQUIRE(both.ok());
    CHECK(both->begin_of_document() == 256U);
    CHECK(both->end_of_document() == 257U);
}
