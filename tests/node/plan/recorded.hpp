// SPDX-License-Identifier: Apache-2.0
// The curves that lie in docs/, for tests of what is predicted from them.
#pragma once

#include <cstdlib>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"

namespace assay::test {

inline nlohmann::json recorded_json(const std::string& name) {
    const char* source = std::getenv("ASSAY_SOURCE_DIR");
    REQUIRE(source != nullptr);
    std::ifstream file(std::string(source) + "/docs/" + name);
    REQUIRE(file.good());
    return nlohmann::json::parse(file);
}

}  // namespace assay::test
