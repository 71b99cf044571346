// SPDX-License-Identifier: Apache-2.0
#include "contracts/program/mean_loss.hpp"

#include <algorithm>
#include <vector>

#include "tests/support/catch.hpp"

namespace assay::program {

TEST_CASE("a mean loss is the exact mean, rounded once to the nearest, ties to even") {
    struct Row {
        std::vector<std::uint32_t> losses;
        std::uint32_t mean;
    };
    // Of Python's fractions.Fraction.
    const std::vector<Row> rows = {
        {{0x3f800000}, 0x3f800000},
        {{0x3f800000, 0x40000000}, 0x3fc00000},
        {{0x3f800000, 0x3f800001}, 0x3f800000},
        {{0x3f800001, 0x3f800002}, 0x3f800002},
        {{0x00000001, 0x00000000}, 0x00000000},
        {{0x00000001, 0x00000001, 0x00000000}, 0x00000001},
        {{0x00000003, 0x00000000}, 0x00000002},
        {{0x7f7fffff, 0x7f7fffff, 0x7f7fffff}, 0x7f7fffff},
        {{0x7f7fffff, 0xff7fffff}, 0x00000000},
        {{0x80000001, 0x00000000}, 0x00000000},
        {{0x80000000}, 0x00000000},
        {{0x007fffff, 0x00800000}, 0x00800000},
        {{0x00ffffff, 0x01000000}, 0x01000000},
        {{0x7f7fffff, 0x00000001}, 0x7effffff},
        {{0xc0600000, 0x3fa00000, 0x3dcccccd}, 0xbf377777},
        {{0xc8c0a164, 0x50313b2a, 0xce84a27f}, 0x4f5631cc},
        {{0x503180dd, 0x8215ec50, 0x3fdbe0ee, 0x1d50d35e, 0x26330407}, 0x4f0e00b1},
        {{0xa1785df4, 0xda67266d, 0xbc741383, 0x2b11987e, 0xf1b2122a, 0xc27832d0, 0x4d58974f}, 0xf04b8279},
        {{0xb7cc9ab2, 0x62d11750, 0xa3ca9623, 0x79bf8033, 0x9b624c5b, 0xb3a19961, 0x878cfce5, 0x60ac14a5,
          0x17975b9b},
         0x782a3911},
        {{0x40e2cc73, 0x4115c402, 0x4131213e}, 0x4112c3d3},
        {{0x407a5c80, 0x40dd66eb, 0x401a2000, 0x40b560db, 0x40ea3b21, 0x40597cc5}, 0x409dffec},
        {{0x3ff49fce, 0x4126427c, 0x40916f21, 0x401e3899, 0x40c15aa1, 0x40e60163, 0x409faf26}, 0x40ab9bee},
    };
    for (const Row& row : rows) {
        CAPTURE(row.losses);
        CHECK(mean_loss(row.losses) == row.mean);
        auto reversed = row.losses;
        std::reverse(reversed.begin(), reversed.end());
        CHECK(mean_loss(reversed) == row.mean);
    }
}

TEST_CASE("a mean over anything that is no number, and over nothing, has one spelling") {
    for (const std::uint32_t odd :
         {0x7f800000U, 0xff800000U, 0x7fc00000U, 0xffc00000U, 0x7f800001U, 0xffffffffU, 0x7fc00123U}) {
        CHECK(mean_loss(std::vector<std::uint32_t>{0x3f800000U, odd}) == kNoLoss);
        CHECK(mean_loss(std::vector<std::uint32_t>{odd, 0x3f800000U}) == kNoLoss);
    }
    CHECK(mean_loss({}) == kNoLoss);
}

TEST_CASE("as many losses as a round can have do not overflow the mean") {
    const std::vector<std::uint32_t> largest(256U * 16'384U, 0x7f7fffffU);
    CHECK(mean_loss(largest) == 0x7f7fffffU);
}

}  // namespace assay::program
