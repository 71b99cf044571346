// SPDX-License-Identifier: Apache-2.0
// CurveFile: the JSON lines of a training run, in a file that grows as the run does (main.cpp has the
// format).
#pragma once

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "contracts/base/error.hpp"

namespace assay::parity {

class CurveFile {
public:
    /// The file anew, with the lines that the run has already (may be empty).
    CurveFile(std::filesystem::path path, std::string lines);
    void line(const nlohmann::ordered_json& body);
    /// Every line so far.
    [[nodiscard]] const std::string& text() const { return text_; }
    /// kFailure when a line could not be written.
    [[nodiscard]] base::Outcome<void> check() const;
    /// check(), and waits until all of it is on the disk.
    [[nodiscard]] base::Outcome<void> finish();

private:
    std::filesystem::path path_;
    std::string text_;
    std::ofstream file_;
};

}  // namespace assay::parity
