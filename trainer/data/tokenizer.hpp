// SPDX-License-Identifier: Apache-2.0
// Byte-level BPE as GPT-2 defines it (Radford et al. 2019; Sennrich et al. 2016 for the merges): text is cut
// into words by the GPT-2 pattern, each word starts as its UTF-8 bytes, and the pair with the lowest merge
// rank is joined until none is left. Gives the same ids as Hugging Face `tokenizers` for the same file.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "contracts/base/error.hpp"

namespace assay::trainer {

/// Marks the border between documents; its id is Tokenizer::end_of_text().
inline constexpr std::string_view kEndOfText = "<|endoftext|>";

/// What the text "<|endoftext|>" inside an input becomes.
enum class SpecialText : std::uint8_t {
    kOrdinary,   ///< spelled out in ordinary tokens: text of strangers cannot end a document
    kRecognised  ///< the special token, as Hugging Face does by default
};

/// The tables that define a tokenizer. Ids are positions in `tokens`.
struct BpeTables {
    std::vector<std::string> tokens;  ///< raw bytes of each token; the special token holds its spelling
    std::vector<std::pair<std::uint32_t, std::uint32_t>> merges;  ///< in order of rank
    std::uint32_t end_of_text = 0;
};

/// Immutable after creation; const members may be called from several threads.
class Tokenizer {
public:
    /// Checks the tables: all 256 single bytes present, no token twice, every merge joins two tokens into a
    /// third that exists, end_of_text inside. Errors: kUsage.
    static base::Outcome<Tokenizer> create(BpeTables tables);

    /// Ids of `text`, which must be UTF-8 (base::is_utf8); anything else is kUsage.
    [[nodiscard]] base::Outcome<std::vector<std::uint32_t>> encode(
        std::string_view text, SpecialText special = SpecialText::kOrdinary) const;

    /// Bytes of the ids joined; the special token gives its spelling. A token may end inside a character,
    /// so the result need not be UTF-8. Errors: kUsage for an id outside the vocabulary.
    [[nodiscard]] base::Outcome<std::string> decode(std::span<const std::uint32_t> ids) const;

    [[nodiscard]] std::uint32_t vocabulary() const {
        return static_cast<std::uint32_t>(tables_.tokens.size());
    }
    [[nodiscard]] std::uint32_t end_of_text() const { return tables_.end_of_text; }
    [[nodiscard]] const BpeTables& tables() const { return tables_; }

private:
    static constexpr std::uint32_t kNoMerge = 0xffffffffU;
    struct Merge {
        std::uint32_t rank = kNoMerge;
        std::uint32_t joined = 0;
    };
    Tokenizer() = default;
    [[nodiscard]] Merge merge_of(std::uint32_t left, std::uint32_t right) const;
    void encode_short_word(std::string_view word, std::vector<std::uint32_t>& ids) const;
    void encode_long_word(std::string_view word, std::vector<std::uint32_t>& ids) const;

    BpeTables tables_;
    std::uint32_t byte_ids_[256] = {};
    std::map<std::pair<std::uint32_t, std::uint32_t>, Merge> ranks_;
};

/// Learns merges from UTF-8 text until `vocabulary` tokens exist: id 0 is the special token, id 1 + b the
/// byte b, then one token per merge. The most frequent pair wins; ties go to the pair with the smaller ids,
/// so the result depends on the texts' words alone. Pairs seen once are never merged, and words longer than
/// 1024 bytes take no part.
/// Errors: kUsage when vocabulary is outside [257, 65536], when a text is not UTF-8, or when the texts have
/// too few repeated pairs for so large a vocabulary.
base::Outcome<Tokenizer> train_tokenizer(std::span<const std::string_view> texts, std::uint32_t vocabulary);

}  // namespace assay::trainer
