// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/tokenizer.hpp"

#include <functional>
#include <queue>
#include <string>
#include <tuple>
#include <unordered_map>

#include "contracts/base/bytes.hpp"
#include "contracts/base/check.hpp"
#include "trainer/data/split_words.hpp"

namespace assay::trainer {
namespace {

constexpr std::size_t kShortWord = 128;
constexpr std::size_t kMaxCachedWords = std::size_t{1} << 18;

base::Failed<base::Error> bad_tables(const std::string& what) {
    return base::fail(base::ErrorKind::kUsage, "the tokenizer is not usable: " + what,
                      "use the tokenizer.json that was packed with the data");
}

}  // namespace

base::Outcome<Tokenizer> Tokenizer::create(BpeTables tables) {
    if (tables.tokens.size() > 65536) return bad_tables("it has more than 65536 tokens");
    if (tables.end_of_text >= tables.tokens.size()) return bad_tables("it has no end-of-text token");
    Tokenizer made;
    std::unordered_map<std::string_view, std::uint32_t> ids;
    for (std::uint32_t id = 0; id < tables.tokens.size(); ++id) {
        if (id == tables.end_of_text) continue;  // its spelling is not the bytes of an ordinary token
        const std::string& token = tables.tokens[id];
        if (token.empty()) return bad_tables("token " + std::to_string(id) + " is empty");
        if (!ids.emplace(token, id).second)
            return bad_tables("token " + std::to_string(id) + " is there twice");
    }
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        const std::string single(1, static_cast<char>(static_cast<unsigned char>(byte)));
        const auto found = ids.find(single);
        if (found == ids.end()) return bad_tables("the byte " + std::to_string(byte) + " has no token");
        made.byte_ids_[byte] = found->second;
    }
    for (std::uint32_t rank = 0; rank < tables.merges.size(); ++rank) {
        const auto [left, right] = tables.merges[rank];
        const std::string where = "merge " + std::to_string(rank);
        if (left >= tables.tokens.size() || right >= tables.tokens.size() || left == tables.end_of_text ||
            right == tables.end_of_text) {
            return bad_tables(where + " names a token that cannot be merged");
        }
        const auto joined = ids.find(tables.tokens[left] + tables.tokens[right]);
        if (joined == ids.end()) return bad_tables(where + " makes a token that does not exist");
        if (!made.ranks_.emplace(tables.merges[rank], Merge{rank, joined->second}).second) {
            return bad_tables(where + " is there twice");
        }
    }
    made.tables_ = std::move(tables);
    return made;
}

Tokenizer::Merge Tokenizer::merge_of(std::uint32_t left, std::uint32_t right) const {
    const auto found = ranks_.find({left, right});
    return found == ranks_.end() ? Merge{} : found->second;
}

// Words are short, so scanning for the lowest rank costs less than a heap.
void Tokenizer::encode_short_word(std::string_view word, std::vector<std::uint32_t>& ids) const {
    std::vector<std::uint32_t> parts;
    parts.reserve(word.size());
    for (const char byte : word) parts.push_back(byte_ids_[static_cast<unsigned char>(byte)]);
    std::vector<Merge> next(parts.size());
    const auto look_up = [&](std::size_t i) {
        return i + 1 < parts.size() ? merge_of(parts[i], parts[i + 1]) : Merge{};
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
    struct Part {
        std::uint32_t id = 0;
        std::size_t previous = 0;
        std::size_t next = 0;
        bool gone = false;
    };
    const std::size_t size = word.size();  // also stands for "none"
    std::vector<Part> parts(size);
    using Entry = std::tuple<std::uint32_t, std::size_t, std::uint32_t, std::uint32_t>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> heap;
    const auto offer = [&](std::size_t at) {
        if (at == size || parts[at].next == size) return;
        const std::uint32_t left = parts[at].id;
        const std::uint32_t right = parts[parts[at].next].id;
        const Merge merge = merge_of(left, right);
        if (merge.rank != kNoMerge) heap.emplace(merge.rank, at, left, right);
    };
    for (std::size_t i = 0; i < size; ++i) {
        parts[i] = {byte_ids_[static_cast<unsigned char>(word[i])], i == 0 ? size : i - 1, i + 1, false};
    }
    for (std::size_t i = 0; i < size; ++i) offer(i);
    while (!heap.empty()) {
        const auto [rank, at, left, right] = heap.top();
        heap.pop();
        Part& part = parts[at];
        if (part.gone || part.id != left || part.next == size || parts[part.next].id != right) continue;
        part.id = merge_of(left, right).joined;
        Part& taken = parts[part.next];
        taken.gone = true;
        part.next = taken.next;
        if (part.next != size) parts[part.next].previous = at;
        offer(part.previous);
        offer(at);
    }
    for (std::size_t at = 0; at != size; at = parts[at].next) ids.push_back(parts[at].id);
}

base::Outcome<std::vector<std::uint32_t>> Tokenizer::encode(std::string_view text,
                                                            SpecialText special) const {
    if (!base::is_utf8(text)) {
        return base::fail(base::ErrorKind::kUsage, "the text is not UTF-8",
                          "convert it, for example with `iconv -f LATIN1 -t UTF-8`");
    }
    std::vector<std::uint32_t> ids;
    std::unordered_map<std::string, std::vector<std::uint32_t>> cache;  // looked up, never walked
    const auto take_word = [&](std::string_view word) {
        const auto [place, fresh] = cache.try_emplace(std::string(word));
        if (fresh && word.size() <= kShortWord) encode_short_word(word, place->second);
        if (fresh && word.size() > kShortWord) encode_long_word(word, place->second);
        ids.insert(ids.end(), place->second.begin(), place->second.end());
        if (cache.size() > kMaxCachedWords) cache.clear();
    };
    while (true) {
        const std::size_t mark =
            special == SpecialText::kRecognised ? text.find(kEndOfText) : std::string_view::npos;
        ASSAY_TRY(split_words(text.substr(0, mark), take_word));
        if (mark == std::string_view::npos) return ids;
        ids.push_back(tables_.end_of_text);
        text.remove_prefix(mark + kEndOfText.size());
    }
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
