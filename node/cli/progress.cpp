// SPDX-License-Identifier: Apache-2.0
#include "node/cli/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <ostream>

namespace assay::node {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kSilence{2000};
constexpr std::chrono::milliseconds kRedraw{200};    // on a terminal
constexpr std::chrono::milliseconds kNewLine{5000};  // elsewhere
constexpr std::uint64_t kBarWidth = 24;

}  // namespace

ProgressBar::ProgressBar(std::ostream& err, std::string label, std::string unit)
    : err_(err),
      label_(std::move(label)),
      unit_(std::move(unit)),
      terminal_(&err == &std::cerr && ::isatty(STDERR_FILENO) == 1),
      begin_(steady_clock::now()),
      last_(begin_) {}

ProgressBar::~ProgressBar() {
    if (terminal_ && printed_) err_ << '\n';
}

void ProgressBar::update(std::uint64_t done, std::uint64_t total) {
    const auto now = steady_clock::now();
    if (!counting_) {
        // What came before the first step (opening, evaluating) says nothing about the rate.
        counting_ = true;
        begin_ = now;
        first_ = done;
    }
    const bool finished = total > 0 && done >= total;
    if (now - begin_ < kSilence) return;
    if (printed_ && !finished && now - last_ < (terminal_ ? kRedraw : kNewLine)) return;
    last_ = now;
    printed_ = true;

    const double seconds = std::chrono::duration<double>(now - begin_).count();
    const double rate = static_cast<double>(done - first_) / seconds;
    const double left = rate > 0 && total > done ? static_cast<double>(total - done) / rate : 0;
    char numbers[96];
    std::snprintf(numbers, sizeof numbers, "%llu/%llu %s  %.1f/s  %.0f s left",
                  static_cast<unsigned long long>(done), static_cast<unsigned long long>(total),
                  unit_.c_str(), rate, left);
    if (!terminal_) {
        err_ << label_ << ": " << numbers << std::endl;
        return;
    }
    const std::uint64_t filled = total == 0 ? 0 : std::min(kBarWidth, done * kBarWidth / total);
    const std::string bar = std::string(filled, '#') + std::string(kBarWidth - filled, '.');
    err_ << '\r' << label_ << " [" << bar << "] " << numbers << "   " << std::flush;
}

}  // namespace assay::node
