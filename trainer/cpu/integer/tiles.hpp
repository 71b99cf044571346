// SPDX-License-Identifier: Apache-2.0
// AMX's matrix registers, one instruction a function. No other code names them, so that a test can put an
// emulation in their place. Written as assembly, because the intrinsics take only literals and templates have
// numbers.
#pragma once

#if defined(__x86_64__)
#include <cstddef>
#include <cstdint>

namespace assay::trainer::integer {

/// Eight tiles of 16 rows of 64 bytes. REQUIRES AMX-INT8 and the system's permission (machine.hpp).
struct Tiles {
    /// A thread calls these before its first and after its last use of the tiles.
    static void enter() {
        struct alignas(64) TileShapes {
            std::uint8_t palette = 1;
            std::uint8_t start_row = 0;
            std::uint8_t reserved[14] = {};
            std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
            std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
        };
        static_assert(sizeof(TileShapes) == 64);
        const TileShapes shapes;
        asm volatile("ldtilecfg %0" ::"m"(shapes));
    }
    static void leave() { asm volatile("tilerelease" ::: "memory"); }

    template <int kTile>
    static void zero() {
        asm volatile("tilezero %%tmm%c0" ::"i"(kTile));
    }
    /// Rows are `stride` bytes apart.
    template <int kTile>
    static void load(const void* rows, std::size_t stride) {
        asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(rows), "r"(stride), "i"(kTile) : "memory");
    }
    /// The same of rows that need not stay in the first cache.
    template <int kTile>
    static void load_once(const void* rows, std::size_t stride) {
        asm volatile("tileloaddt1 (%0,%1,1), %%tmm%c2" ::"r"(rows), "r"(stride), "i"(kTile) : "memory");
    }
    template <int kTile>
    static void store(std::int32_t* rows, std::size_t stride) {
        asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(rows), "r"(stride), "i"(kTile) : "memory");
    }
    /// sum[m][n] += a[m][4k + i] · b[k][4n + i] over k < 16 and i < 4: signed bytes into 32 bits.
    template <int kSum, int kA, int kB>
    static void dot() {
        asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(kSum), "i"(kA), "i"(kB));
    }
};

}  // namespace assay::trainer::integer
#endif
