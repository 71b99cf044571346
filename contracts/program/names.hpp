// SPDX-License-Identifier: Apache-2.0
// The words for the enumerations of a JobSpec, for job files and commands.
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

/// The value whose to_text is `word`; nothing when there is none.
std::optional<Profile> parse_profile(std::string_view word);
std::optional<Family> parse_family(std::string_view word);
std::optional<Head> parse_head(std::string_view word);

}  // namespace assay::program
