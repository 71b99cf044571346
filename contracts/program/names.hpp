// SPDX-License-Identifier: Apache-2.0
// Gives job files and commands the words by which people choose what a JobSpec names by number.
#pragma once

#include <optional>
#include <string_view>

#include "contracts/program/job_spec.hpp"

namespace assay::program {

/// "f32", "i16".
std::string_view to_text(Profile profile);
/// "gpt2", "llama".
std::string_view to_text(Family family);
/// "tied", "untied".
std::string_view to_text(Head head);

/// The value that to_text gives `word` for.
std::optional<Profile> parse_profile(std::string_view word);
std::optional<Family> parse_family(std::string_view word);
std::optional<Head> parse_head(std::string_view word);

}  // namespace assay::program
