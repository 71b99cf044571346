// SPDX-License-Identifier: Apache-2.0
#include "trainer/data/added_tokens.hpp"

#include <algorithm>
#include <utility>

#include "contracts/base/check.hpp"

namespace assay::trainer {

void AddedTokenFinder::add(std::string spelling, std::size_t number) {
    ASSAY_CHECK(!spelling.empty());
    by_first_byte_[static_cast<unsigned char>(spelling.front())].push_back({std::move(spelling), number});
    empty_ = false;
}

void AddedTokenFinder::finish() {
    for (std::vector<Spelling>& list : by_first_byte_) {
        std::stable_sort(list.begin(), list.end(), [](const Spelling& one, const Spelling& other) {
            return one.text.size() > other.text.size();
        });
    }
}

std::optional<AddedMatch> AddedTokenFinder::find(std::string_view text, std::size_t from) const {
    if (empty_) return std::nullopt;
    for (std::size_t at = from; at < text.size(); ++at) {
        for (const Spelling& spelling : by_first_byte_[static_cast<unsigned char>(text[at])]) {
            if (text.substr(at).starts_with(spelling.text))
                return AddedMatch{at, spelling.text.size(), spelling.number};
        }
    }
    return std::nullopt;
}

}  // namespace assay::trainer
