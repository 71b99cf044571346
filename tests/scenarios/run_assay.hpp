// SPDX-License-Identifier: Apache-2.0
// Runs of the built program and of transformers, for scenarios that need no network.
#pragma once

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/venv_python.hpp"

namespace assay::tests {

/// Largest difference of two mean losses in binary32 that is rounding and nothing else.
inline constexpr double kLossTolerance = 1e-4;

/// What the command prints with `-o json`; it must succeed.
inline nlohmann::json run_assay(std::vector<std::string> words) {
    words.insert(words.end(), {"-o", "json"});
    const test::ProgramRun run = test::run_program(test::built_program_path("assay"), words);
    INFO("assay " << words[0] << " " << words[1] << ": " << run.err);
    REQUIRE(run.code == 0);
    return nlohmann::json::parse(run.out);
}

/// A script of tests/tools, with transformers at hand.
inline test::ProgramRun run_python(const char* script, std::vector<std::string> words) {
    words.insert(words.begin(), std::string(std::getenv("ASSAY_SOURCE_DIR")) + "/tests/tools/" + script);
    return test::run_program(
        test::venv_python(), words,
        {{"HF_HUB_OFFLINE", "1"}, {"CUDA_VISIBLE_DEVICES", ""}, {"PYTHONDONTWRITEBYTECODE", "1"}});
}

}  // namespace assay::tests
