// SPDX-License-Identifier: Apache-2.0
// Remembers the last few results of a pure function that takes long. What it gives never depends on what it
// remembers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace assay::program {

template <class Key, class Value, std::size_t kMost>
class Recent {
public:
    /// Returns the result for `key`, from `make()` if it is none of those that were asked for last. Valid
    /// until the next call.
    template <class Make>
    const Value& get(const Key& key, Make&& make) {
        auto found =
            std::find_if(kept_.begin(), kept_.end(), [&](const auto& one) { return one.first == key; });
        if (found == kept_.end()) {
            Value made = make();
            if (kept_.size() == kMost) kept_.pop_back();
            found = kept_.emplace(kept_.end(), key, std::move(made));
        }
        std::rotate(kept_.begin(), found, found + 1);
        return kept_.front().second;
    }

private:
    std::vector<std::pair<Key, Value>> kept_;  ///< the last one asked for first
};

}  // namespace assay::program
