// SPDX-License-Identifier: Apache-2.0
// Gives readers of TOML files their errors: where in the file something stands, and which known name was
// meant. Internal to node/config.
#pragma once

#include <toml++/toml.h>

#include <string>
#include <string_view>
#include <vector>

#include "contracts/base/error.hpp"

namespace assay::node {

/// "FILE:LINE: "
std::string at_line(std::string_view file, const toml::source_region& source);

/// kUsage: a section or key (`kind`) that nobody knows; the fix is the nearest known name, else all of them.
base::Failed<base::Error> unknown_name(const std::string& where, const std::string& kind,
                                       const std::string& name, const std::vector<std::string>& known);

/// kUsage: the text is not TOML; `fix` says where its form is described.
base::Failed<base::Error> not_toml(std::string_view file, const toml::parse_error& error,
                                   const std::string& fix);

}  // namespace assay::node
