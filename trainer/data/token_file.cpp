// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/token_file.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "contracts/base/check.hpp"
#include "trainer/data/files.hpp"

namespace assay::trainer {
namespace {

constexpr std::array<TokenForm, 2> kForms = {{{20240520, 1, 2, "uint16"}, {20240801, 7, 4, "uint32"}}};

void put_i32(base::Bytes& out, std::size_t word, std::uint32_t value) {
    for (std::size_t i = 0; i < 4; ++i)
        out[4 * word + i] = static_cast<std::uint8_t>((value >> (8 * i)) & 0xffU);
}

std::uint32_t get_i32(base::ByteView file, std::size_t word) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value |= std::uint32_t{file[4 * word + i]} << (8 * i);
    return value;
}

base::Failed<base::Error> refuse(const std::string& what) {
    return base::fail(base::ErrorKind::kUsage, "the token file cannot be used: " + what,
                      "pack the text again with `assay data pack`");
}

}  // namespace

const TokenForm& token_form(std::uint32_t vocabulary) {
    return program::token_bytes(vocabulary) == kForms[0].width ? kForms[0] : kForms[1];
}

base::Bytes token_file_bytes(std::span<const std::uint32_t> tokens, std::uint32_t vocabulary) {
    ASSAY_CHECK(tokens.size() <= kTokenFileMaxTokens);
    const TokenForm& form = token_form(vocabulary);
    base::Bytes out(token_file_size(tokens.size(), vocabulary));
    put_i32(out, 0, form.magic);
    put_i32(out, 1, form.version);
    put_i32(out, 2, static_cast<std::uint32_t>(tokens.size()));
    std::uint8_t* at = out.data() + kTokenFileHeader;
    for (const std::uint32_t token : tokens) {
        ASSAY_CHECK(token < vocabulary);
        for (std::uint64_t i = 0; i < form.width; ++i) {
            *at++ = static_cast<std::uint8_t>((token >> (8 * i)) & 0xffU);
        }
    }
    return out;
}

base::Outcome<std::vector<std::uint32_t>> parse_token_file(base::ByteView file, std::uint32_t vocabulary) {
    if (file.size() < kTokenFileHeader) return refuse("it is shorter than its header of 1024 bytes");
    const std::uint32_t magic = get_i32(file, 0);
    const auto* const form = std::find_if(kForms.begin(), kForms.end(),
                                          [magic](const TokenForm& known) { return known.magic == magic; });
    if (form == kForms.end()) {
        return refuse("it does not begin with the number 20240520 or 20240801 of llm.c token files");
    }
    if (get_i32(file, 1) != form->version) {
        return refuse("its version is " + std::to_string(get_i32(file, 1)) + ", not " +
                      std::to_string(form->version));
    }
    if (vocabulary != 0 && form != &token_form(vocabulary)) {
        return refuse("its tokens are " + std::string(form->type) + ", those of a vocabulary of " +
                      std::to_string(vocabulary) + " are " + std::string(token_form(vocabulary).type));
    }
    const std::uint64_t count = get_i32(file, 2);
    if (count > kTokenFileMaxTokens) return refuse("its token count is negative");
    const std::uint64_t size = kTokenFileHeader + form->width * count;
    if (file.size() != size) {
        return refuse("it should have " + std::to_string(size) + " bytes for " + std::to_string(count) +
                      " tokens and has " + std::to_string(file.size()));
    }
    for (std::size_t word = 3; word < 256; ++word) {
        if (get_i32(file, word) != 0) return refuse("its header is not zero after the token count");
    }
    std::vector<std::uint32_t> tokens(static_cast<std::size_t>(count));
    const std::uint8_t* at = file.data() + kTokenFileHeader;
    for (std::size_t i = 0; i < tokens.size(); ++i, at += form->width) {
        std::uint32_t token = 0;
        for (std::uint64_t j = 0; j < form->width; ++j) token |= std::uint32_t{at[j]} << (8 * j);
        if (vocabulary != 0 && token >= vocabulary) {
            return refuse("token " + std::to_string(i) + " is " + std::to_string(token) +
                          ", outside the vocabulary of " + std::to_string(vocabulary));
        }
        tokens[i] = token;
    }
    return tokens;
}

base::Outcome<std::vector<std::uint32_t>> read_token_file(const std::filesystem::path& path,
                                                          std::uint32_t vocabulary) {
    ASSAY_ASSIGN(const base::Bytes file, read_file(path, kTokenFileHeader + 4 * kTokenFileMaxTokens));
    auto tokens = parse_token_file(file, vocabulary);
    if (tokens.ok()) return tokens;
    base::Error error = tokens.error();
    error.what = path.string() + ": " + error.what;
    return base::failed(std::move(error));
}

}  // namespace assay::trainer
