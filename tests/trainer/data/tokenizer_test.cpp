// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/tokenizer.hpp"

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "contracts/base/bytes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/properties.hpp"
#include "trainer/data/split_words.hpp"
#include "trainer/data/tokenizer_file.hpp"

using namespace assay;
using namespace assay::trainer;

namespace {

std::string sample_text() {
    std::string text;
    for (int i = 0; i < 60; ++i) {
        text += "In the beginning God created the heaven and the earth, and the earth was without form.\n";
        text +=
            "It's 12 o'clock; they'll say we've seen " + std::to_string(i) + " na\xc3\xafve caf\xc3\xa9s.\n";
    }
    return text;
}

Tokenizer trained() {
    const std::string text = sample_text();
    const std::string_view views[] = {text};
    auto made = train_tokenizer(views, 320);
    REQUIRE(made.ok());
    return std::move(made).value();
}

void append_utf8(std::string& out, std::uint32_t point) {
    if (point < 0x80) {
        out += static_cast<char>(point);
    } else if (point < 0x800) {
        out += static_cast<char>(0xc0U | (point >> 6));
        out += static_cast<char>(0x80U | (point & 0x3fU));
    } else if (point < 0x10000) {
        out += static_cast<char>(0xe0U | (point >> 12));
        out += static_cast<char>(0x80U | ((point >> 6) & 0x3fU));
        out += static_cast<char>(0x80U | (point & 0x3fU));
    } else {
        out += static_cast<char>(0xf0U | (point >> 18));
        out += static_cast<char>(0x80U | ((point >> 12) & 0x3fU));
        out += static_cast<char>(0x80U | ((point >> 6) & 0x3fU));
        out += static_cast<char>(0x80U | (point & 0x3fU));
    }
}

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    REQUIRE(
        split_words(SplitRule::kGpt2, text, [&](std::string_view word) { words.emplace_back(word); }).ok());
    return words;
}

}  // namespace

TEST_CASE("any UTF-8 text comes back from its tokens") {
    const Tokenizer tokenizer = trained();
    // Half of it letters and signs of ASCII, the rest anything, spaces and joiners of all kinds among it.
    const auto ascii = tests::between<std::uint32_t>(0x20, 0x7e);
    const auto spaces = rc::gen::element<std::uint32_t>(0x20, 0x0a, 0x09, 0xa0, 0x2003, 0x3000, 0x85, 0x180e,
                                                        0x200d, 0x1f469, 0x1f680, 0xfe0f);
    const auto below = tests::between<std::uint32_t>(0, 0xd7ff);
    const auto above = tests::between<std::uint32_t>(0xe000, 0x10ffff);
    const auto point =
        rc::gen::weightedOneOf<std::uint32_t>({{6, ascii}, {2, spaces}, {1, below}, {3, above}});
    tests::check_property(400, [&] {
        std::string text;
        for (const std::uint32_t one : *rc::gen::container<std::vector<std::uint32_t>>(point)) {
            append_utf8(text, one);
        }
        RC_ASSERT(base::is_utf8(text));
        const auto ids = tokenizer.encode(text);
        RC_ASSERT(ids.ok());
        const auto back = tokenizer.decode(*ids);
        RC_ASSERT(back.ok());
        RC_ASSERT(*back == text);
    });
}

TEST_CASE("words are cut as GPT-2 cuts them") {
    CHECK(words_of("Hello world, it's  42!\n\n x") ==
          std::vector<std::string>{"Hello", " world", ",", " it", "'s", " ", " 42", "!", "\n\n", " x"});
    // U+180E is no white space, so it joins the symbols.
    CHECK(words_of("a\xe1\xa0\x8e"
                   "b") == std::vector<std::string>{"a", "\xe1\xa0\x8e", "b"});
}

TEST_CASE("long and short words merge alike") {
    const Tokenizer tokenizer = trained();
    // The same letters, once in words that are scanned and once in one word that goes through the heap: a
    // word that is a repetition of a unit splits at the same places when no merge crosses the unit.
    const std::string unit = "zq";  // neither letter pair occurs in the sample, so every byte stays alone
    std::string text;
    for (int i = 0; i < 200; ++i) text += unit;
    const auto ids = tokenizer.encode(text);
    REQUIRE(ids.ok());
    CHECK(ids->size() == text.size());
    std::string the;
    for (int i = 0; i < 100; ++i) the += "thez";
    const auto one = tokenizer.encode("thez");
    const auto many = tokenizer.encode(the);
    REQUIRE((one.ok() && many.ok()));
    std::vector<std::uint32_t> repeated;
    for (int i = 0; i < 100; ++i) repeated.insert(repeated.end(), one->begin(), one->end());
    CHECK(*many == repeated);
}

TEST_CASE("training is deterministic and its file reads back") {
    const Tokenizer first = trained();
    const std::string text = tokenizer_to_json(first);
    CHECK(text == tokenizer_to_json(trained()));
    const auto back = tokenizer_from_json(text);
    REQUIRE(back.ok());
    CHECK(back->tables().tokens == first.tables().tokens);
    CHECK(back->tables().merges == first.tables().merges);
    CHECK(tokenizer_to_json(*back) == text);
}

TEST_CASE("the special token is text unless asked for") {
    const Tokenizer tokenizer = trained();
    const auto ordinary = tokenizer.encode("a<|endoftext|>b");
    const auto special = tokenizer.encode("a<|endoftext|>b", SpecialText::kRecognised);
    REQUIRE((ordinary.ok() && special.ok()));
    CHECK(special->size() == 3);
    CHECK((*special)[1] == *tokenizer.end_of_document());
    for (const std::uint32_t id : *ordinary) CHECK(id != *tokenizer.end_of_document());
}

TEST_CASE("a vocabulary that the text cannot fill is refused with the size that it can") {
    const std::string_view views[] = {"abc abc"};
    const auto made = train_tokenizer(views, 2048);
    REQUIRE_FALSE(made.ok());
    CHECK(made.error().kind == base::ErrorKind::kUsage);
    CHECK(made.error().fix.find("at most") != std::string::npos);
    CHECK_FALSE(train_tokenizer(views, 256).ok());
    CHECK_FALSE(trained().encode("\xff").ok());
    CHECK_FALSE(trained().decode(std::vector<std::uint32_t>{320}).ok());
}

// golden/make.py is the recipe.
TEST_CASE("ids equal those of Hugging Face tokenizers for a tokenizer that it trained") {
    const char* source = std::getenv("ASSAY_SOURCE_DIR");
    REQUIRE(source != nullptr);
    const std::string folder = std::string(source) + "/tests/trainer/data/golden/";
    const auto tokenizer = read_tokenizer(folder + "tokenizer.json");
    REQUIRE(tokenizer.ok());
    std::ifstream file(folder + "ids.json");
    const nlohmann::json rows = nlohmann::json::parse(file);
    REQUIRE(rows.size() == 12);
    for (const auto& row : rows) {
        const auto text = row["text"].get<std::string>();
        CAPTURE(text);
        const auto ids = tokenizer->encode(text, SpecialText::kRecognised);
        REQUIRE(ids.ok());
        CHECK(*ids == row["ids"].get<std::vector<std::uint32_t>>());
    }
}
