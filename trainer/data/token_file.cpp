// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/token_file.hpp"

#include <string>

#include "contracts/base/check.hpp"
#include "trainer/data/files.hpp"

namespace assay::trainer {
namespace {

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

base::Bytes token_file_bytes(std::span<const std::uint16_t> tokens) {
    ASSAY_CHECK(tokens.size() <= kTokenFileMaxTokens);
    base::Bytes out(kTokenFileHeader + 2 * tokens.size());
    put_i32(out, 0, static_cast<std::uint32_t>(kTokenFileMagic));
    put_i32(out, 1, 1);
    put_i32(out, 2, static_cast<std::uint32_t>(tokens.size()));
    std::uint8_t* at = out.data() + kTokenFileHeader;
    for (const std::uint16_t token : tokens) {
        *at++ = static_cast<std::uint8_t>(token & 0xffU);
        *at++ = static_cast<std::uint8_t>(token >> 8);
    }
    return out;
}

base::Outcome<std::vector<std::uint16_t>> parse_token_file(base::ByteView file, std::uint32_t vocabulary) {
    if (file.size() < kTokenFileHeader) return refuse("it is shorter than its header of 1024 bytes");
    if (get_i32(file, 0) != static_cast<std::uint32_t>(kTokenFileMagic)) {
        return refuse("it does not begin with the number 20240520 of llm.c token files");
    }
    if (get_i32(file, 1) != 1)
        return refuse("its version is " + std::to_string(get_i32(file, 1)) + ", not 1");
    const std::uint64_t count = get_i32(file, 2);
    if (count > kTokenFileMaxTokens) return refuse("its token count is negative");
    if (file.size() != kTokenFileHeader + 2 * count) {
        return refuse("it should have " + std::to_string(kTokenFileHeader + 2 * count) + " bytes for " +
                      std::to_string(count) + " tokens and has " + std::to_string(file.size()));
    }
    for (std::size_t word = 3; word < 256; ++word) {
        if (get_i32(file, word) != 0) return refuse("its header is not zero after the token count");
    }
    std::vector<std::uint16_t> tokens(static_cast<std::size_t>(count));
    const std::uint8_t* at = file.data() + kTokenFileHeader;
    for (std::size_t i = 0; i < tokens.size(); ++i, at += 2) {
        const std::uint32_t token = std::uint32_t{at[0]} | (std::uint32_t{at[1]} << 8);
        if (vocabulary != 0 && token >= vocabulary) {
            return refuse("token " + std::to_string(i) + " is " + std::to_string(token) +
                          ", outside the vocabulary of " + std::to_string(vocabulary));
        }
        tokens[i] = static_cast<std::uint16_t>(token);
    }
    return tokens;
}

base::Outcome<std::vector<std::uint16_t>> read_token_file(const std::filesystem::path& path,
                                                          std::uint32_t vocabulary) {
    ASSAY_ASSIGN(const base::Bytes file, read_file(path, kTokenFileHeader + 2 * kTokenFileMaxTokens));
    auto tokens = parse_token_file(file, vocabulary);
    if (tokens.ok()) return tokens;
    base::Error error = tokens.error();
    error.what = path.string() + ": " + error.what;
    return base::failed(std::move(error));
}

}  // namespace assay::trainer
