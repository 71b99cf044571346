// SPDX-License-Identifier: Apache-2.0
#include "node/worker/program/pacer.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

#include "contracts/base/check.hpp"

namespace assay::verifier {

namespace {
constexpr unsigned kWhole = 100;
// A clock that jumped, or a machine that slept, must not put a worker to sleep for weeks.
constexpr std::chrono::nanoseconds kLongestBusy = std::chrono::hours(24);
}  // namespace

std::chrono::nanoseconds rest_after(std::chrono::nanoseconds busy, unsigned duty) {
    ASSAY_CHECK(duty >= 1 && duty <= kWhole);
    const auto counted = std::clamp(busy, std::chrono::nanoseconds(0), kLongestBusy);
    return std::chrono::nanoseconds(counted.count() * (kWhole - duty) / duty);
}

base::Outcome<unsigned> duty_from_environment() {
    const char* value = std::getenv("ASSAY_DUTY");
    if (value == nullptr || *value == '\0') return kWhole;
    const std::string_view text(value);
    unsigned duty = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), duty);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || duty < 1 || duty > kWhole) {
        return base::fail(base::ErrorKind::kUsage, "ASSAY_DUTY: '" + std::string(text) + "' is not allowed",
                          "use a number from 1 to 100: percent of the time in which the worker computes");
    }
    return duty;
}

std::chrono::nanoseconds Pacer::due(Moment now) {
    owed_ += rest_after(now - busy_from_, duty_);
    busy_from_ = now;
    return owed_;
}

void Pacer::rested(std::chrono::nanoseconds slept) {
    owed_ = std::max(std::chrono::nanoseconds(0), owed_ - slept);
    busy_from_ += slept;
}

}  // namespace assay::verifier
