// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/split_words.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <memory>
#include <string>

#include "contracts/base/bytes.hpp"
#include "contracts/base/check.hpp"

namespace assay::trainer {
namespace {

// PCRE2's own \s counts U+180E, which Unicode took out of White_Space in version 6.3; the set is spelled out
// so that ids agree with Hugging Face.
#define ASSAY_SPACE                                                                    \
    "\\x{9}-\\x{d}\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}" \
    "\\x{202f}\\x{205f}\\x{3000}"
// Letters and numbers of Unicode 16, as the library that the ids are compared with has them: what PCRE2's own
// tables have (14 in Debian 12), and what versions 15, 15.1 and 16 added.
#define ASSAY_LETTER                                                                       \
    "\\p{L}\\x{1c89}-\\x{1c8a}\\x{a7cb}-\\x{a7cd}\\x{a7da}-\\x{a7dc}\\x{105c0}-\\x{105f3}" \
    "\\x{10d4a}-\\x{10d65}\\x{10d6f}-\\x{10d85}\\x{10ec2}-\\x{10ec4}\\x{1123f}-\\x{11240}" \
    "\\x{11380}-\\x{11389}\\x{1138b}\\x{1138e}\\x{11390}-\\x{113b5}\\x{113b7}\\x{113d1}"   \
    "\\x{113d3}\\x{11bc0}-\\x{11be0}\\x{11f02}\\x{11f04}-\\x{11f10}\\x{11f12}-\\x{11f33}"  \
    "\\x{1342f}\\x{13441}-\\x{13446}\\x{13460}-\\x{143fa}\\x{16100}-\\x{1611d}"            \
    "\\x{16d40}-\\x{16d6c}\\x{18cff}\\x{1b132}\\x{1b155}\\x{1df25}-\\x{1df2a}"             \
    "\\x{1e030}-\\x{1e06d}\\x{1e4d0}-\\x{1e4eb}\\x{1e5d0}-\\x{1e5ed}\\x{1e5f0}\\x{2b739}"  \
    "\\x{2ebf0}-\\x{2ee5d}\\x{31350}-\\x{323af}"
#define ASSAY_NUMBER                                                                       \
    "\\p{N}\\x{10d40}-\\x{10d49}\\x{116d0}-\\x{116e3}\\x{11bf0}-\\x{11bf9}"                \
    "\\x{11f50}-\\x{11f59}\\x{16130}-\\x{16139}\\x{16d70}-\\x{16d79}\\x{1ccf0}-\\x{1ccf9}" \
    "\\x{1d2c0}-\\x{1d2d3}\\x{1e4f0}-\\x{1e4f9}\\x{1e5f1}-\\x{1e5fa}"
constexpr const char* kGpt2 = "'s|'t|'re|'ve|'m|'ll|'d| ?[" ASSAY_LETTER "]+| ?[" ASSAY_NUMBER
                              "]+| ?[^" ASSAY_SPACE ASSAY_LETTER ASSAY_NUMBER "]+|[" ASSAY_SPACE
                              "]+(?![^" ASSAY_SPACE "])|[" ASSAY_SPACE "]+";
constexpr const char* kLlama3 =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n" ASSAY_LETTER ASSAY_NUMBER "]?[" ASSAY_LETTER
    "]+"
    "|[" ASSAY_NUMBER "]{1,3}| ?[^" ASSAY_SPACE ASSAY_LETTER ASSAY_NUMBER
    "]+[\\r\\n]*"
    "|[" ASSAY_SPACE "]*[\\r\\n]+|[" ASSAY_SPACE "]+(?![^" ASSAY_SPACE "])|[" ASSAY_SPACE "]+";
#undef ASSAY_NUMBER
#undef ASSAY_LETTER
#undef ASSAY_SPACE

struct FreeCode {
    void operator()(pcre2_code* code) const { pcre2_code_free(code); }
};
struct FreeMatch {
    void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
};

using Code = std::unique_ptr<pcre2_code, FreeCode>;

Code compile(const char* pattern) {
    int error = 0;
    PCRE2_SIZE at = 0;
    Code compiled(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern), PCRE2_ZERO_TERMINATED,
                                PCRE2_UTF | PCRE2_UCP | PCRE2_NEVER_BACKSLASH_C, &error, &at, nullptr));
    ASSAY_CHECK(compiled != nullptr);
    // Without a JIT for this processor the interpreter gives the same matches more slowly.
    pcre2_jit_compile(compiled.get(), PCRE2_JIT_COMPLETE);
    return compiled;
}

/// Compiled once per process; pcre2_match only reads it.
const pcre2_code* word_pattern(SplitRule rule) {
    static const Code gpt2 = compile(kGpt2);
    static const Code llama3 = compile(kLlama3);
    return rule == SplitRule::kGpt2 ? gpt2.get() : llama3.get();
}

}  // namespace

std::string_view split_pattern(SplitRule rule) {
    return rule == SplitRule::kGpt2
               ? R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"
               : R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3})"
                 R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
}

base::Outcome<void> split_words(SplitRule rule, std::string_view text,
                                const std::function<void(std::string_view)>& take) {
    if (!base::is_utf8(text)) {
        return base::fail(base::ErrorKind::kUsage, "the text is not UTF-8",
                          "convert it, for example with `iconv -f LATIN1 -t UTF-8`");
    }
    const pcre2_code* pattern = word_pattern(rule);
    const std::unique_ptr<pcre2_match_data, FreeMatch> match(
        pcre2_match_data_create_from_pattern(pattern, nullptr));
    const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
    std::size_t at = 0;
    while (at < text.size()) {
        const int found = pcre2_match(pattern, subject, text.size(), at, PCRE2_NO_UTF_CHECK | PCRE2_ANCHORED,
                                      match.get(), nullptr);
        if (found <= 0) {  // the pattern covers every character, so only a resource limit ends here
            return base::fail(base::ErrorKind::kFailure,
                              "cutting the text into words failed at byte " + std::to_string(at),
                              "look for one run of many millions of equal characters there");
        }
        const PCRE2_SIZE* ends = pcre2_get_ovector_pointer(match.get());
        ASSAY_CHECK(ends[1] > at);
        take(text.substr(at, ends[1] - at));
        at = ends[1];
    }
    return {};
}

}  // namespace assay::trainer
