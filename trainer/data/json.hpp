// SPDX-License-Identifier: Apache-2.0
// Strict JSON for files that carry roots and ids: repeated keys, unknown keys and wrong types are refused.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "contracts/base/error.hpp"
#include "contracts/base/hash.hpp"

namespace assay::trainer {

/// Parses UTF-8 JSON; `where` names the file in errors. Repeated keys, nesting deeper than 32 and anything
/// after the value are refused. Errors: kUsage.
base::Outcome<nlohmann::json> parse_json(std::string_view text, std::string_view where);

/// Reads the keys of one object one by one and remembers the first error; values read after it are empty.
/// Call finish() last: it returns that error, and also refuses keys that nobody asked for.
class ObjectReader {
public:
    ObjectReader(const nlohmann::json& value, std::string where);

    std::string text(const char* key);
    /// An integer in [least, most].
    std::uint64_t number(const char* key, std::uint64_t least, std::uint64_t most);
    /// 64 lower-case hexadecimal digits.
    base::Hash256 hash(const char* key);
    /// The value as it is; null when missing, which is an error.
    const nlohmann::json& value(const char* key);
    /// True when the key is present; does not count as asking for it.
    [[nodiscard]] bool has(const char* key) const;
    /// Records an error of the caller's, unless there is one already.
    void refuse(std::string what);

    [[nodiscard]] base::Outcome<void> finish();

private:
    const nlohmann::json& object_;
    std::string where_;
    std::set<std::string> asked_;
    std::optional<std::string> wrong_;
};

}  // namespace assay::trainer
