// SPDX-License-Identifier: Apache-2.0
// Training of merges: each round joins the most frequent pair of neighbours. Pair counts are kept up to date
// word by word, and a heap with stale entries finds the next pair, as Hugging Face's trainer does.
#include <algorithm>
#include <map>
#include <queue>
#include <string>
#include <unordered_map>

#include "trainer/data/split_words.hpp"
#include "trainer/data/tokenizer.hpp"

namespace assay::trainer {
namespace {

// A merge in a word costs the rest of its length, so endless words would cost its square.
constexpr std::size_t kLongestWord = 1024;

using Pair = std::pair<std::uint32_t, std::uint32_t>;

struct Word {
    std::vector<std::uint32_t> parts;
    std::int64_t count = 0;
};

struct PairHash {
    std::size_t operator()(const Pair& pair) const {
        const std::uint64_t key = (std::uint64_t{pair.first} << 32) | pair.second;
        return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15ULL) >> 16);
    }
};

/// How often a pair occurs, and in which words (perhaps no longer in all of them).
struct PairPlace {
    std::int64_t count = 0;
    std::vector<std::uint32_t> words;
};

struct MergeCandidate {
    std::int64_t count = 0;
    Pair pair;
    /// Order of the heap, which gives its largest first: more frequent, then smaller ids.
    friend bool operator<(const MergeCandidate& a, const MergeCandidate& b) {
        if (a.count != b.count) return a.count < b.count;
        return a.pair > b.pair;
    }
};

class Trainer {
public:
    explicit Trainer(const std::map<std::string, std::int64_t>& counts) {
        tables_.tokens.emplace_back(kEndOfText);
        tables_.added.push_back({.id = 0, .special = true, .normalised = false, .in_vocabulary = true});
        for (std::uint32_t byte = 0; byte < 256; ++byte) {
            tables_.tokens.emplace_back(1, static_cast<char>(static_cast<unsigned char>(byte)));
        }
        for (const auto& [text, count] : counts) {
            Word word;
            word.count = count;
            for (const char byte : text) word.parts.push_back(1U + static_cast<unsigned char>(byte));
            const auto number = static_cast<std::uint32_t>(words_.size());
            for (std::size_t i = 0; i + 1 < word.parts.size(); ++i) {
                add({word.parts[i], word.parts[i + 1]}, count, number);
            }
            words_.push_back(std::move(word));
        }
        for (const auto& [pair, place] : places_) heap_.push({place.count, pair});
    }

    /// Merges until `vocabulary` tokens exist or no pair occurs twice.
    BpeTables run(std::uint32_t vocabulary) {
        while (tables_.tokens.size() < vocabulary && !heap_.empty()) {
            const MergeCandidate best = heap_.top();
            heap_.pop();
            const std::int64_t now = places_.at(best.pair).count;
            if (now != best.count) {  // stale: back with its present count
                if (now > 0) heap_.push({now, best.pair});
                continue;
            }
            if (now < 2) break;
            merge(best.pair);
        }
        return std::move(tables_);
    }

private:
    void add(const Pair& pair, std::int64_t count, std::uint32_t word) {
        PairPlace& place = places_[pair];
        place.count += count;
        if (count > 0 && (place.words.empty() || place.words.back() != word)) place.words.push_back(word);
    }

    void merge(const Pair& pair) {
        const auto id = static_cast<std::uint32_t>(tables_.tokens.size());
        std::string joined = tables_.tokens[pair.first] + tables_.tokens[pair.second];
        // Two merges can spell the same bytes ("aa" + "a", "a" + "aa"); a token exists once.
        if (const auto known = spelled_.find(joined); known != spelled_.end()) {
            tables_.merges.push_back(pair);
            replace(pair, known->second);
            return;
        }
        spelled_.emplace(joined, id);
        tables_.tokens.push_back(std::move(joined));
        tables_.merges.push_back(pair);
        replace(pair, id);
    }

    void replace(const Pair& pair, std::uint32_t id) {
        const std::vector<std::uint32_t> touched = std::move(places_.at(pair).words);
        std::vector<Pair> grown;
        for (const std::uint32_t number : touched) {
            Word& word = words_[number];
            for (std::size_t i = 0; i + 1 < word.parts.size(); ++i) {
                if (word.parts[i] != pair.first || word.parts[i + 1] != pair.second) continue;
                if (i > 0) add({word.parts[i - 1], pair.first}, -word.count, number);
                if (i + 2 < word.parts.size()) add({pair.second, word.parts[i + 2]}, -word.count, number);
                word.parts[i] = id;
                word.parts.erase(word.parts.begin() + static_cast<std::ptrdiff_t>(i) + 1);
                if (i > 0) {
                    grown.emplace_back(word.parts[i - 1], id);
                    add(grown.back(), word.count, number);
                }
                if (i + 1 < word.parts.size()) {
                    grown.emplace_back(id, word.parts[i + 1]);
                    add(grown.back(), word.count, number);
                }
            }
        }
        places_.at(pair) = {};
        std::sort(grown.begin(), grown.end());
        grown.erase(std::unique(grown.begin(), grown.end()), grown.end());
        for (const Pair& fresh : grown) heap_.push({places_.at(fresh).count, fresh});
    }

    BpeTables tables_;
    std::vector<Word> words_;
    // The heap's total order decides; these two are only looked up.
    std::unordered_map<Pair, PairPlace, PairHash> places_;
    std::unordered_map<std::string, std::uint32_t> spelled_;
    std::priority_queue<MergeCandidate> heap_;
};

}  // namespace

base::Outcome<Tokenizer> train_tokenizer(std::span<const std::string_view> texts, std::uint32_t vocabulary) {
    if (vocabulary < 257 || vocabulary > kMaxTrainedVocabulary) {
        return base::fail(base::ErrorKind::kUsage,
                          "a vocabulary of " + std::to_string(vocabulary) + " tokens is not possible",
                          "choose a number from 257 (256 bytes and the end of text) to 65536");
    }
    std::unordered_map<std::string, std::int64_t> seen;
    for (const std::string_view text : texts) {
        ASSAY_TRY(split_words(SplitRule::kGpt2, text, [&seen](std::string_view word) {
            if (word.size() <= kLongestWord) ++seen[std::string(word)];
        }));
    }
    BpeTables tables = Trainer({seen.begin(), seen.end()}).run(vocabulary);
    if (tables.tokens.size() < vocabulary) {
        const std::string most = std::to_string(tables.tokens.size());
        return base::fail(base::ErrorKind::kUsage,
                          "the text repeats too little for a vocabulary of " + std::to_string(vocabulary) +
                              " tokens; it supports " + most,
                          "ask for at most " + most + " tokens, or add text");
    }
    return Tokenizer::create(std::move(tables));
}

}  // namespace assay::trainer
