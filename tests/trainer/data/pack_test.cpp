// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/pack.hpp"

#include <unistd.h>

#include "contracts/base/blob_id.hpp"
#include "contracts/base/merkle.hpp"
#include "tests/support/catch.hpp"
#include "trainer/data/files.hpp"
#include "trainer/data/token_file.hpp"
#include "trainer/data/tokenizer_file.hpp"

using namespace assay;
using namespace assay::trainer;
namespace fs = std::filesystem;

namespace {

struct PackFolder {
    fs::path path = fs::temp_directory_path() / ("assay-pack-" + std::to_string(::getpid()));
    PackFolder() { fs::create_directories(path); }
    ~PackFolder() { fs::remove_all(path); }
};

void put(const fs::path& path, const std::string& text) {
    REQUIRE(write_file(path, base::as_bytes(text)).ok());
}

std::string story() {
    std::string text;
    for (int i = 0; i < 900; ++i) {
        text += "Verse " + std::to_string(i) + " of " + std::to_string(i * 7919 % 1000) +
                ": and it came to pass.\n";
    }
    return text;
}

base::Bytes bytes_of(const fs::path& path) {
    auto file = read_file(path, 1 << 24);
    REQUIRE(file.ok());
    return *file;
}

PackOptions options_for(const fs::path& text, const fs::path& out) {
    PackOptions options;
    options.texts = {text};
    options.out = out;
    options.vocabulary = 300;
    return options;
}

}  // namespace

TEST_CASE("packing gives the same bytes twice, and they check") {
    const PackFolder folder;
    put(folder.path / "t.txt", story());
    const auto first = pack(options_for(folder.path / "t.txt", folder.path / "a"));
    const auto second = pack(options_for(folder.path / "t.txt", folder.path / "b"));
    REQUIRE((first.ok() && second.ok()));
    CHECK(*first == *second);
    for (const char* name : {"train.bin", "held_out.bin", "tokenizer.json", "manifest.json"}) {
        CHECK(bytes_of(folder.path / "a" / name) == bytes_of(folder.path / "b" / name));
    }
    const auto manifest = read_manifest(folder.path / "a" / "manifest.json");
    REQUIRE(manifest.ok());
    CHECK(*manifest == *first);
    CHECK(check_data_files(*manifest, folder.path / "a").ok());
    CHECK(show(*manifest).find("train.bin") != std::string::npos);

    base::Bytes changed = bytes_of(folder.path / "a" / "train.bin");
    changed.back() = static_cast<std::uint8_t>(changed.back() ^ 1U);
    REQUIRE(write_file(folder.path / "a" / "train.bin", changed).ok());
    const auto checked = check_data_files(*manifest, folder.path / "a");
    REQUIRE_FALSE(checked.ok());
    CHECK(checked.error().kind == base::ErrorKind::kVerification);
}

TEST_CASE("training and held-out tokens together are the whole text") {
    const PackFolder folder;
    const std::string text = story();
    put(folder.path / "t.txt", text);
    const auto manifest = pack(options_for(folder.path / "t.txt", folder.path / "a"));
    REQUIRE(manifest.ok());
    const auto tokenizer = read_tokenizer(folder.path / "a" / "tokenizer.json");
    REQUIRE(tokenizer.ok());
    std::size_t bytes = 0;
    for (const char* name : {"train.bin", "held_out.bin"}) {
        const auto tokens = read_token_file(folder.path / "a" / name, manifest->vocabulary);
        REQUIRE(tokens.ok());
        std::vector<std::uint32_t> ids;
        for (const std::uint32_t token : *tokens) {
            if (token != tokenizer->begin_of_document().value()) ids.push_back(token);
        }
        const auto part = tokenizer->decode(ids);
        REQUIRE(part.ok());
        bytes += part->size();
    }
    CHECK(bytes == text.size());
    const double share = static_cast<double>(manifest->held_out.tokens) /
                         static_cast<double>(manifest->held_out.tokens + manifest->train.tokens);
    CHECK(share > 0.02);
    CHECK(share < 0.10);
}

TEST_CASE("bad texts are refused with a fix and nothing is written") {
    const PackFolder folder;
    const auto refused = [&](const std::string& name, const std::string& text, const std::string& reason) {
        put(folder.path / name, text);
        const auto result = pack(options_for(folder.path / name, folder.path / "out"));
        REQUIRE_FALSE(result.ok());
        CHECK(result.error().kind == base::ErrorKind::kUsage);
        CHECK(result.error().what.find(reason) != std::string::npos);
        CHECK_FALSE(result.error().fix.empty());
        CHECK_FALSE(fs::exists(folder.path / "out"));
    };
    refused("empty.txt", "", "is empty");
    refused("short.txt", "In the beginning", "too short");
    refused("binary.bin", story() + std::string(1, '\0'), "is zero");
    refused("latin.txt", story() + "caf\xe9", "not UTF-8");
    refused("flat.txt", std::string(20000, 'a'), "repeats too little");
    refused("bad.jsonl", "{\"text\": \"a\"}\n{\"words\": 1}\n", "bad.jsonl:2");
    const auto missing = pack(options_for(folder.path / "none.txt", folder.path / "out"));
    REQUIRE_FALSE(missing.ok());
    CHECK(missing.error().kind == base::ErrorKind::kNotFound);
}

TEST_CASE("JSONL gives one document per line") {
    const PackFolder folder;
    std::string lines;
    for (int i = 0; i < 400; ++i) {
        lines +=
            "{\"text\": \"Document " + std::to_string(i) + " says that it came to pass in those days.\"}\n";
    }
    put(folder.path / "t.jsonl", lines);
    const auto manifest = pack(options_for(folder.path / "t.jsonl", folder.path / "a"));
    REQUIRE(manifest.ok());
    CHECK(manifest->documents == 400);
}

TEST_CASE("damaged token files are refused") {
    const std::vector<std::uint32_t> tokens = {1, 2, 299};
    const base::Bytes good = token_file_bytes(tokens, 300);
    REQUIRE(parse_token_file(good, 300).ok());
    CHECK(*parse_token_file(good, 300) == tokens);
    CHECK_FALSE(parse_token_file(good, 299).ok());
    for (const std::size_t place : {0U, 4U, 8U, 12U, 1023U}) {
        base::Bytes bad = good;
        bad[place] = static_cast<std::uint8_t>(bad[place] ^ 1U);
        CHECK_FALSE(parse_token_file(bad, 300).ok());
    }
    base::Bytes longer = good;
    longer.push_back(0);
    CHECK_FALSE(parse_token_file(longer, 300).ok());
    CHECK_FALSE(parse_token_file(base::ByteView(good).first(1000), 300).ok());
}

TEST_CASE("large vocabularies have wide tokens, and the two forms are not taken for each other") {
    const std::vector<std::uint32_t> tokens = {0, 65'535, 128'255};
    const base::Bytes wide = token_file_bytes(tokens, 128'256);
    CHECK(wide.size() == kTokenFileHeader + 12);
    REQUIRE(parse_token_file(wide, 128'256).ok());
    CHECK(*parse_token_file(wide, 128'256) == tokens);
    CHECK(*parse_token_file(wide, 0) == tokens);
    CHECK_FALSE(parse_token_file(wide, 128'255).ok());
    CHECK_FALSE(parse_token_file(wide, 65'536).ok());
    CHECK_FALSE(parse_token_file(token_file_bytes(std::vector<std::uint32_t>{1}, 65'536), 65'537).ok());
    base::Bytes shorter = wide;
    shorter.pop_back();
    CHECK_FALSE(parse_token_file(shorter, 0).ok());
}

TEST_CASE("a blob id does not depend on how the bytes arrive") {
    base::Bytes data(2 * base::kBlobChunk + 5);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::uint8_t>(i * 31 % 251);
    const base::ByteView view = data;
    const base::Hash256 expected =
        base::merkle_root({base::blob_chunk_hash(view.first(base::kBlobChunk)),
                           base::blob_chunk_hash(view.subspan(base::kBlobChunk, base::kBlobChunk)),
                           base::blob_chunk_hash(view.subspan(2 * base::kBlobChunk))});
    CHECK(base::blob_id(view) == expected);
    base::BlobHasher pieces;
    for (std::size_t at = 0; at < view.size(); at += 777'777) {
        pieces.add(view.subspan(at, std::min<std::size_t>(777'777, view.size() - at)));
    }
    CHECK(pieces.finish() == expected);
    CHECK(base::blob_id({}) == base::merkle_empty_root());
}
