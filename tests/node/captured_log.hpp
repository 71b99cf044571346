// SPDX-License-Identifier: Apache-2.0
// The process's log goes to standard error; while a CapturedLog lives, that is a file.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "node/runtime/log.hpp"
#include "tests/support/catch.hpp"

namespace assay::node::test_market {

class CapturedLog {
public:
    explicit CapturedLog(std::filesystem::path file) : file_(std::move(file)), error_(::dup(2)) {
        REQUIRE(std::freopen(file_.c_str(), "w", stderr) != nullptr);
        REQUIRE(start_log("info", "role").ok());
    }
    ~CapturedLog() {
        (void)std::fflush(stderr);
        (void)::dup2(error_, 2);
        (void)::close(error_);
    }
    CapturedLog(const CapturedLog&) = delete;
    CapturedLog& operator=(const CapturedLog&) = delete;
    [[nodiscard]] std::string text() const {
        (void)std::fflush(stderr);
        std::stringstream all;
        all << std::ifstream(file_).rdbuf();
        return all.str();
    }
    /// Lines that hold `words`.
    [[nodiscard]] int lines_with(const std::string& words) const {
        std::istringstream lines(text());
        int count = 0;
        for (std::string line; std::getline(lines, line);)
            count += line.find(words) != std::string::npos ? 1 : 0;
        return count;
    }

private:
    std::filesystem::path file_;
    int error_;
};

}  // namespace assay::node::test_market
