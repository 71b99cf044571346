// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/state.hpp"

#include <algorithm>

namespace assay::contracts {

namespace {
bool begins_with(const Bytes& key, ByteView prefix) {
    return key.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), key.begin());
}
}  // namespace

std::optional<Bytes> Overlay::get(ByteView key) const {
    const auto found = changes_.find(base::to_bytes(key));
    return found != changes_.end() ? found->second : under_.get(key);
}

std::vector<std::pair<Bytes, Bytes>> Overlay::scan(ByteView prefix) const {
    std::map<Bytes, Bytes> merged;
    for (auto& [key, value] : under_.scan(prefix)) merged.emplace(std::move(key), std::move(value));
    for (auto it = changes_.lower_bound(base::to_bytes(prefix));
         it != changes_.end() && begins_with(it->first, prefix); ++it) {
        if (it->second) {
            merged.insert_or_assign(it->first, *it->second);
        } else {
            merged.erase(it->first);
        }
    }
    return {merged.begin(), merged.end()};
}

void Overlay::put(ByteView key, Bytes value) {
    changes_.insert_or_assign(base::to_bytes(key), std::move(value));
}

void Overlay::erase(ByteView key) { changes_.insert_or_assign(base::to_bytes(key), std::nullopt); }

void Overlay::write_to(State& target) const {
    for (const auto& [key, value] : changes_) {
        if (value) {
            target.put(key, *value);
        } else {
            target.erase(key);
        }
    }
}

std::optional<Bytes> MemoryState::get(ByteView key) const {
    const auto found = values_.find(base::to_bytes(key));
    if (found == values_.end()) return std::nullopt;
    return found->second;
}

std::vector<std::pair<Bytes, Bytes>> MemoryState::scan(ByteView prefix) const {
    std::vector<std::pair<Bytes, Bytes>> found;
    for (auto it = values_.lower_bound(base::to_bytes(prefix));
         it != values_.end() && begins_with(it->first, prefix); ++it) {
        found.emplace_back(*it);
    }
    return found;
}

void MemoryState::put(ByteView key, Bytes value) {
    values_.insert_or_assign(base::to_bytes(key), std::move(value));
}

void MemoryState::erase(ByteView key) { values_.erase(base::to_bytes(key)); }

}  // namespace assay::contracts
