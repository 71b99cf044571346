// SPDX-License-Identifier: Apache-2.0
#include "node/roles/working_hours.hpp"

#include <algorithm>

namespace assay::node {

namespace {

constexpr std::uint32_t kDay = 24 * 60;  // minutes
constexpr std::int64_t kMinuteMs = 60'000;

std::optional<std::uint32_t> number(std::string_view digits) {
    if (digits.size() != 2) return std::nullopt;
    std::uint32_t value = 0;
    for (const char digit : digits) {
        if (digit < '0' || digit > '9') return std::nullopt;
        value = 10 * value + static_cast<std::uint32_t>(digit - '0');
    }
    return value;
}

/// Minutes of "HH:MM", up to 24:00.
std::optional<std::uint32_t> minute_of(std::string_view text) {
    if (text.size() != 5 || text[2] != ':') return std::nullopt;
    const auto hours = number(text.substr(0, 2));
    const auto minutes = number(text.substr(3));
    if (!hours || !minutes || *minutes > 59) return std::nullopt;
    const std::uint32_t minute = 60 * *hours + *minutes;
    return minute > kDay ? std::nullopt : std::optional(minute);
}

std::string clock_text(std::uint32_t minute) {
    const auto two = [](std::uint32_t value) { return (value < 10 ? "0" : "") + std::to_string(value); };
    return two(minute / 60) + ":" + two(minute % 60);
}

}  // namespace

base::Outcome<WorkingHours> WorkingHours::parse(std::string_view text) {
    WorkingHours hours;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t end = std::min(text.find(',', from), text.size());
        const std::string_view one = text.substr(from, end - from);
        const std::size_t dash = std::min(one.find('-'), one.size());
        const auto first = minute_of(one.substr(0, dash));
        const auto last = minute_of(one.substr(std::min(dash + 1, one.size())));
        if (!first || !last || *first == *last || *first == kDay || *last == 0) {
            return base::fail(base::ErrorKind::kUsage, "'" + std::string(one) + "' is no range of hours",
                              "write HH:MM-HH:MM, like 22:00-06:00 or 18:00-24:00, several with commas");
        }
        hours.ranges_.push_back({*first, *last < *first ? *last + kDay : *last});
        from = end + 1;
    }
    return hours;
}

std::optional<std::uint64_t> WorkingHours::left_ms(std::int64_t local_ms) const {
    if (ranges_.empty()) return std::nullopt;
    const std::int64_t of_day = ((local_ms % (kDay * kMinuteMs)) + kDay * kMinuteMs) % (kDay * kMinuteMs);
    const auto minute = static_cast<std::uint32_t>(of_day / kMinuteMs);
    std::uint32_t reached = minute;  // of this day or the next one
    for (bool further = true; further;) {
        further = false;
        for (const Range& range : ranges_) {
            for (const std::uint32_t shift : {0U, kDay, 2 * kDay}) {
                // Yesterday, today and tomorrow, counted from the beginning of yesterday.
                const bool holds =
                    reached + kDay >= range.begin + shift && reached + kDay < range.end + shift;
                if (!holds) continue;
                reached = range.end + shift - kDay;
                further = true;
            }
        }
        if (reached >= minute + kDay) return std::nullopt;  // they cover the day
    }
    if (reached == minute) return 0;
    const std::int64_t left = std::int64_t{reached} * kMinuteMs - of_day;
    return static_cast<std::uint64_t>(left);
}

std::string WorkingHours::text() const {
    std::string all;
    for (const Range& range : ranges_) {
        const std::uint32_t end = range.end > kDay ? range.end - kDay : range.end;
        all += (all.empty() ? "" : ", ") + clock_text(range.begin) + "-" + clock_text(end);
    }
    return all.empty() ? "all day" : all;
}

}  // namespace assay::node
