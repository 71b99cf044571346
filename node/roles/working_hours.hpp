// SPDX-License-Identifier: Apache-2.0
// Gives the miner WorkingHours, the hours of the day in which it may take on work.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contracts/base/error.hpp"

namespace assay::node {

class WorkingHours {
public:
    /// All day.
    WorkingHours() = default;

    /// Parses ranges of local time, separated by commas: "22:00-06:00,12:00-13:30". A range ends before its
    /// second time, which may be on the next day; 24:00 is the end of a day. kUsage for other texts, and for
    /// an empty range.
    static base::Outcome<WorkingHours> parse(std::string_view text);

    /// Milliseconds of working hours left at `local_ms` (Clock::local_ms()). Ranges that meet count as one. 0
    /// outside the hours; nothing when the hours never end.
    [[nodiscard]] std::optional<std::uint64_t> left_ms(std::int64_t local_ms) const;

    /// "22:00-06:00, 12:00-13:30"; "all day".
    [[nodiscard]] std::string text() const;

private:
    /// Minutes of a day. `end` is above `begin`; it is above a day's minutes when it lies on the next day.
    struct Range {
        std::uint32_t begin = 0;
        std::uint32_t end = 0;
    };
    std::vector<Range> ranges_;
};

}  // namespace assay::node
