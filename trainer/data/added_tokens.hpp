// SPDX-License-Identifier: Apache-2.0
// Finds the spellings of added tokens in a text, for the tokenizer.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace assay::trainer {

/// Where a spelling was found; `number` is the one that add() was given with it.
struct AddedMatch {
    std::size_t begin = 0;
    std::size_t size = 0;
    std::size_t number = 0;
};

/// Finds the leftmost match, and of those the longest, as Hugging Face `tokenizers` does (Aho-Corasick,
/// leftmost-longest).
class AddedTokenFinder {
public:
    /// REQUIRES a spelling that is not empty and was not added before.
    void add(std::string spelling, std::size_t number);
    /// Call once, after the last add() and before the first find().
    void finish();
    /// The first match that begins at `from` or later.
    [[nodiscard]] std::optional<AddedMatch> find(std::string_view text, std::size_t from) const;
    [[nodiscard]] bool empty() const { return empty_; }

private:
    struct Spelling {
        std::string text;
        std::size_t number = 0;
    };
    std::array<std::vector<Spelling>, 256> by_first_byte_;  ///< each longest first, once finished
    bool empty_ = true;
};

}  // namespace assay::trainer
