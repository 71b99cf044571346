// SPDX-License-Identifier: Apache-2.0
#include "node/roles/working_hours.hpp"

#include "tests/support/catch.hpp"

using namespace assay;
using node::WorkingHours;

namespace {

constexpr std::int64_t kMinute = 60'000;
constexpr std::int64_t kDays = 20'000 * 24 * 60 * kMinute;

WorkingHours hours(const char* text) {
    auto parsed = WorkingHours::parse(text);
    if (!parsed.ok()) FAIL(parsed.error().what);
    return std::move(parsed).value();
}

/// Minutes that are left at a time of day.
std::uint64_t left(const WorkingHours& all, std::int64_t hour, std::int64_t minute) {
    const auto ms = all.left_ms(kDays + (60 * hour + minute) * kMinute);
    REQUIRE(ms.has_value());
    return *ms / kMinute;
}

}  // namespace

TEST_CASE("hours of work hold from their beginning to before their end, over midnight too") {
    const WorkingHours night = hours("22:00-06:00");
    CHECK(left(night, 21, 59) == 0);
    CHECK(left(night, 22, 0) == 8 * 60);
    CHECK(left(night, 23, 30) == 6 * 60 + 30);
    CHECK(left(night, 0, 0) == 6 * 60);
    CHECK(left(night, 5, 59) == 1);
    CHECK(left(night, 6, 0) == 0);
    CHECK(left(night, 12, 0) == 0);
    CHECK(night.left_ms(kDays + 5 * 60 * kMinute + 59 * kMinute + 59'999) == 1);
    CHECK(night.text() == "22:00-06:00");
}

TEST_CASE("ranges that meet are one, and all of a day has no end") {
    const WorkingHours two = hours("18:00-24:00,00:00-02:00,12:00-13:30");
    CHECK(left(two, 23, 0) == 3 * 60);
    CHECK(left(two, 1, 0) == 60);
    CHECK(left(two, 12, 30) == 60);
    CHECK(left(two, 14, 0) == 0);
    CHECK(two.text() == "18:00-24:00, 00:00-02:00, 12:00-13:30");
    CHECK_FALSE(hours("06:00-18:00,18:00-06:00").left_ms(kDays).has_value());
    CHECK_FALSE(hours("00:00-24:00").left_ms(kDays).has_value());
    CHECK_FALSE(WorkingHours().left_ms(kDays).has_value());
    CHECK(WorkingHours().text() == "all day");
}

TEST_CASE("what every minute of a day says follows from the ranges alone") {
    // A slow witness: minute by minute, as far as the hours go on.
    const std::pair<int, int> ranges[] = {{9 * 60, 12 * 60}, {11 * 60, 14 * 60 + 7}, {23 * 60, 24 * 60 + 90}};
    const WorkingHours all = hours("09:00-12:00,11:00-14:07,23:00-01:30");
    const auto works = [&](int minute) {
        for (const auto& [begin, end] : ranges)
            for (const int at : {minute % 1440, minute % 1440 + 1440})
                if (at >= begin && at < end) return true;
        return false;
    };
    for (int minute = 0; minute < 1440; ++minute) {
        int further = minute;
        while (works(further)) ++further;
        CAPTURE(minute);
        CHECK(left(all, 0, minute) == static_cast<std::uint64_t>(further - minute));
    }
}

TEST_CASE("texts that are no hours are refused with the part that is none") {
    for (const char* text : {"", "22:00", "22:00-", "-06:00", "22:00-22:00", "24:00-06:00", "22:00-00:00",
                             "22:60-06:00", "25:00-06:00", "22:00-06:00,", "22:00 -06:00", "2200-0600",
                             "22:00-06:00-07:00", "+2:00-06:00", "22:00-24:01"}) {
        const auto refused = WorkingHours::parse(text);
        CAPTURE(text);
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.error().kind == base::ErrorKind::kUsage);
        CHECK_FALSE(refused.error().fix.empty());
    }
    const auto second = WorkingHours::parse("22:00-06:00,noon-13:00");
    REQUIRE_FALSE(second.ok());
    CHECK(second.error().what.find("noon-13:00") != std::string::npos);
}
