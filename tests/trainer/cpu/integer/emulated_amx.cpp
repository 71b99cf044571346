// SPDX-License-Identifier: Apache-2.0
// The AMX machine with its tile instructions replaced by their meaning, so that everything else about it is
// tested on processors without AMX too.
#if defined(__x86_64__)
#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "contracts/arithmetic/exact_product.hpp"
#include "contracts/base/check.hpp"
#include "tests/trainer/cpu/integer/integer_support.hpp"
#include "trainer/cpu/integer/target.hpp"

namespace assay::trainer::integer::test {

// As Tiles of tiles.hpp. What enter() has not prepared may not be used.
struct EmulatedTiles {
    struct State {
        bool entered = false;
        std::int8_t bytes[8][16][64] = {};
    };
    static State& state() {
        static thread_local State all;
        return all;
    }
    static void enter() { state().entered = true; }
    static void leave() { state() = {}; }
    template <int kTile>
    static void zero() {
        ASSAY_CHECK(state().entered);
        std::memset(state().bytes[kTile], 0, sizeof(state().bytes[kTile]));
    }
    template <int kTile>
    static void load(const void* rows, std::size_t stride) {
        ASSAY_CHECK(state().entered);
        const auto* at = static_cast<const std::byte*>(rows);
        for (std::size_t r = 0; r < 16; ++r) std::memcpy(state().bytes[kTile][r], at + r * stride, 64);
    }
    template <int kTile>
    static void load_once(const void* rows, std::size_t stride) {
        load<kTile>(rows, stride);
    }
    template <int kTile>
    static void store(std::int32_t* rows, std::size_t stride) {
        for (std::size_t r = 0; r < 16; ++r) {
            std::memcpy(reinterpret_cast<std::byte*>(rows) + r * stride, state().bytes[kTile][r], 64);
        }
    }
    template <int kSum, int kA, int kB>
    static void dot() {
        State& all = state();
        for (std::size_t m = 0; m < 16; ++m) {
            std::int32_t sums[16];
            std::memcpy(sums, all.bytes[kSum][m], 64);
            for (std::size_t n = 0; n < 16; ++n) {
                for (std::size_t k = 0; k < 16; ++k) {
                    for (std::size_t i = 0; i < 4; ++i) {
                        sums[n] += all.bytes[kA][m][4 * k + i] * all.bytes[kB][k][4 * n + i];
                    }
                }
            }
            std::memcpy(all.bytes[kSum][m], sums, 64);
        }
    }
};

}  // namespace assay::trainer::integer::test

ASSAY_TARGET_BEGIN("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")
namespace assay::trainer::integer {
namespace emulated_amx {
using Registers = test::EmulatedTiles;
#include "trainer/cpu/integer/amx-inl.hpp"
}  // namespace emulated_amx

const Machine& test::emulated_amx_machine() { return emulated_amx::machine(); }

}  // namespace assay::trainer::integer
ASSAY_TARGET_END
#endif
