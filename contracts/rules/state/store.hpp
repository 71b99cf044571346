// SPDX-License-Identifier: Apache-2.0
// Typed keys, reading and writing of state records, for the tables of every subject. Internal to the rules.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "contracts/base/sign.hpp"
#include "contracts/rules/state/tables.hpp"

namespace assay::contracts {

using base::PublicKey;

/// Builds a key. Numbers are big-endian, so that they sort as numbers.
class KeyBuilder {
public:
    explicit KeyBuilder(Table table) { bytes_.push_back(static_cast<std::uint8_t>(table)); }
    KeyBuilder& add(ByteView part) {
        bytes_.insert(bytes_.end(), part.begin(), part.end());
        return *this;
    }
    KeyBuilder& add_number(std::uint64_t value, int bytes) {
        for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
            bytes_.push_back(static_cast<std::uint8_t>(value >> shift & 0xffU));
        }
        return *this;
    }
    [[nodiscard]] Bytes take() { return std::move(bytes_); }

private:
    Bytes bytes_;
};

/// A number of a key, as KeyBuilder put it there.
inline std::uint64_t number_in(ByteView part) {
    std::uint64_t value = 0;
    for (const std::uint8_t byte : part) value = value << 8 | byte;
    return value;
}

/// Decodes a record that the rules themselves encoded. Ends the process on anything else: the store is
/// damaged.
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

/// Stores the record unless the state already holds the same one, so that only a change is written.
template <class T>
void store_changed(State& state, const Bytes& key, const T& record) {
    Bytes bytes = base::encode(record);
    if (state.get(key) != bytes) state.put(key, std::move(bytes));
}

template <class T>
T required(std::optional<T> found) {
    ASSAY_CHECK(found.has_value());
    return std::move(*found);
}

/// Whether any key has this prefix. Reads one entry.
inline bool has_any(const StateView& state, const Bytes& prefix) {
    bool any = false;
    state.for_each(prefix, prefix, [&](ByteView, ByteView) {
        any = true;
        return false;
    });
    return any;
}

/// The records of all keys with this prefix, keys ascending.
template <class T>
std::vector<T> list_values(const StateView& state, const Bytes& prefix) {
    std::vector<T> found;
    state.for_each(prefix, prefix, [&](ByteView, ByteView value) {
        found.push_back(stored<T>(value));
        return true;
    });
    return found;
}

/// The records of a table whose keys are one public key each, with their keys.
template <class T>
std::vector<std::pair<PublicKey, T>> list_by_key(const StateView& state, Table table) {
    std::vector<std::pair<PublicKey, T>> found;
    const Bytes prefix = table_prefix(table);
    state.for_each(prefix, prefix, [&](ByteView key, ByteView value) {
        ASSAY_CHECK(key.size() == 33);
        PublicKey name;
        std::copy(key.begin() + 1, key.end(), name.bytes.begin());
        found.emplace_back(name, stored<T>(value));
        return true;
    });
    return found;
}

}  // namespace assay::contracts
