// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/tokenizer.hpp"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <queue>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "contracts/base/bytes.hpp"
#include "contracts/base/check.hpp"
#include "trainer/data/normalise.hpp"

namespace assay::trainer {
namespace {

constexpr std::size_t kShortWord = 128;
constexpr std::size_t kMaxCachedWords = std::size_t{1} << 18;
constexpr std::size_t kMaxVocabulary = std::size_t{1} << 22;  // as contracts/program/spec_check.hpp

std::uint64_t pair_key(std::uint32_t left, std::uint32_t right) {
    return (std::uint64_t{left} << 32) | right;
}

base::Failed<base::Error> bad_tables(const std::string& what) {
    return base::fail(base::ErrorKind::kUsage, "the tokenizer is not usable: " + what,
                      "use the tokenizer.json that was packed with the data");
}

}  // namespace

base::Outcome<Tokenizer> Tokenizer::create(BpeTables tables) {
    Tokenizer made;
    made.tables_ = std::move(tables);
    ASSAY_TRY(made.take_added());
    ASSAY_TRY(made.take_tokens());
    ASSAY_TRY(made.take_merges());
    made.choose_borders();
    return made;
}

bool Tokenizer::is_added(std::uint32_t id) const {
    return std::binary_search(tables_.added.begin(), tables_.added.end(), AddedToken{.id = id},
                              [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; });
}

base::Outcome<void> Tokenizer::take_added() {
    if (tables_.tokens.size() > kMaxVocabulary)
        return bad_tables("it has more than " + std::to_string(kMaxVocabulary) + " tokens");
    std::unordered_set<std::string> spellings;
    for (std::size_t i = 0; i < tables_.added.size(); ++i) {
        const AddedToken& token = tables_.added[i];
        if (token.id >= tables_.tokens.size() || (i > 0 && token.id <= tables_.added[i - 1].id))
            return bad_tables("its added tokens are not in the order of their ids");
        std::string spelling = tables_.tokens[token.id];
        if (spelling.empty() || !base::is_utf8(spelling))
            return bad_tables("the added token " + std::to_string(token.id) + " has no spelling");
        if (token.normalised && tables_.nfc) {
            ASSAY_ASSIGN(spelling, to_nfc(spelling));
            tables_.tokens[token.id] = spelling;
        }
        if (!spellings.insert(spelling).second)
            return bad_tables("the added token \"" + spelling + "\" is there twice");
        (token.normalised ? normalised_ : raw_).add(std::move(spelling), i);
    }
    raw_.finish();
    normalised_.finish();
    for (const std::vector<std::uint32_t>* around : {&tables_.before_text, &tables_.after_text}) {
        for (const std::uint32_t id : *around) {
            if (!is_added(id)) return bad_tables("a token around texts is not an added token");
        }
    }
    return {};
}

base::Outcome<void> Tokenizer::take_tokens() {
    std::size_t next_added = 0;
    for (std::uint32_t id = 0; id < tables_.tokens.size(); ++id) {
        if (next_added < tables_.added.size() && tables_.added[next_added].id == id) {
            ++next_added;  // its spelling is not the bytes of an ordinary token
            continue;
        }
        const std::string& token = tables_.tokens[id];
        if (token.empty()) return bad_tables("token " + std::to_string(id) + " is empty");
        if (!ordinary_.emplace(token, id).second)
            return bad_tables("token " + std::to_string(id) + " is there twice");
    }
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        const std::string single(1, static_cast<char>(static_cast<unsigned char>(byte)));
        const auto found = ordinary_.find(single);
        if (found == ordinary_.end()) return bad_tables("the byte " + std::to_string(byte) + " has no token");
        byte_ids_[byte] = found->second;
    }
    return {};
}

base::Outcome<void> Tokenizer::take_merges() {
    ranks_.reserve(tables_.merges.size());
    for (std::uint32_t rank = 0; rank < tables_.merges.size(); ++rank) {
        const auto [left, right] = tables_.merges[rank];
        const std::string where = "merge " + std::to_string(rank);
        if (left >= tables_.tokens.size() || right >= tables_.tokens.size() || is_added(left) ||
            is_added(right)) {
            return bad_tables(where + " names a token that cannot be merged");
        }
        const auto joined = ordinary_.find(tables_.tokens[left] + tables_.tokens[right]);
        if (joined == ordinary_.end()) return bad_tables(where + " makes a token that does not exist");
        if (!ranks_.emplace(pair_key(left, right), MergeRule{rank, joined->second}).second)
            return bad_tables(where + " is there twice");
    }
    return {};
}

void Tokenizer::choose_borders() {
    const auto first_of = [this](std::initializer_list<std::string_view> names) {
        std::optional<std::uint32_t> found;
        for (const std::string_view name : names) {
            for (const AddedToken& token : tables_.added) {
                if (!found && token.special && tables_.tokens[token.id] == name) found = token.id;
            }
        }
        return found;
    };
    begin_ = first_of({"<|begin_of_text|>", kEndOfText, "<s>", "<|end_of_text|>", "</s>"});
    if (!tables_.before_text.empty()) begin_ = tables_.before_text.front();
    end_ = first_of({kEndOfText, "<|end_of_text|>", "</s>"});
    if (!end_) end_ = begin_;
}

Tokenizer::MergeRule Tokenizer::merge_of(std::uint32_t left, std::uint32_t right) const {
    const auto found = ranks_.find(pair_key(left, right));
    return found == ranks_.end() ? MergeRule{} : found->second;
}

void Tokenizer::encode_word(std::string_view word, std::vector<std::uint32_t>& ids) const {
    if (tables_.ignore_merges) {
        if (const auto whole = ordinary_.find(std::string(word)); whole != ordinary_.end()) {
            ids.push_back(whole->second);
            return;
        }
    }
    if (word.size() <= kShortWord) {
        encode_short_word(word, ids);
    } else {
        encode_long_word(word, ids);
    }
}

// Words are short, so scanning for the lowest rank costs less than a heap.
void Tokenizer::encode_short_word(std::string_view word, std::vector<std::uint32_t>& ids) const {
    std::vector<std::uint32_t> parts;
    parts.reserve(word.size());
    for (const char byte : word) parts.push_back(byte_ids_[static_cast<unsigned char>(byte)]);
    std::vector<MergeRule> next(parts.size());
    const auto look_up = [&](std::size_t i) {
        return i + 1 < parts.size() ? merge_of(parts[i], parts[i + 1]) : MergeRule{};
    };
    for (std::size_t i = 0; i < parts.size(); ++i) next[i] = look_up(i);
    while (parts.size() > 1) {
        std::size_t best = 0;
        for (std::size_t i = 1; i < parts.size(); ++i) {
            if (next[i].rank < next[best].rank) best = i;
        }
        if (next[best].rank == kNoMerge) break;
        parts[best] = next[best].joined;
        const auto gone = static_cast<std::ptrdiff_t>(best) + 1;
        parts.erase(parts.begin() + gone);
        next.erase(next.begin() + gone);
        next[best] = look_up(best);
        if (best > 0) next[best - 1] = look_up(best - 1);
    }
    ids.insert(ids.end(), parts.begin(), parts.end());
}

// The same merges in the same order by a heap of (rank, place) over a linked list: a run of a million letters
// is one word, and the scan above would take the square of that.
void Tokenizer::encode_long_word(std::string_view word, std::vector<std::uint32_t>& ids) const {
    struct Symbol {
        std::uint32_t id = 0;
        std::size_t previous = 0;
        std::size_t next = 0;
        bool gone = false;
    };
    const std::size_t size = word.size();  // also stands for "none"
    std::vector<Symbol> parts(size);
    using Entry = std::tuple<std::uint32_t, std::size_t, std::uint32_t, std::uint32_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heap;
    const auto offer = [&](std::size_t at) {
        if (at == size || parts[at].next == size) return;
        const std::uint32_t left = parts[at].id;
        const std::uint32_t right = parts[parts[at].next].id;
        const MergeRule merge = merge_of(left, right);
        if (merge.rank != kNoMerge) heap.emplace(merge.rank, at, left, right);
    };
    for (std::size_t i = 0; i < size; ++i) {
        parts[i] = {byte_ids_[static_cast<unsigned char>(word[i])], i == 0 ? size : i - 1, i + 1, false};
    }
    for (std::size_t i = 0; i < size; ++i) offer(i);
    while (!heap.empty()) {
        const auto [rank, at, left, right] = heap.top();
        heap.pop();
        Symbol& part = parts[at];
        if (part.gone || part.id != left || part.next == size || parts[part.next].id != right) continue;
        part.id = merge_of(left, right).joined;
        Symbol& taken = parts[part.next];
        taken.gone = true;
        part.next = taken.next;
        if (part.next != size) parts[part.next].previous = at;
        offer(part.previous);
        offer(at);
    }
    for (std::size_t at = 0; at != size; at = parts[at].next) ids.push_back(parts[at].id);
}

/// One call of encode(): what was found so far, and the words seen.
class Tokenizer::Encoder {
public:
    Encoder(const Tokenizer& tokenizer, SpecialText special) : tokenizer_(tokenizer), special_(special) {}

    base::Outcome<void> take_text(std::string_view text) {
        return between(tokenizer_.raw_, text, [this](std::string_view piece) { return take_raw(piece); });
    }
    std::vector<std::uint32_t> ids() { return std::move(ids_); }

private:
    base::Outcome<void> take_raw(std::string_view text) {
        std::string nfc;
        if (tokenizer_.tables_.nfc) {
            ASSAY_ASSIGN(nfc, to_nfc(text));
            text = nfc;
        }
        return between(tokenizer_.normalised_, text,
                       [this](std::string_view piece) { return take_plain(piece); });
    }

    base::Outcome<void> take_plain(std::string_view text) {
        return split_words(tokenizer_.tables_.split, text,
                           [this](std::string_view word) { take_word(word); });
    }

    void take_word(std::string_view word) {
        const auto [place, fresh] = words_.try_emplace(std::string(word));
        if (fresh) tokenizer_.encode_word(word, place->second);
        ids_.insert(ids_.end(), place->second.begin(), place->second.end());
        if (words_.size() > kMaxCachedWords) words_.clear();
    }

    /// Calls `take` for each piece between the added tokens of `finder`, and puts the ids of those between
    /// them.
    template <class Take>
    base::Outcome<void> between(const AddedTokenFinder& finder, std::string_view text, const Take& take) {
        std::size_t begin = 0;
        std::size_t from = 0;
        while (const auto match = finder.find(text, from)) {
            from = match->begin + match->size;
            const AddedToken& token = tokenizer_.tables_.added[match->number];
            if (token.special && special_ == SpecialText::kOrdinary) continue;
            ASSAY_TRY(take(text.substr(begin, match->begin - begin)));
            ids_.push_back(token.id);
            begin = from;
        }
        return take(text.substr(begin));
    }

    const Tokenizer& tokenizer_;
    SpecialText special_;
    std::vector<std::uint32_t> ids_;
    std::unordered_map<std::string, std::vector<std::uint32_t>> words_;  // looked up, never walked
};

base::Outcome<std::vector<std::uint32_t>> Tokenizer::encode(std::string_view text,
                                                            SpecialText special) const {
    if (!base::is_utf8(text)) {
        return base::fail(base::ErrorKind::kUsage, "the text is not UTF-8",
                          "convert it, for example with `iconv -f LATIN1 -t UTF-8`");
    }
    Encoder encoder(*this, special);
    ASSAY_TRY(encoder.take_text(text));
    return encoder.ids();
}

base::Outcome<std::string> Tokenizer::decode(std::span<const std::uint32_t> ids) const {
    std::string text;
    for (const std::uint32_t id : ids) {
        if (id >= tables_.tokens.size()) {
            return base::fail(base::ErrorKind::kUsage,
                              "token " + std::to_string(id) + " is outside the vocabulary of " +
                                  std::to_string(tables_.tokens.size()),
                              "use the tokenizer that the tokens were made with");
        }
        text += tables_.tokens[id];
    }
    return text;
}

}  // namespace assay::trainer
