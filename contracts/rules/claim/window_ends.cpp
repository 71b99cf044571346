// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/claim/window_ends.hpp"

#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/state/deadlines.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

Bytes prefix_of(const Hash256& job, std::uint64_t height) {
    return KeyBuilder(Table::kWindowEnd).add(job.view()).add_number(height, 8).take();
}

}  // namespace

Bytes window_end_key(const ClaimId& id, std::uint64_t height) {
    // Behind the height the claim's name, as in its own key.
    Bytes key = prefix_of(id.job, height);
    const Bytes name = claim_key(id);
    key.insert(key.end(), name.begin() + 1 + 32, name.end());
    return key;
}

std::optional<ClaimId> claim_of_window_end(ByteView key, std::uint64_t& height) {
    constexpr std::size_t kHeight = 1 + 32;
    if (key.size() < kHeight + 8) return std::nullopt;
    height = number_in(key.subspan(kHeight, 8));
    Bytes name = base::to_bytes(key.first(kHeight));
    const ByteView rest = key.subspan(kHeight + 8);
    name.insert(name.end(), rest.begin(), rest.end());
    return claim_of(name);
}

std::vector<ClaimId> list_window_ends(const StateView& state, const Hash256& job, std::uint64_t height) {
    std::vector<ClaimId> found;
    const Bytes prefix = prefix_of(job, height);
    state.for_each(prefix, prefix, [&](ByteView key, ByteView) {
        std::uint64_t same = 0;
        found.push_back(required(claim_of_window_end(key, same)));
        return true;
    });
    return found;
}

bool has_window_end(const StateView& state, const Hash256& job, std::uint64_t height) {
    return has_any(state, prefix_of(job, height));
}

void note_window_end(State& state, const ClaimId& id, std::uint64_t height) {
    state.put(window_end_key(id, height), {});
    state.put(deadline_key({height, DueKind::kWindows, id.job}), {});
}

void forget_window_end(State& state, const ClaimId& id, std::uint64_t height) {
    const Bytes key = window_end_key(id, height);
    if (!state.get(key)) return;
    state.erase(key);
    if (!has_window_end(state, id.job, height))
        state.erase(deadline_key({height, DueKind::kWindows, id.job}));
}

}  // namespace assay::contracts
