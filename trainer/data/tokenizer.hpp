// SPDX-License-Identifier: Apache-2.0
// Byte-level BPE as GPT-2 defines it (Radford et al. 2019; Sennrich et al. 2016 for the merges), for packing
// and sampling. Added tokens are taken out of the text. The rest is put into NFC if the tokenizer asks for
// it, and cut into words by a pattern. Each word starts as its UTF-8 bytes; the pair with the lowest merge
// rank is joined until no pair is left. Gives the same ids as Hugging Face `tokenizers` for the same file.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "contracts/base/error.hpp"
#include "trainer/data/added_tokens.hpp"
#include "trainer/data/split_words.hpp"

namespace assay::trainer {

/// The special token of tokenizers that are trained here.
inline constexpr std::string_view kEndOfText = "<|endoftext|>";

/// Largest vocabulary that train_tokenizer makes; tokenizers made elsewhere may have more tokens.
inline constexpr std::uint32_t kMaxTrainedVocabulary = 65536;

/// What the spelling of a special token inside an input becomes.
enum class SpecialText : std::uint8_t {
    kOrdinary,   ///< ordinary tokens, so that text of strangers cannot end a document
    kRecognised  ///< the special token, as Hugging Face does by default
};

/// A token that is found in the text before words are cut. The leftmost match wins, then the longest.
struct AddedToken {
    std::uint32_t id = 0;
    bool special = true;         ///< stands for no text; not looked for with SpecialText::kOrdinary
    bool normalised = false;     ///< looked for after NFC, in the text that other added tokens left over
    bool in_vocabulary = false;  ///< tokenizer.json lists it in `model.vocab` too
    friend bool operator==(const AddedToken&, const AddedToken&) = default;
};

/// The tables that define a tokenizer. Ids are positions in `tokens`.
struct BpeTables {
    std::vector<std::string> tokens;  ///< raw bytes of each token; an added token holds its spelling
    std::vector<std::pair<std::uint32_t, std::uint32_t>> merges;  ///< in order of rank
    std::vector<AddedToken> added;                                ///< by id
    /// Tokens that Hugging Face puts around a text when asked to add special tokens; encode() never does.
    std::vector<std::uint32_t> before_text;
    std::vector<std::uint32_t> after_text;
    SplitRule split = SplitRule::kGpt2;
    bool nfc = false;            ///< text is put into Normalisation Form C
    bool ignore_merges = false;  ///< a word that is itself a token becomes that token, without merges
    friend bool operator==(const BpeTables&, const BpeTables&) = default;
};

/// Immutable after creation; const members may be called from several threads.
class Tokenizer {
public:
    /// Checks the tables: all 256 single bytes are present, no token occurs twice, every merge joins two
    /// tokens into a third that exists, and added tokens are in the vocabulary and sorted by id. Errors:
    /// kUsage.
    static base::Outcome<Tokenizer> create(BpeTables tables);

    /// Ids of `text`; kUsage when it is not UTF-8 (base::is_utf8).
    [[nodiscard]] base::Outcome<std::vector<std::uint32_t>> encode(
        std::string_view text, SpecialText special = SpecialText::kOrdinary) const;

    /// Bytes of the ids joined; added tokens give their spelling. A token may end inside a character,
    /// so the result need not be UTF-8. Errors: kUsage for an id outside the vocabulary.
    [[nodiscard]] base::Outcome<std::string> decode(std::span<const std::uint32_t> ids) const;

    [[nodiscard]] std::uint32_t vocabulary() const {
        return static_cast<std::uint32_t>(tables_.tokens.size());
    }
    /// The special token that marks where a document begins: the first of `before_text`; without one, the
    /// first of <|begin_of_text|>, <|endoftext|>, <s>, <|end_of_text|> and </s> that exists.
    [[nodiscard]] std::optional<std::uint32_t> begin_of_document() const { return begin_; }
    /// The special token after which a text ends: the first of <|endoftext|>, <|end_of_text|> and </s> that
    /// exists; without one, begin_of_document().
    [[nodiscard]] std::optional<std::uint32_t> end_of_document() const { return end_; }
    [[nodiscard]] const BpeTables& tables() const { return tables_; }

private:
    static constexpr std::uint32_t kNoMerge = 0xffffffffU;
    struct MergeRule {
        std::uint32_t rank = kNoMerge;
        std::uint32_t joined = 0;
    };
    class Encoder;

    Tokenizer() = default;
    base::Outcome<void> take_tokens();
    base::Outcome<void> take_merges();
    base::Outcome<void> take_added();
    void choose_borders();
    [[nodiscard]] bool is_added(std::uint32_t id) const;
    [[nodiscard]] MergeRule merge_of(std::uint32_t left, std::uint32_t right) const;
    void encode_word(std::string_view word, std::vector<std::uint32_t>& ids) const;
    void encode_short_word(std::string_view word, std::vector<std::uint32_t>& ids) const;
    void encode_long_word(std::string_view word, std::vector<std::uint32_t>& ids) const;

    BpeTables tables_;
    std::uint32_t byte_ids_[256] = {};
    // Only looked up, never walked.
    std::unordered_map<std::string, std::uint32_t> ordinary_;  ///< ids of tokens that are not added
    std::unordered_map<std::uint64_t, MergeRule> ranks_;       ///< by left << 32 | right
    AddedTokenFinder raw_;         ///< in the text as it is; numbers are places in tables_.added
    AddedTokenFinder normalised_;  ///< in the text after NFC
    std::optional<std::uint32_t> begin_;
    std::optional<std::uint32_t> end_;
};

/// Learns merges from UTF-8 text until `vocabulary` tokens exist: id 0 is the special token, id 1 + b the
/// byte b, then one token per merge. The most frequent pair is merged next; ties go to the pair with the
/// smaller ids, so the result depends only on the texts' words. Pairs seen once are never merged, and words
/// longer than 1024 bytes are left out.
/// Errors: kUsage when vocabulary is outside [257, 65536], when a text is not UTF-8, or when the texts have
/// too few repeated pairs for so large a vocabulary.
base::Outcome<Tokenizer> train_tokenizer(std::span<const std::string_view> texts, std::uint32_t vocabulary);

}  // namespace assay::trainer
