// SPDX-License-Identifier: Apache-2.0
#include "trainer/host/machine.hpp"

#include "hwy/highway.h"

#if HWY_ARCH_X86
#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#endif

namespace assay::trainer {

#if HWY_ARCH_X86
namespace {
struct Features {
    bool avx_vnni = false;
    bool avx512_vnni = false;
    bool amx_int8 = false;
};

// Palette 1 as tiles.hpp sets it up.
bool tiles_are_full() {
    constexpr unsigned kTiles = 8, kRows = 16, kRowBytes = 64;
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid_count(0x1D, 1, &a, &b, &c, &d) == 0) return false;
    return b >> 16U >= kTiles && (b & 0xffffU) >= kRowBytes && (c & 0xffffU) >= kRows;
}

Features read_features() {
    Features found;
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return found;
    const unsigned subleaves = a;
    constexpr unsigned kAmxTile = 1U << 24U;
    constexpr unsigned kAmxInt8 = 1U << 25U;
    found.avx512_vnni = (c & (1U << 11U)) != 0;
    found.amx_int8 = (d & kAmxTile) != 0 && (d & kAmxInt8) != 0 && tiles_are_full();
    if (subleaves >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0)
        found.avx_vnni = (a & (1U << 4U)) != 0;
    return found;
}

// Linux keeps the tile registers from a process until it asks for them.
bool tiles_granted() {
#if defined(__linux__) && defined(SYS_arch_prctl)
    constexpr long kRequestPermission = 0x1023;  // ARCH_REQ_XCOMP_PERM
    constexpr long kTileData = 18;
    return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
    return false;
#endif
}
}  // namespace

bool machine_has(Target target) {
    static const auto supported = hwy::SupportedTargets();
    static const Features features = read_features();
    const bool avx2 = (supported & HWY_AVX2) != 0;
    const bool avx512 = (supported & HWY_AVX3) != 0;
    switch (target) {
        case Target::kScalar: return true;
        case Target::kNeon: return false;
        case Target::kAvx2: return avx2;
        case Target::kAvxVnni: return avx2 && features.avx_vnni;
        case Target::kAvx512: return avx512;
        case Target::kVnni: return avx512 && features.avx512_vnni;
        case Target::kAmx: {
            if (!avx512 || !features.amx_int8) return false;
            static const bool granted = tiles_granted();
            return granted;
        }
    }
    return false;
}
#else
bool machine_has(Target target) {
    return target == Target::kScalar || (HWY_ARCH_ARM_A64 != 0 && target == Target::kNeon);
}
#endif

FloatSet float_set(Target target) {
    switch (target) {
        case Target::kScalar: return FloatSet::kScalar;
        case Target::kNeon: return FloatSet::kNeon;
        case Target::kAvx2:
        case Target::kAvxVnni: return FloatSet::kAvx2;
        case Target::kAvx512:
        case Target::kVnni:
        case Target::kAmx: return FloatSet::kAvx512;
    }
    return FloatSet::kScalar;
}

}  // namespace assay::trainer
