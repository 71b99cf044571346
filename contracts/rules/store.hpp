// SPDX-License-Identifier: Apache-2.0
// Typed reading and writing of state records. Internal to the rules.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "contracts/rules/tables.hpp"

namespace assay::contracts {

/// The record that the rules themselves encoded; anything else is damage to the store.
template <class T>
T stored(ByteView bytes) {
    auto decoded = base::decode<T>(bytes);
    ASSAY_CHECK(decoded.ok());
    return std::move(decoded).value();
}

template <class T>
std::optional<T> load(const StateView& state, const Bytes& key) {
    const auto bytes = state.get(key);
    if (!bytes) return std::nullopt;
    return stored<T>(*bytes);
}

template <class T>
void store(State& state, const Bytes& key, const T& record) {
    state.put(key, base::encode(record));
}

Bytes table_prefix(Table table);
/// From here on `params` is the current set; jobs go on under theirs. REQUIRES check_params.
void set_current_params(State& state, const Params& params);
std::vector<std::pair<PublicKey, Stake>> list_stakes(const StateView& state);
std::vector<std::pair<PublicKey, NodeKey>> list_node_keys(const StateView& state);

}  // namespace assay::contracts
