// SPDX-License-Identifier: Apache-2.0
// Gives the reader, the writer and the reference page of job files one table of the keys.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "contracts/program/limits.hpp"
#include "node/config/job_file.hpp"

namespace assay::node {

/// A value as the file writes it.
using JobValue = std::variant<std::string, std::int64_t, double>;

enum class JobKeyType : std::uint8_t {
    kText,    ///< quoted
    kChoice,  ///< quoted, one of a few words
    kPath,    ///< quoted, relative to the job file
    kMoney,   ///< quoted: "1.5" is ASY, "250u" is base units
    kWhole,   ///< an integer
    kNumber,  ///< an integer or a fraction
};

struct JobKey {
    const char* section;
    const char* name;
    JobKeyType type;
    const program::Limit* limit;       ///< null for keys without a range
    bool zero_is_standard;             ///< 0 is outside the range and asks for the model family's own value
    std::vector<std::string> words;    ///< the choices
    std::optional<JobValue> standard;  ///< default when the key is missing; nothing: the key is required
    const char* meaning;
    /// Puts an allowed value into the job; false when it still fits no job.
    bool (*put)(JobFile&, const JobValue&);
    /// The value for which put() gives the same job.
    JobValue (*get)(const JobFile&);

    [[nodiscard]] std::string path() const { return std::string(section) + "." + name; }
};

/// In the order of the file.
const std::vector<JobKey>& job_keys();

/// Whether the key's words or limit allow this value. REQUIRES a value of the key's type.
bool is_allowed(const JobKey& key, const JobValue& value);

/// The value in the form of the table of limits; nothing for a text that is no amount of money. REQUIRES a
/// limit.
std::optional<program::FieldValue> field_value(const JobKey& key, const JobValue& value);

/// "whole number from 1 to 1024": what a value of this key must be.
std::string allowed(const JobKey& key);

/// As TOML writes it.
std::string to_toml(const JobValue& value);

/// The candidate with the fewest edits from `word`; empty when none is near enough.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

}  // namespace assay::node
