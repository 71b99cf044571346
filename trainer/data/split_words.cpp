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
constexpr const char* kGpt2 = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^" ASSAY_SPACE
                              "\\p{L}\\p{N}]+"
                              "|[" ASSAY_SPACE "]+(?![^" ASSAY_SPACE "])|[" ASSAY_SPACE "]+";
constexpr const char* kLlama3 =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}"
    "| ?[^" ASSAY_SPACE "\\p{L}\\p{N}]+[\\r\\n]*|[" ASSAY_SPACE
    "]*[\\r\\n]+"
    "|[" ASSAY_SPACE "]+(?![^" ASSAY_SPACE "])|[" ASSAY_SPACE "]+";
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
