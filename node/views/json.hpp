// SPDX-License-Identifier: Apache-2.0
// Gives every output its JSON, one encoding of records that name their fields. A record has
//
// template <class Visit>
// void fields(Visit& visit) const { visit("name", member); … }
//
// and becomes an object with these members, in this order. docs/reference/json.md lists them all.
#pragma once

#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "contracts/base/amount.hpp"

namespace assay::node {

using Json = nlohmann::ordered_json;

/// A count of base units that need not be an Amount: a sum, or what an audit found in a damaged ledger.
struct Units {
    std::uint64_t count = 0;
};
/// The same for a difference.
struct SignedUnits {
    std::int64_t count = 0;
};

enum class JsonLayout : std::uint8_t { kIndented, kOneLine };

/// The object as text: `schema` first, then the members of `body`. Bytes that are not UTF-8, as names of
/// files and texts of young models may have, are replaced.
std::string json_text(const std::string& schema, const Json& body, JsonLayout layout);

/// An object whose names are data: name and count of what was checked.
using NamedCounts = std::vector<std::pair<std::string, std::uint64_t>>;

class JsonFields;

namespace json_detail {
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::vector<T>> = true;
}  // namespace json_detail

/// Encodes a value. Money is a text of base units, since many readers of JSON cannot hold 64 bits; hashes and
/// keys are hexadecimal digits; an enumerator is its name; an empty optional is null.
template <class T>
Json json_of(const T& value);

/// Collects the fields of one record, or of an object that is printed in only one place.
class JsonFields {
public:
    template <class T>
    void operator()(const char* name, const T& value) {
        object_[name] = json_of(value);
    }
    [[nodiscard]] Json take() { return std::move(object_); }

private:
    Json object_ = Json::object();
};

template <class T>
Json json_of(const T& value) {
    if constexpr (requires(JsonFields & visit) { value.fields(visit); }) {
        JsonFields fields;
        value.fields(fields);
        return fields.take();
    } else if constexpr (std::same_as<T, base::Amount>) {
        return std::to_string(value.units());
    } else if constexpr (std::same_as<T, Units> || std::same_as<T, SignedUnits>) {
        return std::to_string(value.count);
    } else if constexpr (std::same_as<T, NamedCounts>) {
        Json object = Json::object();
        for (const auto& [name, count] : value) object[name] = count;
        return object;
    } else if constexpr (json_detail::is_optional<T>) {
        return value ? json_of(*value) : Json();
    } else if constexpr (json_detail::is_list<T>) {
        Json list = Json::array();
        for (const auto& each : value) list.push_back(json_of(each));
        return list;
    } else if constexpr (std::is_enum_v<T>) {
        return std::string(to_text(value));
    } else if constexpr (requires { value.hex(); }) {
        return value.hex();
    } else {
        return Json(value);
    }
}

}  // namespace assay::node
