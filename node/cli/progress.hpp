// SPDX-License-Identifier: Apache-2.0
// Gives commands ProgressBar, which shows progress on stderr: a bar that rewrites its line on a terminal,
// else a line every few seconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <string>

namespace assay::node {

/// Silent for the first two seconds, so that quick work prints nothing. Not thread-safe.
class ProgressBar {
public:
    /// `unit` names what is counted ("steps").
    ProgressBar(std::ostream& err, std::string label, std::string unit);
    /// Ends the bar's line.
    ~ProgressBar();
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;

    void update(std::uint64_t done, std::uint64_t total);

private:
    std::ostream& err_;
    std::string label_;
    std::string unit_;
    bool terminal_;
    bool printed_ = false;
    bool counting_ = false;
    std::uint64_t first_ = 0;  ///< done at the first update
    std::chrono::steady_clock::time_point begin_;
    std::chrono::steady_clock::time_point last_;
};

}  // namespace assay::node
