// SPDX-License-Identifier: Apache-2.0
// tokenizer.json: a file that is read is written and read back as the same tables, and what it makes of a
// text decodes to that text.
#include "contracts/base/check.hpp"
#include "tests/fuzz/target.hpp"
#include "trainer/data/normalise.hpp"
#include "trainer/data/tokenizer_file.hpp"

namespace assay::fuzz {
namespace {

constexpr std::string_view kText = "It's  12345 words;\n na\xc3\xafve <|endoftext|> \xf0\x9f\x9a\x80\r\n";

trainer::BpeTables tables() {
    const std::string_view texts[] = {"the cat and the hat and the bat"};
    return trainer::train_tokenizer(texts, 262)->tables();
}

base::Bytes file_of(trainer::BpeTables made) {
    return base::to_bytes(
        base::as_bytes(trainer::tokenizer_to_json(*trainer::Tokenizer::create(std::move(made)))));
}

}  // namespace

std::vector<base::Bytes> seeds() {
    trainer::BpeTables llama = tables();
    llama.split = trainer::SplitRule::kLlama3;
    llama.nfc = true;
    llama.ignore_merges = true;
    llama.tokens.emplace_back("<|begin_of_text|>");
    llama.added.push_back({.id = 262});
    llama.before_text = {262};
    return {file_of(tables()), file_of(llama)};
}

void run(base::ByteView input) {
    const auto read = trainer::tokenizer_from_json(base::as_text(input));
    if (!read.ok()) return;
    const auto again = trainer::tokenizer_from_json(trainer::tokenizer_to_json(*read));
    ASSAY_CHECK(again.ok() && again->tables() == read->tables());
    const auto ids = read->encode(kText, trainer::SpecialText::kRecognised);
    ASSAY_CHECK(ids.ok());
    if (!read->tables().nfc) ASSAY_CHECK(*read->decode(*ids) == kText);
}

}  // namespace assay::fuzz
