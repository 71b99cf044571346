// SPDX-License-Identifier: Apache-2.0
#include "contracts/arithmetic/known_answers.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

#include "contracts/arithmetic/elementary.hpp"

namespace assay::arithmetic {

namespace {

// Operands by their bits, read when they are needed: the compiler knows none of them.
struct Operands {
    volatile std::uint64_t a = 0;
    volatile std::uint64_t b = 0;
    volatile std::uint64_t c = 0;

    [[nodiscard]] float f(const volatile std::uint64_t& x) const {
        return std::bit_cast<float>(static_cast<std::uint32_t>(x));
    }
    [[nodiscard]] double d(const volatile std::uint64_t& x) const {
        return std::bit_cast<double>(static_cast<std::uint64_t>(x));
    }
    [[nodiscard]] std::int64_t i(const volatile std::uint64_t& x) const {
        return std::bit_cast<std::int64_t>(static_cast<std::uint64_t>(x));
    }
};

std::uint64_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

std::uint64_t add(const Operands& x) { return bits(x.f(x.a) + x.f(x.b)); }
std::uint64_t multiply(const Operands& x) { return bits(x.f(x.a) * x.f(x.b)); }
std::uint64_t divide(const Operands& x) { return bits(x.f(x.a) / x.f(x.b)); }
std::uint64_t root(const Operands& x) { return bits(std::sqrt(x.f(x.a))); }
std::uint64_t fuse(const Operands& x) { return bits(fma32(x.f(x.a), x.f(x.b), x.f(x.c))); }
std::uint64_t less(const Operands& x) { return x.f(x.a) < x.f(x.b) ? 1 : 0; }
std::uint64_t add_wide(const Operands& x) { return bits(x.d(x.a) + x.d(x.b)); }
std::uint64_t multiply_wide(const Operands& x) { return bits(x.d(x.a) * x.d(x.b)); }
std::uint64_t divide_wide(const Operands& x) { return bits(x.d(x.a) / x.d(x.b)); }
std::uint64_t root_wide(const Operands& x) { return bits(std::sqrt(x.d(x.a))); }
std::uint64_t fuse_wide(const Operands& x) { return bits(__builtin_fma(x.d(x.a), x.d(x.b), x.d(x.c))); }
std::uint64_t narrow(const Operands& x) { return bits(static_cast<float>(x.d(x.a))); }
std::uint64_t widen(const Operands& x) { return bits(static_cast<double>(x.f(x.a))); }
std::uint64_t float_of(const Operands& x) { return bits(static_cast<float>(x.i(x.a))); }
std::uint64_t double_of(const Operands& x) { return bits(static_cast<double>(x.i(x.a))); }
std::uint64_t integer_of(const Operands& x) {
    return std::bit_cast<std::uint64_t>(static_cast<std::int64_t>(x.d(x.a)));
}

struct KnownAnswer {
    std::string_view name;
    std::uint64_t (*compute)(const Operands& x) = nullptr;
    std::uint64_t a = 0, b = 0, c = 0;
    std::uint64_t answer = 0;
};

constexpr KnownAnswer kAnswers[] = {
    // Ties go to even, and nothing is rounded to a side.
    {"addition, a tie down", add, 0x3f800000, 0x33800000, 0, 0x3f800000},
    {"addition, a tie up", add, 0x3f800001, 0x33800000, 0, 0x3f800002},
    {"addition, just above a tie", add, 0x3f800000, 0x33800001, 0, 0x3f800001},
    {"addition of opposites", add, 0x3f800000, 0xbf800000, 0, 0x00000000},
    {"addition of -0 and +0", add, 0x80000000, 0x00000000, 0, 0x00000000},
    {"addition beyond the largest number", add, 0x7f7fffff, 0x7f7fffff, 0, 0x7f800000},
    {"division, rounded up", divide, 0x3f800000, 0x40400000, 0, 0x3eaaaaab},
    {"division, below zero", divide, 0xbf800000, 0x40400000, 0, 0xbeaaaaab},
    {"division, rounded down", divide, 0x3f800000, 0x40a00000, 0, 0x3e4ccccd},
    {"square root", root, 0x40000000, 0, 0, 0x3fb504f3},
    // Subnormal results and operands.
    {"addition of subnormal numbers", add, 0x00000001, 0x00000001, 0, 0x00000002},
    {"addition that becomes subnormal", add, 0x00800001, 0x80800000, 0, 0x00000001},
    {"multiplication that becomes subnormal", multiply, 0x0d800000, 0x30800000, 0, 0x00080000},
    {"multiplication that rounds to the least number", multiply, 0x00000001, 0x3f400000, 0, 0x00000001},
    {"multiplication of a subnormal number", multiply, 0x00000001, 0x71800000, 0, 0x27000000},
    {"division of a subnormal number", divide, 0x00000003, 0x00000002, 0, 0x3fc00000},
    {"division that becomes subnormal", divide, 0x00800000, 0x40000000, 0, 0x00400000},
    {"square root of a subnormal number", root, 0x00000001, 0, 0, 0x1a3504f3},
    {"comparison of a subnormal number", less, 0x00000000, 0x00000001, 0, 1},
    // One rounding.
    {"fma, one rounding", fuse, 0x3f800001, 0x3f800001, 0xbf800002, 0x28800000},
    {"fma of a subnormal number", fuse, 0x00000001, 0x3f800000, 0x00000001, 0x00000002},
    {"fma that becomes subnormal", fuse, 0x0d800000, 0x30800000, 0x00000001, 0x00080001},
    {"fma of a tie that the addend decides", fuse, 0x3f800001, 0x3f800000, 0x33800000, 0x3f800002},
    {"binary64 addition, a tie", add_wide, 0x3ff0000000000001, 0x3ca0000000000000, 0, 0x3ff0000000000002},
    {"binary64 addition of subnormal numbers", add_wide, 1, 1, 0, 2},
    {"binary64 multiplication that becomes subnormal", multiply_wide, 0x0010000000000000, 0x3fe0000000000000,
     0, 0x0008000000000000},
    {"binary64 division", divide_wide, 0x3ff0000000000000, 0x4008000000000000, 0, 0x3fd5555555555555},
    {"binary64 square root", root_wide, 0x4000000000000000, 0, 0, 0x3ff6a09e667f3bcd},
    {"binary64 fma, one rounding", fuse_wide, 0x3ff0000000000001, 0x3ff0000000000001, 0xbff0000000000002,
     0x3970000000000000},
    // Between formats.
    {"binary64 to binary32, above a tie", narrow, 0x3ff0000010000001, 0, 0, 0x3f800001},
    {"binary64 to binary32, a tie", narrow, 0x3ff0000010000000, 0, 0, 0x3f800000},
    {"binary64 to a subnormal binary32", narrow, 0x36a8000000000000, 0, 0, 0x00000002},
    {"a subnormal binary32 to binary64", widen, 0x00000001, 0, 0, 0x36a0000000000000},
    {"int64 to binary32, a tie", float_of, 0x0000000001000001, 0, 0, 0x4b800000},
    {"int64 to binary32, one rounding", float_of, 0x4000004000000001, 0, 0, 0x5e800001},
    {"int64 to binary32, below zero", float_of, 0xfffffffffeffffff, 0, 0, 0xcb800000},
    {"int64 to binary64, a tie", double_of, 0x0020000000000001, 0, 0, 0x4340000000000000},
    {"int64 to binary64, a tie up", double_of, 0x0020000000000003, 0, 0, 0x4340000000000002},
    {"binary64 to int64", integer_of, 0xbff8000000000000, 0, 0, 0xffffffffffffffff},
    {"binary64 to a large int64", integer_of, 0x43d0000000000000, 0, 0, 0x4000000000000000},
};

}  // namespace

std::optional<std::string_view> wrong_operation() {
    for (const KnownAnswer& known : kAnswers) {
        if (known.compute({known.a, known.b, known.c}) != known.answer) return known.name;
    }
    return std::nullopt;
}

}  // namespace assay::arithmetic
