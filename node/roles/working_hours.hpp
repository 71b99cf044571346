// SPDX-License-Identifier: Apache-2.0
// Gives the miner WorkingHours, the hours of a day in which its owner lets it take on work.
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

    /// Ranges of local time with commas between them: "22:00-06:00,12:00-13:30". A range ends before its
    /// second time, which may be the next day's; 24:00 is the end of a day. kUsage for other texts, and for a
    /// range without a minute.
    static base::Outcome<WorkingHours> parse(std::string_view text);

    /// Milliseconds of work that are left from this moment of local time on (milliseconds since 1970 of a
    /// clock that shows local time): ranges that meet are one. 0 outside of them; nothing: without an end.
    [[nodiscard]] std::optional<std::uint64_t> left_ms(std::int64_t local_ms) const;

    /// "22:00-06:00, 12:00-13:30"; "all day".
    [[nodiscard]] std::string text() const;

private:
    /// Minutes of a day. `end` is above `begin`, and above a day's end where it is the next day's.
    struct Range {
        std::uint32_t begin = 0;
        std::uint32_t end = 0;
    };
    std::vector<Range> ranges_;
};

}  // namespace assay::node
