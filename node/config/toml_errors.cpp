// SPDX-License-Identifier: Apache-2.0
#include "node/config/toml_errors.hpp"

#include "node/config/job_keys.hpp"

namespace assay::node {

using base::ErrorKind;

std::string at_line(std::string_view file, const toml::source_region& source) {
    return std::string(file) + ":" + std::to_string(source.begin.line) + ": ";
}

base::Failed<base::Error> unknown_name(const std::string& where, const std::string& kind,
                                       const std::string& name, const std::vector<std::string>& known) {
    const std::string meant = nearest(name, known);
    std::string all;
    for (const std::string& word : known) all += (all.empty() ? "" : ", ") + word;
    return base::fail(ErrorKind::kUsage, where + "unknown " + kind + " \"" + name + "\"",
                      meant.empty() ? "known here: " + all : "did you mean \"" + meant + "\"?");
}

base::Failed<base::Error> not_toml(std::string_view file, const toml::parse_error& error,
                                   const std::string& fix) {
    return base::fail(ErrorKind::kUsage,
                      at_line(file, error.source()) + "not TOML: " + std::string(error.description()), fix);
}

}  // namespace assay::node
