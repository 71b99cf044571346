// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/pack.hpp"

#include <utility>

#include "contracts/base/blob_id.hpp"
#include "trainer/data/documents.hpp"
#include "trainer/data/files.hpp"
#include "trainer/data/token_file.hpp"
#include "trainer/data/tokenizer_file.hpp"

namespace assay::trainer {
namespace {

struct TokenStream {
    base::Bytes file;
    std::uint64_t tokens = 0;
};

base::Outcome<TokenStream> encode_runs(const Tokenizer& tokenizer, const std::vector<std::string_view>& runs,
                                       const char* part) {
    std::vector<std::uint32_t> tokens;
    const std::uint32_t begin = tokenizer.begin_of_document().value();
    for (const std::string_view run : runs) {
        tokens.push_back(begin);
        ASSAY_ASSIGN(const std::vector<std::uint32_t> ids, tokenizer.encode(run));
        tokens.insert(tokens.end(), ids.begin(), ids.end());
    }
    if (tokens.empty() || tokens.size() > kTokenFileMaxTokens) {
        return base::fail(base::ErrorKind::kUsage,
                          std::string("the ") + part + " part would have " + std::to_string(tokens.size()) +
                              " tokens; a token file holds from 1 to " + std::to_string(kTokenFileMaxTokens),
                          "use another amount of text or another held-out share");
    }
    return TokenStream{token_file_bytes(tokens, tokenizer.vocabulary()), tokens.size()};
}

base::Outcome<void> check_options(const PackOptions& options) {
    if (options.held_out_permille < 1 || options.held_out_permille > 500) {
        return base::fail(
            base::ErrorKind::kUsage,
            "a held-out share of " + std::to_string(options.held_out_permille) + " per mille is not possible",
            "choose from 1 to 500 per mille");
    }
    for (const std::string* words : {&options.source, &options.licence}) {
        if (!base::is_utf8(*words) || words->size() > 4096) {
            return base::fail(base::ErrorKind::kUsage, "source or licence is not a short UTF-8 text",
                              "use at most 4096 bytes of UTF-8");
        }
    }
    return {};
}

/// `part` of `whole` in percent with two decimals, without a float.
std::string percent(std::uint64_t part, std::uint64_t whole) {
    const std::uint64_t hundredths = (part * 10000 + whole / 2) / whole;
    const std::string decimals = std::to_string(hundredths % 100);
    return std::to_string(hundredths / 100) + "." + (decimals.size() < 2 ? "0" : "") + decimals;
}

std::string describe_split(const SplitTexts& split, std::uint64_t text_bytes) {
    std::uint64_t held = 0;
    for (const std::string_view run : split.held_out) held += run.size();
    return "blocks of " + std::to_string(split.block_bytes) + " bytes at even distances, " +
           percent(held, text_bytes) + " % held out";
}

std::string names_of(const std::vector<std::filesystem::path>& texts) {
    std::string out;
    for (const std::filesystem::path& path : texts) {
        const std::string name = path.filename().string();
        out += (out.empty() ? "" : ", ") + (base::is_utf8(name) ? name : std::string("(unreadable name)"));
    }
    return out;
}

/// A tokenizer and the text of its file.
struct ChosenTokenizer {
    Tokenizer tokenizer;
    std::string text;
};

base::Outcome<ChosenTokenizer> choose_tokenizer(const PackOptions& options, const SplitTexts& split) {
    if (options.tokenizer.empty()) {
        ASSAY_ASSIGN(Tokenizer trained, train_tokenizer(split.train, options.vocabulary));
        std::string text = tokenizer_to_json(trained);
        return ChosenTokenizer{std::move(trained), std::move(text)};
    }
    ASSAY_ASSIGN(const base::Bytes file, read_file(options.tokenizer, kMaxTokenizerFile));
    ASSAY_ASSIGN(Tokenizer tokenizer, tokenizer_from_json(base::as_text(file)));
    const std::string who = options.tokenizer.string();
    if (!tokenizer.begin_of_document()) {
        return base::fail(base::ErrorKind::kUsage, who + " has no special token that begins a document",
                          "add <|endoftext|> or <|begin_of_text|> to its added_tokens");
    }
    return ChosenTokenizer{std::move(tokenizer), std::string(base::as_text(file))};
}

DataFile describe(std::string name, base::ByteView bytes, std::uint64_t tokens) {
    return {std::move(name), bytes.size(), tokens, base::blob_id(bytes)};
}

}  // namespace

base::Outcome<Manifest> pack(const PackOptions& options) {
    ASSAY_TRY(check_options(options));
    ASSAY_ASSIGN(const std::vector<std::string> documents, read_documents(options));
    const SplitTexts split = split_documents(documents, options.held_out_permille);
    ASSAY_ASSIGN(const ChosenTokenizer chosen, choose_tokenizer(options, split));
    const Tokenizer& tokenizer = chosen.tokenizer;
    ASSAY_ASSIGN(const TokenStream train, encode_runs(tokenizer, split.train, "training"));
    ASSAY_ASSIGN(const TokenStream held_out, encode_runs(tokenizer, split.held_out, "held-out"));

    Manifest manifest;
    manifest.source = options.source.empty() ? names_of(options.texts) : options.source;
    manifest.licence = options.licence;
    for (const std::string& document : documents) manifest.text_bytes += document.size();
    manifest.documents = documents.size();
    manifest.split = describe_split(split, manifest.text_bytes);
    manifest.vocabulary = tokenizer.vocabulary();
    manifest.tokenizer = describe("tokenizer.json", base::as_bytes(chosen.text), 0);
    manifest.train = describe("train.bin", train.file, train.tokens);
    manifest.held_out = describe("held_out.bin", held_out.file, held_out.tokens);

    ASSAY_TRY(make_folder(options.out));
    ASSAY_TRY(write_file(options.out / manifest.train.name, train.file));
    ASSAY_TRY(write_file(options.out / manifest.held_out.name, held_out.file));
    ASSAY_TRY(write_file(options.out / manifest.tokenizer.name, base::as_bytes(chosen.text)));
    ASSAY_TRY(write_file(options.out / "manifest.json", base::as_bytes(manifest_to_json(manifest))));
    return manifest;
}

}  // namespace assay::trainer
