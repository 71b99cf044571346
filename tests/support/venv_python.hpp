// SPDX-License-Identifier: Apache-2.0
// The Python of the project's own test setup, with the packages of .ci/requirements-test.txt.
#pragma once

#include <cstdlib>
#include <filesystem>

#include "tests/support/catch.hpp"

namespace assay::test {

/// A missing one is a failure, never a skip.
inline std::filesystem::path venv_python() {
    const char* source = std::getenv("ASSAY_SOURCE_DIR");
    REQUIRE(source != nullptr);
    const std::filesystem::path python = std::filesystem::path(source) / ".venv" / "bin" / "python";
    if (!std::filesystem::exists(python)) FAIL(python.string() + " is missing; `.ci/setup test` makes it");
    return python;
}

}  // namespace assay::test
