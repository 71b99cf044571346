// SPDX-License-Identifier: Apache-2.0
// Gives tests a thread in another floating-point mode than the law's, as a library may leave it.
#pragma once

#include <array>
#include <cfenv>
#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace assay::test {

/// Kinds of change that every processor here has.
enum class WrongMode : std::uint8_t { kTowardZero, kUpward, kDownward, kFlushesSubnormals };

inline constexpr std::array kWrongModes = {WrongMode::kTowardZero, WrongMode::kUpward, WrongMode::kDownward,
                                           WrongMode::kFlushesSubnormals};

/// Sets the mode of the calling thread; puts the law's back at the end.
class ScopedMode {
public:
    explicit ScopedMode(WrongMode mode) { set(mode); }
    ScopedMode(const ScopedMode&) = delete;
    ScopedMode& operator=(const ScopedMode&) = delete;
    ~ScopedMode() { reset(); }

    static void set(WrongMode mode) {
        switch (mode) {
            case WrongMode::kTowardZero: std::fesetround(FE_TOWARDZERO); break;
            case WrongMode::kUpward: std::fesetround(FE_UPWARD); break;
            case WrongMode::kDownward: std::fesetround(FE_DOWNWARD); break;
            case WrongMode::kFlushesSubnormals: flush_subnormals(true); break;
        }
    }
    static void reset() {
        std::fesetround(FE_TONEAREST);
        flush_subnormals(false);
    }

private:
    // FTZ and DAZ of MXCSR; FZ of FPCR.
    static void flush_subnormals(bool on) {
#if defined(__x86_64__)
        _mm_setcsr(on ? _mm_getcsr() | 0x8040U : _mm_getcsr() & ~0x8040U);
#elif defined(__aarch64__)
        std::uint64_t mode = 0;
        asm volatile("mrs %0, fpcr" : "=r"(mode));
        mode = on ? mode | (1ULL << 24U) : mode & ~(1ULL << 24U);
        asm volatile("msr fpcr, %0" : : "r"(mode));
#endif
    }
};

}  // namespace assay::test
