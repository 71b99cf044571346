// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/state/state.hpp"

#include <algorithm>

namespace assay::contracts {

namespace {

bool begins_with(const Bytes& key, ByteView prefix) {
    return key.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), key.begin());
}

bool below(ByteView first, ByteView second) {
    return std::lexicographical_compare(first.begin(), first.end(), second.begin(), second.end());
}

/// The first key that a walk may visit.
Bytes start_of(ByteView prefix, ByteView from) { return base::to_bytes(below(prefix, from) ? from : prefix); }

/// The key as a map of keys looks for it. It stays where it is until the next call in this thread, so that a
/// lookup, of which a block makes tens of thousands, allocates nothing.
const Bytes& sought(ByteView key) {
    thread_local Bytes bytes;
    bytes.assign(key.begin(), key.end());
    return bytes;
}

}  // namespace

std::vector<std::pair<Bytes, Bytes>> StateView::scan(ByteView prefix) const {
    std::vector<std::pair<Bytes, Bytes>> found;
    for_each(prefix, prefix, [&](ByteView key, ByteView value) {
        found.emplace_back(base::to_bytes(key), base::to_bytes(value));
        return true;
    });
    return found;
}

std::optional<Bytes> Overlay::get(ByteView key) const {
    const auto found = changes_.find(sought(key));
    return found != changes_.end() ? found->second : under_.get(key);
}

// Two ascending runs, merged: where both have a key, the change stands for the pair below it.
void Overlay::for_each(ByteView prefix, ByteView from, const Visitor& visit) const {
    const Bytes start = start_of(prefix, from);
    auto own = changes_.lower_bound(start);
    const auto owns = [&] { return own != changes_.end() && begins_with(own->first, prefix); };
    bool going = true;
    const auto visit_own = [&] {
        if (own->second) going = visit(own->first, *own->second);
        ++own;
    };
    under_.for_each(prefix, start, [&](ByteView key, ByteView value) {
        while (going && owns() && below(own->first, key)) visit_own();
        if (!going) return false;
        if (owns() && !below(key, own->first)) {
            visit_own();
        } else {
            going = visit(key, value);
        }
        return going;
    });
    while (going && owns()) visit_own();
}

void Overlay::put(ByteView key, Bytes value) {
    changes_.insert_or_assign(base::to_bytes(key), std::move(value));
}

void Overlay::erase(ByteView key) { changes_.insert_or_assign(base::to_bytes(key), std::nullopt); }

void Overlay::hand_over(ByteView key, Bytes row) {
    history_.insert_or_assign(base::to_bytes(key), std::move(row));
}

void Overlay::write_to(State& target) const {
    for (const auto& [key, row] : history_) target.hand_over(key, row);
    for (const auto& [key, value] : changes_) {
        if (value) {
            target.put(key, *value);
        } else {
            target.erase(key);
        }
    }
}

std::optional<Bytes> MemoryState::get(ByteView key) const {
    const auto found = values_.find(sought(key));
    if (found == values_.end()) return std::nullopt;
    return found->second;
}

void MemoryState::for_each(ByteView prefix, ByteView from, const Visitor& visit) const {
    for (auto it = values_.lower_bound(start_of(prefix, from));
         it != values_.end() && begins_with(it->first, prefix); ++it) {
        if (!visit(it->first, it->second)) return;
    }
}

void MemoryState::put(ByteView key, Bytes value) {
    values_.insert_or_assign(base::to_bytes(key), std::move(value));
}

void MemoryState::erase(ByteView key) { values_.erase(sought(key)); }

void MemoryState::hand_over(ByteView key, Bytes row) {
    history_.insert_or_assign(base::to_bytes(key), std::move(row));
}

History MemoryState::take_history() { return std::exchange(history_, {}); }

}  // namespace assay::contracts
