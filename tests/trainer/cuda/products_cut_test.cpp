// SPDX-License-Identifier: Apache-2.0
// Products of profile i16 that are cut along k: how they are planned, and their bits on the emulated GPU.
#include <cmath>

#include "tests/trainer/cuda/products_i16_support.hpp"

namespace assay::trainer::cuda {
namespace {
using arithmetic::ChainStart;
using test::all_processors;
using test::can_try_warpgroups;
using test::CardFloats;
using test::Draw;
using test::ExactProductCase;
using test::few;
using test::I16Shape;
using test::in_every_order;
using test::output;
using test::TestStream;
}  // namespace

TEST_CASE("tiles that are left over are cut so that all processors end together", "[trainer][cuda]") {
    const auto planned = [](std::uint64_t tiles, std::uint64_t blocks, unsigned processors) {
        return split_k({tiles, blocks, 1024, 128 * 128}, {.count = processors});
    };
    // Gradients of GPT-2's weights over eight sequences on an H100: of 768², 768 × 2304 and 768 × 3072.
    CHECK((planned(36, 8, 132).whole == 0 && planned(36, 8, 132).together == 3));
    CHECK(planned(36, 8, 132).parts == 36 * 5);
    CHECK((planned(108, 8, 132).together == 7 && planned(108, 8, 132).parts == 108));
    CHECK((planned(144, 8, 132).whole == 132 && planned(144, 8, 132).together == 1));
    CHECK(planned(144, 8, 132).parts == 12 * 7);
    // Short blocks of k are not worth a part each.
    CHECK_FALSE(split_k({36, 512, 64, 128 * 128}, {.count = 132}).cuts());
    // Nothing is left over, nothing can be cut, or nothing is won.
    for (const SplitK& none : {planned(264, 8, 132), planned(36, 1, 132), planned(131, 8, 132),
                               planned(0, 8, 132), planned(36, 0, 132), planned(36, 8, 1), planned(36, 8, 0)})
        CHECK_FALSE(none.cuts());
    // A whole tile, or what is left of a cut one, never takes longer than the rest; parts fit into their
    // room.
    std::mt19937 random(41);
    for (int i = 0; i < 2000; ++i) {
        const std::uint64_t tiles = random() % 400, blocks = 1 + random() % 200;
        const auto processors = static_cast<unsigned>(1 + random() % 150);
        const SplitK plan = planned(tiles, blocks, processors);
        INFO(tiles << " tiles, " << blocks << " blocks, " << processors << " processors");
        if (!plan.cuts()) continue;
        const std::uint64_t later = tiles - plan.whole;
        REQUIRE(plan.whole % processors == 0);
        REQUIRE(later < processors);
        REQUIRE(plan.parts == later * (blocks - plan.together));
        REQUIRE(plan.together * processors >= later * blocks);
        const bool is_full = (std::uint64_t{plan.parts} + later) * 128 * 128 > kMostPartNumbers;
        REQUIRE((is_full || (plan.together - 1) * processors < later * blocks));
        REQUIRE(std::uint64_t{plan.parts} * 128 * 128 <= kMostPartNumbers);
        REQUIRE(std::uint64_t{plan.parts} * 128 * 128 <=
                most_part_numbers({tiles + random() % 3, blocks + random() % 3, 1, 128 * 128}, processors));
    }
}

TEST_CASE("products that are cut along k have the law's bits", "[trainer][cuda]") {
    if (!can_try_warpgroups()) return;
    // Tiles whole and not, all of them cut and some; one block of k left together, and several.
    struct Cut {
        I16Shape shape;
        unsigned processors[2];  // for A of two digits, of three
    };
    constexpr Cut kCuts[] = {{{20, 30, 100, 40}, {2, 2}},   {{130, 100, 70, 16}, {3, 3}},
                             {{129, 200, 150, 33}, {3, 4}}, {{140, 260, 130, 64}, {5, 5}},
                             {{5, 3, 33, 3}, {4, 4}},       {{257, 97, 200, 70}, {2, 4}}};
    std::mt19937 random(42);
    int i = 0;
    for (const auto& [s, processors_of] : kCuts) {
        for (const unsigned planes : {2U, 3U}) {
            const unsigned processors = processors_of[planes - 2];
            const ExactProductCase one(random, s, planes, i % 2 == 0, i % 3 == 0,
                                       i % 2 == 0 ? ChainStart::kCarry : ChainStart::kZero,
                                       i % 4 < 2 ? Draw::kWild : Draw::kTame);
            INFO(s.m << "x" << s.n << "x" << s.k << " in blocks of " << s.block << ", digits " << planes
                     << ", processors " << processors);
            bool cuts = false;
            in_every_order([&](TestStream& stream) {
                REQUIRE(one.is_right([&](const PackArgs& args) { pack_i16(stream, args, Mask::kNone, 1); },
                                     [&](ProductI16Args args) {
                                         args.split = split_of(args, Mask::kNone, 1, few(processors));
                                         cuts = args.split.cuts();
                                         CardFloats parts(part_numbers(args), NAN);
                                         args.parts = output(parts);
                                         product_i16(stream, args, Mask::kNone, 1, few(processors));
                                         test::settle();
                                     }));
            });
            CHECK(cuts);
            ++i;
        }
    }
}

TEST_CASE("parts are looked at when they are added", "[trainer][cuda]") {
    if (!can_try_warpgroups()) return;
    // 9e38 in the last block of k, or in two blocks a half of it each: sums of which only the last is too
    // large.
    for (const bool halves : {false, true}) {
        for (const bool is_there : {true, false}) {
            std::mt19937 random(43);
            ExactProductCase one(random, {20, 30, 100, 40}, 2, false, false, ChainStart::kZero, Draw::kTame);
            constexpr unsigned kLine = 17, kColumn = 29;
            const float most = is_there ? halves ? 1.6e19F : 3e19F : 1e19F;
            for (const unsigned k : {halves ? 50U : 99U, 99U}) {
                one.a[kLine * one.s.k + k] = most;
                one.b[k * one.s.n + kColumn] = most;
            }
            test::Note note;
            TestStream stream = test::one_stream();
            static_cast<void>(
                one.is_right([&](const PackArgs& args) { pack_i16(stream, args, Mask::kNone, 1); },
                             [&](ProductI16Args args) {
                                 args.watch = {note.at(), 7};
                                 args.split = {.whole = 0, .together = 1, .parts = 2};
                                 CardFloats parts(part_numbers(args), NAN);
                                 args.parts = output(parts);
                                 product_i16(stream, args, Mask::kNone, 1, few(2));
                                 test::settle();
                             }));
            CHECK(note.value() == (is_there ? 7U : kNoOperator));
        }
    }
}

TEST_CASE("a product is cut only where its order allows it", "[trainer][cuda]") {
    if (!can_try_warpgroups()) return;
    const DigitPlace place{64, 100, 40, 2};
    const float bias = 1.0F;
    const ProductI16Args plain{.a = {.place = place}, .b = {.place = place}};
    ProductI16Args with_bias = plain, across = plain;
    with_bias.bias = &bias;
    across.to.col_stride = 2;
    CHECK(split_of(plain, Mask::kNone, 1, few(4)).cuts());
    CHECK_FALSE(split_of(with_bias, Mask::kNone, 1, few(4)).cuts());
    CHECK_FALSE(split_of(across, Mask::kNone, 1, few(4)).cuts());
    CHECK_FALSE(split_of(plain, Mask::kNone, 2, few(4)).cuts());
    CHECK_FALSE(split_of(plain, Mask::kLower, 1, few(4)).cuts());
    // It costs more than it saves, or there are no products by warpgroups.
    CHECK_FALSE(split_of(plain, Mask::kNone, 1, {.count = 4}).cuts());
    CHECK_FALSE(split_of(plain, Mask::kNone, 1, {}).cuts());
    // Few tiles leave more of a large card idle than large ones are quicker.
    CHECK_FALSE(split_of(plain, Mask::kNone, 1, all_processors()).cuts());
}

}  // namespace assay::trainer::cuda
