// SPDX-License-Identifier: Apache-2.0
#include "contracts/base/bytes.hpp"
#include "tests/support/catch.hpp"

namespace {
using namespace assay::base;
using namespace std::string_view_literals;
}  // namespace

TEST_CASE("hexadecimal has one spelling") {
    CHECK(to_hex(Bytes{0x00, 0x0f, 0xff}) == "000fff");
    CHECK(from_hex("000fff") == Bytes{0x00, 0x0f, 0xff});
    CHECK(from_hex("") == Bytes{});
    CHECK_FALSE(from_hex("0"));
    CHECK_FALSE(from_hex("0F"));
    CHECK_FALSE(from_hex("0g"));
    CHECK_FALSE(from_hex("0x"));
}

TEST_CASE("UTF-8 is accepted as RFC 3629 has it and in no other form") {
    for (const auto good : {""sv, "a"sv, "\0"sv, "\x7f"sv, "\xc2\x80"sv, "\xdf\xbf"sv, "\xe0\xa0\x80"sv,
                            "\xed\x9f\xbf"sv, "\xee\x80\x80"sv, "\xf0\x90\x80\x80"sv, "\xf4\x8f\xbf\xbf"sv}) {
        CHECK(is_utf8(good));
    }
    for (const auto bad : {"\x80"sv, "\xbf"sv, "\xc0\x80"sv, "\xc1\xbf"sv, "\xe0\x9f\xbf"sv, "\xed\xa0\x80"sv,
                           "\xf0\x8f\xbf\xbf"sv, "\xf4\x90\x80\x80"sv, "\xf5\x80\x80\x80"sv, "\xff"sv,
                           "\xc2"sv, "\xe0\xa0"sv, "\xf0\x90\x80"sv, "\xc2\x41"sv, "a\xe2\x28\xa1"sv}) {
        CHECK_FALSE(is_utf8(bad));
    }
}
