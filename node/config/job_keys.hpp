// SPDX-License-Identifier: Apache-2.0
// The keys of a job file: one table for reader, writer and reference page.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

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
    double least;                      ///< of numbers, included
    double most;                       ///< of numbers, included
    std::vector<std::string> words;    ///< of choices
    std::optional<JobValue> standard;  ///< taken when the key is missing; none: the key must be there
    const char* meaning;
    /// Puts a value of the right type and range into the job; false when it fits no job all the same.
    bool (*put)(JobFile&, const JobValue&);
    /// The value that put() would read back as the same.
    JobValue (*get)(const JobFile&);

    [[nodiscard]] std::string path() const { return std::string(section) + "." + name; }
};

/// In the order of the file.
const std::vector<JobKey>& job_keys();

/// "whole number from 1 to 1024": what a value of this key must be.
std::string allowed(const JobKey& key);

/// As TOML writes it.
std::string to_toml(const JobValue& value);

/// The candidate with the fewest edits from `word`; empty when none is near enough to be meant.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

}  // namespace assay::node
