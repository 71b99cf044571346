// SPDX-License-Identifier: Apache-2.0
// Packing for products of profile i16: every kernel's digits and exponents against the law, digit by digit,
// with the padding, for lines of any kind; and which kernel an operand gets.
#include <cmath>
#include <typeinfo>

#include "contracts/arithmetic/exact_product.hpp"
#include "tests/trainer/cuda/cuda_support.hpp"
#include "trainer/cuda/kernels/pack_held_i16.hpp"
#include "trainer/cuda/launch/products.hpp"

namespace assay::trainer::cuda {
namespace {
using test::CardFloats;
using test::CardVector;
using test::in_every_order;
using test::output;
using test::TestStream;

// Lines of numbers with `pitch` between them, side by side or one after another, `offset` numbers after an
// address of 16 bytes, and matrices of which two are the same.
struct PackCase {
    unsigned lines, depth, block;
    bool across;
    unsigned pitch, offset = 0, matrices = 1, step = 1;
};

// What stands in a line; four neighbours have the same.
void fill_line(std::mt19937& random, unsigned line, CardFloats& values) {
    const auto any_sign = [&](float value) { return random() % 2 == 0 ? value : -value; };
    const auto some = [&] { return static_cast<std::size_t>(random() % values.size()); };
    values = test::numbers(random, values.size(), line % 2 == 0 ? test::Draw::kWild : test::Draw::kTame);
    switch (line / 4 % 11) {
        case 2:
            for (float& value : values) value = any_sign(0.0F);
            break;
        case 3:  // subnormal numbers, and the least normal ones
            for (float& value : values)
                value = any_sign(static_cast<float>(random() % 20'000'000) * 0x1p-149F);
            break;
        case 4:  // at the exponents where one power of two no longer scales
            for (float& value : values) value = std::ldexp(value, -112 - static_cast<int>(line % 4));
            break;
        case 5: values[some()] = line % 2 == 0 ? NAN : -NAN; break;
        case 6: values[some()] = any_sign(INFINITY); break;
        case 7:  // halves, which round to even, below the limit of two digits
            for (float& value : values) value = any_sign(static_cast<float>(random() % 32'639) + 0.5F);
            values[some()] = any_sign(32'639.25F);
            break;
        case 8:  // the same of three digits
            for (float& value : values) value = any_sign(static_cast<float>(random() % 8'355'711) + 0.5F);
            values[some()] = any_sign(8'355'711.0F);
            break;
        case 9:  // numbers that the limit moves to the next exponent, and the largest
            for (float& value : values) value = any_sign(line % 2 == 0 ? 32'639.5F : 0x1.fffffep127F);
            break;
        default: break;
    }
}

// The law's, of the bits of the largest magnitude.
std::int32_t exponent_of(std::uint32_t most, unsigned planes) {
    const std::uint32_t field = (most + (planes == 2 ? 0x10100U : 0x10101U)) >> 23U;
    const std::int32_t exponent = static_cast<std::int32_t>(std::max(field, 1U)) - (planes == 2 ? 141 : 149);
    REQUIRE(exponent == arithmetic::row_exponent(most, static_cast<int>(planes)));
    return exponent;
}

// The law's; 0 for a NaN, and the nearest integer of 32 bits for an infinity.
std::uint32_t quantised(float value, std::int32_t exponent) {
    if (std::isnan(value)) return 0;
    if (std::isinf(value)) return value > 0 ? 0x7fffffffU : 0x80000000U;
    return static_cast<std::uint32_t>(arithmetic::quantise(value, exponent));
}

class CaseOperand {
public:
    CaseOperand(std::mt19937& random, PackCase what, unsigned planes)
        : what_(what), place_{what.lines, what.depth, what.block, planes} {
        const std::uint64_t pitch = what.pitch, step = what.step;
        view_.place = what.across ? OperandPlace{1, pitch} : OperandPlace{pitch, step};
        const std::uint64_t size = pitch * (what.across ? what.depth : what.lines);
        // Of three matrices the first two are one, and the third lies apart.
        view_.place.inner = 3;
        view_.place.sharing = 2;
        view_.place.inner_stride = (size + 3) / 4 * 4 + what.offset * 4;
        view_.place.outer_stride = 2 * view_.place.inner_stride + 4;
        values_.assign(what.offset + view_.place.outer_stride * (what.matrices / 3 + 1), NAN);
        view_.data = values_.data() + what.offset;
        const std::size_t words = place_.words() * what.matrices;
        words_.assign(words, 0x55555555U);
        wanted_words_.assign(words, 0);
        exponents_.assign(place_.exponents() * what.matrices, 77);
        wanted_exponents_ = exponents_;
        for (unsigned z = 0; z < what.matrices; ++z)
            for (unsigned line = 0; line < what.lines; ++line) make_line(random, z, line);
    }
    // Whether `pack`, called with the arguments, makes the law's digits.
    template <class PackWith>
    [[nodiscard]] bool is_right(const PackWith& pack) {
        std::fill(words_.begin(), words_.end(), 0x55555555U);
        std::fill(exponents_.begin(), exponents_.end(), 77);
        pack(args());
        return test::same_integers(exponents_, wanted_exponents_) &&
               test::same_integers(words_, wanted_words_);
    }
    [[nodiscard]] PackArgs args() {
        return {.from = view_, .place = place_, .digits = output(words_), .exponents = output(exponents_)};
    }

private:
    void make_line(std::mt19937& random, unsigned z, unsigned line) {
        CardFloats values(what_.depth);
        const std::uint64_t at = what_.offset + view_.place.at(z, line, 0);
        if (z % 3 == 1) {  // it shares with the one before
            for (unsigned k = 0; k < what_.depth; ++k) values[k] = values_[at + k * view_.place.col_stride];
        } else {
            fill_line(random, line, values);
            for (unsigned k = 0; k < what_.depth; ++k) values_[at + k * view_.place.col_stride] = values[k];
        }
        for (unsigned b = 0; b < place_.blocks(); ++b) {
            const unsigned first = b * what_.block, length = place_.length(b);
            std::uint32_t most = 0;
            for (unsigned k = 0; k < length; ++k)
                most = std::max(most, std::bit_cast<std::uint32_t>(values[first + k]) & 0x7fffffffU);
            const std::int32_t exponent = exponent_of(most, place_.planes);
            wanted_exponents_[(std::uint64_t{z} * place_.blocks() + b) * what_.lines + line] = exponent;
            for (unsigned k = 0; k < length; ++k) put(z, line, b, k, quantised(values[first + k], exponent));
        }
    }
    // Digits of 64 numbers lie together, plane after plane. Each is the remainder in [-128, 127].
    void put(unsigned z, unsigned line, unsigned b, unsigned k, std::uint32_t number) {
        for (unsigned plane = 0; plane < place_.planes; ++plane) {
            const std::uint32_t digit = number & 0xffU;
            const std::uint64_t word =
                place_.first_word(z, line, b) + (k / 64 * place_.planes + plane) * 16 + k % 64 / 4;
            wanted_words_[word] |= digit << 8 * (k % 4);
            // A number without its digit, wrapped around as on the machine.
            number = static_cast<std::uint32_t>(static_cast<std::int32_t>(number + 128) >> 8);
        }
    }

    PackCase what_;
    DigitPlace place_;
    OperandView view_;
    CardFloats values_;
    CardVector<std::uint32_t> words_, wanted_words_;
    CardVector<std::int32_t> exponents_, wanted_exponents_;
};

// Whether the kernel makes the law's digits, in every order.
template <class Kernel>
void check(std::initializer_list<PackCase> operands, unsigned planes) {
    std::mt19937 random(51);
    for (const PackCase& what : operands) {
        INFO(what.lines << " lines of " << what.depth << " in blocks of " << what.block << ", pitch "
                        << what.pitch << ", offset " << what.offset << ", digits " << planes);
        CaseOperand packed(random, what, planes);
        in_every_order([&](TestStream& stream) {
            REQUIRE(packed.is_right([&](const PackArgs& args) {
                launch<Kernel>(Kernel::grid(args, what.matrices), stream, args);
            }));
        });
    }
}

// Whether some order shows that the kernel is wrong.
template <class Kernel>
bool is_found(const PackCase& what, unsigned planes = 2) {
    std::mt19937 random(53);
    CaseOperand packed(random, what, planes);
    return test::is_found([&](TestStream& stream) {
        return packed.is_right(
            [&](const PackArgs& args) { launch<Kernel>(Kernel::grid(args, what.matrices), stream, args); });
    });
}

// The kernel that a launch takes.
class LaunchNames final : public LaunchWatch {
public:
    LaunchNames() : before_(launch_watch()) { launch_watch() = this; }
    ~LaunchNames() override { launch_watch() = before_; }
    void begin(const std::type_info& kernel) override { kernel_ = &kernel; }
    void end() override {}
    template <class Kernel>
    [[nodiscard]] bool saw() const {
        return kernel_ != nullptr && *kernel_ == typeid(Kernel);
    }

private:
    LaunchWatch* before_;
    const std::type_info* kernel_ = nullptr;
};

// Whether pack_i16 takes the kernel for the operand, and makes the law's digits.
template <class Kernel>
bool takes(const PackCase& what, unsigned planes) {
    std::mt19937 random(52);
    CaseOperand packed(random, what, planes);
    TestStream stream = test::one_stream();
    const LaunchNames watch;
    INFO(what.lines << " lines of " << what.depth << " in blocks of " << what.block);
    CHECK(packed.is_right([&](const PackArgs& args) { pack_i16(stream, args, Mask::kNone, what.matrices); }));
    CHECK_FALSE(stream.faults().any());
    return watch.saw<Kernel>();
}

template <unsigned kPlanes>
void check_across() {
    // Blocks whole, cut and longer than the depth; a turn, several, and turns of zeros alone; lines that end
    // within a block's.
    check<PackAcrossHeld<kPlanes, 16, 8, true>>({{48, 1100, 1024, true, 48},
                                                 {20, 2500, 16384, true, 24, 4},
                                                 {4, 2100, 1500, true, 4, 0, 4},
                                                 {8, 3, 16384, true, 12}},
                                                kPlanes);
    check<PackAcrossHeld<kPlanes, 8, 16, true>>(
        {{44, 3072, 16384, true, 44}, {12, 8200, 4500, true, 12, 0}, {4, 9000, 16384, true, 16}}, kPlanes);
    check<PackAcrossHeld<kPlanes, 8, 4, true>>({{44, 768, 16384, true, 44}, {4, 1300, 1024, true, 8, 0, 3}},
                                               kPlanes);
    check<PackAcrossHeld<kPlanes, 16, 1, true>>({{64, 300, 128, true, 64, 0, 3}, {12, 70, 64, true, 20}},
                                                kPlanes);
    check<PackAcrossHeld<kPlanes, 16, 8, false>>(
        {{47, 1100, 1024, true, 47, 1}, {9, 2100, 1500, true, 11, 2, 2}, {1, 1030, 16384, true, 3}}, kPlanes);
    check<PackAcross<Mask::kNone, kPlanes>>({{45, 200, 90, true, 47, 1, 2}, {33, 300, 16384, true, 40}},
                                            kPlanes);
}

template <unsigned kPlanes>
void check_along() {
    check<PackShort<kPlanes, 1>>({{150, 64, 16384, false, 64, 0, 4},
                                  {70, 64, 16384, false, 67, 1},
                                  {20, 64, 16384, false, 68, 1},
                                  {49, 37, 16384, false, 40},
                                  {5, 100, 40, false, 100, 0, 3},
                                  {33, 1, 16384, false, 1}},
                                 kPlanes);
    check<PackShort<kPlanes, 2>>(
        {{70, 128, 16384, false, 128, 0, 2}, {45, 90, 16384, false, 91, 3}, {9, 250, 128, false, 252}},
        kPlanes);
    check<PackLong<kPlanes, 4, 6>>(
        {{45, 3072, 16384, false, 3072}, {7, 2001, 16384, false, 2003, 1, 2}, {3, 4500, 2500, false, 4500}},
        kPlanes);
    check<PackLong<kPlanes, 8, 16>>({{5, 16384 + 102, 16384, false, 16487, 1},
                                     {3, 16384 + 4, 16384, false, 16392},
                                     {2, 5000, 16384, false, 5001, 0, 2}},
                                    kPlanes);
    check<Pack<Mask::kNone, kPlanes, 8>>({{45, 768, 16384, false, 768},
                                          {9, 1300, 16384, false, 1301, 2, 2},
                                          {9, 200, 150, false, 1000, 0, 1, 3},
                                          {3, 1500, 16384, false, 1500}},
                                         kPlanes);
    check<Pack<Mask::kNone, kPlanes, 1>>({{9, 100, 16384, false, 400, 0, 1, 3}}, kPlanes);
}
}  // namespace

TEST_CASE("packing lines that lie side by side gives the law's digits", "[trainer][cuda]") {
    check_across<2>();
    check_across<3>();
}

TEST_CASE("packing lines one after another gives the law's digits", "[trainer][cuda]") {
    check_along<2>();
    check_along<3>();
}

TEST_CASE("mutants of packing are found", "[trainer][cuda]") {
    using enum ProductFault;
    const PackCase across{8, 600, 16384, true, 8}, shorts{8, 50, 16384, false, 50},
        longs{3, 1500, 16384, false, 1500};
    REQUIRE_FALSE(is_found<PackAcrossHeld<2, 16, 8, true>>(across));
    REQUIRE(is_found<PackAcrossHeld<2, 16, 8, true, kStaleDigits>>(across));
    REQUIRE_FALSE(is_found<PackShort<2, 1>>(shorts));
    REQUIRE(is_found<PackShort<2, 1, kStaleDigits>>(shorts));
    REQUIRE_FALSE(is_found<PackLong<2, 4, 6>>(longs));
    REQUIRE(is_found<PackLong<2, 4, 6, kStaleDigits>>(longs));
#if !defined(__CUDACC__)
    // A card's shared memory may still hold the maxima of the launch before.
    REQUIRE(is_found<PackAcrossHeld<2, 16, 8, true, kMissingBarrier>>(across));
    REQUIRE(is_found<PackAcrossHeld<2, 16, 8, false, kMissingBarrier>>(across));
    REQUIRE(is_found<PackLong<2, 4, 6, kMissingBarrier>>(longs));
#endif
}

TEST_CASE("an operand is packed by the kernel for its shape", "[trainer][cuda]") {
    // Side by side: short blocks, those that a thread block holds, few of them, longer ones; and addresses,
    // pitches, matrices and lines that do not come in fours.
    CHECK(takes<PackAcrossHeld<2, 16, 1, true>>({64, 130, 128, true, 64, 0, 3}, 2));
    CHECK(takes<PackAcrossHeld<2, 16, 8, true>>({512, 1030, 130, true, 512}, 2));
    CHECK(takes<PackAcrossHeld<3, 16, 8, true>>({512, 1030, 130, true, 512}, 3));
    CHECK(takes<PackAcrossHeld<2, 8, 4, true>>({48, 768, 16384, true, 48}, 2));
    CHECK(takes<PackAcrossHeld<2, 8, 16, true>>({20, 1025, 16384, true, 20}, 2));
    for (const PackCase& what : {PackCase{20, 300, 16384, true, 20, 1}, PackCase{20, 300, 16384, true, 23},
                                 PackCase{20, 300, 16384, true, 22}, PackCase{19, 300, 16384, true, 20}})
        CHECK(takes<PackAcrossHeld<2, 16, 8, false>>(what, 2));
    CHECK(takes<PackAcross<Mask::kNone, 3>>({33, 300, 256, true, 35}, 3));
    // One after another.
    CHECK(takes<PackShort<2, 1>>({10, 64, 16384, false, 64}, 2));
    CHECK(takes<PackShort<3, 2>>({10, 65, 16384, false, 65}, 3));
    CHECK(takes<Pack<Mask::kNone, 2, 8>>({10, 129, 16384, false, 129}, 2));
    CHECK(takes<PackLong<2, 4, 6>>({3, 1025, 16384, false, 1025}, 2));
    CHECK(takes<PackLong<3, 8, 16>>({3, 3073, 16384, false, 3073}, 3));
    CHECK(takes<Pack<Mask::kNone, 2, 8>>({3, 16400, 16400, false, 16400}, 2));
    // Neither.
    CHECK(takes<Pack<Mask::kNone, 2, 1>>({10, 60, 16384, false, 200, 0, 1, 2}, 2));
    CHECK(takes<Pack<Mask::kNone, 2, 8>>({10, 1025, 16384, false, 2100, 0, 1, 2}, 2));
}

}  // namespace assay::trainer::cuda
