// SPDX-License-Identifier: Apache-2.0
#include "contracts/base/amount.hpp"

#include "tests/support/catch.hpp"

namespace {
using namespace assay::base;
const Amount kMost = *Amount::of(kAmountMax);
}  // namespace

TEST_CASE("sums and differences that leave the range are refused") {
    CHECK_FALSE(Amount::of(kAmountMax + 1));
    CHECK_FALSE(kMost.plus(units(1)));
    CHECK_FALSE(kMost.plus(kMost));
    CHECK(kMost.plus(units(0)) == kMost);
    CHECK_FALSE(units(4).minus(units(5)));
    CHECK(units(5).minus(units(5)) == Amount());
}

TEST_CASE("products round down for payouts and up for charges, in 128 bits") {
    CHECK(units(10).times(1, 3, Rounding::kDown) == units(3));
    CHECK(units(10).times(1, 3, Rounding::kUp) == units(4));
    CHECK(units(9).times(1, 3, Rounding::kUp) == units(3));
    CHECK(kMost.times(UINT64_MAX, UINT64_MAX, Rounding::kUp) == kMost);
    CHECK_FALSE(kMost.times(2, 1, Rounding::kDown));
    CHECK_FALSE(units(1).times(1, 0, Rounding::kDown));
    CHECK_FALSE(kMost.times(UINT64_MAX, UINT64_MAX - 1, Rounding::kUp));
    CHECK(units(0).times(UINT64_MAX, 1, Rounding::kUp) == units(0));
}

TEST_CASE("amounts are written with six decimals and read back") {
    CHECK(to_text(units(12'000'345)) == "12.000345 ASY");
    CHECK(to_text(units(0)) == "0.000000 ASY");
    CHECK(parse_amount("12.5") == units(12'500'000));
    CHECK(parse_amount("12") == units(12'000'000));
    CHECK(parse_amount("0.000001") == units(1));
    CHECK(parse_amount("7u") == units(7));
    CHECK(parse_amount("4000000000000") == kMost);
    for (const char* bad : {"", "u", ".5", "5.", "1.2.3", "-1", "+1", "1e3", " 1", "1 ", "0.0000001", "1.5u",
                            "4000000000001", "99999999999999999999999", "1,5"}) {
        INFO(bad);
        CHECK_FALSE(parse_amount(bad));
    }
}
