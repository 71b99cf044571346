// SPDX-License-Identifier: Apache-2.0
// simt.hpp on the host: an emulation of blocks, warps and copies on the threads of a pool. It can reproduce
// what a GPU's scheduler may do, and finds kernels that break the machine's rules. Threads of a block are
// loops if the kernel declares that they never wait, else fibers (Boost.Context). Between two waits they run
// one after another in the stream's order. Shared memory holds 0xff when a block begins; so does the
// destination of a copy until its wait. Products of warpgroups are computed at their call and appear after
// their wait; operands that changed in between are a fault. The emulation cannot find errors of a compiler
// for GPUs, races that no order of threads brings out, or errors in the descriptors of tiles and in the
// fences before products of warpgroups. It says nothing about speed.
#pragma once

#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "trainer/cuda/simt/host_block-inl.hpp"
#include "trainer/cuda/simt/host_stream.hpp"

#define ASSAY_SIMT inline
#define ASSAY_BOTH inline
#define ASSAY_UNROLL
#define ASSAY_NO_UNROLL
#define ASSAY_UNROLL_BY(count)

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

inline float add_rn(float a, float b) { return a + b; }
inline float sub_rn(float a, float b) { return a - b; }
inline float mul_rn(float a, float b) { return a * b; }
inline float div_rn(float a, float b) { return a / b; }
/// 1 / a, by fewer instructions than a division.
inline float reciprocal_rn(float a) { return 1.0F / a; }
inline float sqrt_rn(float a) { return std::sqrt(a); }
inline float fma_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
/// The larger number; the other one if one is a NaN; of zeros of both signs, any.
inline float larger_of(float a, float b) { return std::fmax(a, b); }
inline std::int32_t bits_of(float a) { return std::bit_cast<std::int32_t>(a); }
inline float from_bits(std::int32_t a) { return std::bit_cast<float>(a); }
/// Nearest integer, ties to even; 0 for a NaN, and the nearest 32-bit integer for larger magnitudes.
inline std::int32_t to_int_rn(float a) {
    constexpr double kUlpOne = 0x1.8p52;
    if (!(a == a)) return 0;
    if (a >= 0x1p31F) return INT32_MAX;
    if (a < -0x1p31F) return INT32_MIN;
    return static_cast<std::int32_t>((static_cast<double>(a) + kUlpOne) - kUlpOne);
}
inline float to_float_rn(std::int64_t a) { return static_cast<float>(a); }

inline double sub_rn(double a, double b) { return a - b; }
inline double mul_rn(double a, double b) { return a * b; }
inline double double_from_bits(std::int64_t a) { return std::bit_cast<double>(a); }
inline float narrow_rn(double a) { return static_cast<float>(a); }
inline double to_double_rn(std::uint64_t a) { return static_cast<double>(a); }
/// Nearest integer, ties to even. REQUIRES |a| < 2^62.
inline std::int64_t to_long_rn(double a) {
    constexpr double kIntegral = 0x1p52;
    const double magic = std::copysign(kIntegral, a);
    return static_cast<std::int64_t>(std::fabs(a) < kIntegral ? (a + magic) - magic : a);
}
/// Zero bits before the first one bit. REQUIRES a != 0.
inline unsigned leading_zeros(std::uint64_t a) { return static_cast<unsigned>(std::countl_zero(a)); }

/// Byte `byte` of four words as a word; that of the first is the lowest.
inline std::uint32_t same_bytes(unsigned byte, std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                std::uint32_t d) {
    std::uint32_t word = 0;
    for (const std::uint32_t one : {d, c, b, a}) word = word << 8U | (one >> 8U * byte & 0xffU);
    return word;
}

/// The bytes of `a` (0 to 3) and `b` (4 to 7) that the digits of `which` name, the lowest first.
inline std::uint32_t pick_bytes(std::uint32_t a, std::uint32_t b, unsigned which) {
    const std::uint64_t both = std::uint64_t{b} << 32U | a;
    std::uint32_t word = 0;
    for (unsigned i = 0; i < 4; ++i)
        word |= static_cast<std::uint32_t>(both >> 8 * (which >> 4 * i & 7U) & 0xffU) << 8 * i;
    return word;
}

/// The same number. On a card, what is made of it is computed anew each time.
inline unsigned recomputed(unsigned a) { return a; }

/// Whether the address is aligned for two numbers, or for four (load4).
inline bool is_aligned8(const float* at) { return reinterpret_cast<std::uintptr_t>(at) % 8 == 0; }
inline bool is_aligned16(const float* at) { return reinterpret_cast<std::uintptr_t>(at) % 16 == 0; }
/// Accesses of four numbers at addresses where a card would fail, by any thread so far.
inline std::atomic<std::uint64_t> misaligned_accesses{0};

/// Loads four neighbouring numbers. REQUIRES an address aligned to 16 bytes.
inline void load4(const float* from, float* to) {
    if (!is_aligned16(from)) ++misaligned_accesses;
    std::memcpy(to, from, 4 * sizeof(float));
}
/// Stores four neighbouring numbers. REQUIRES an address aligned to 16 bytes.
inline void store4(float* to, const float* from) {
    if (!is_aligned16(to)) ++misaligned_accesses;
    std::memcpy(to, from, 4 * sizeof(float));
}

/// Loads a number, or four at an address aligned to 16 bytes, that nobody writes while the kernel runs.
inline float read(const float* from) { return *from; }
inline void read4(const float* from, float* to) { load4(from, to); }

/// An array that a kernel writes. A launch with checks gives it a mark for each number.
template <class T>
struct OutputArray {
    T* data = nullptr;
    std::uint64_t count = 0;
    std::atomic<std::uint8_t>* marks = nullptr;
    SimtFaults* faults = nullptr;

    void set(std::uint64_t i, T value) const {
        if (marks != nullptr) {
            if (i >= count) return faults->add(FaultKind::kOutsideOutput);
            if (marks[i].exchange(1, std::memory_order_relaxed) != 0) faults->add(FaultKind::kTwoWrites);
        }
        data[i] = value;
    }
    /// Stores two numbers. REQUIRES an address aligned to 8 bytes.
    void set2(std::uint64_t i, T first, T second) const {
        const bool aligned = reinterpret_cast<std::uintptr_t>(data + i) % 8 == 0;
        if (faults != nullptr && !aligned) faults->add(FaultKind::kMisaligned);
        set(i, first);
        set(i + 1, second);
    }
    /// Stores four words or numbers. REQUIRES an address aligned to 16 bytes.
    void set4(std::uint64_t i, const T (&values)[4]) const {
        const bool aligned = reinterpret_cast<std::uintptr_t>(data + i) % 16 == 0;
        if (faults != nullptr && !aligned) faults->add(FaultKind::kMisaligned);
        for (unsigned at = 0; at < 4; ++at) set(i + at, values[at]);
    }
    T get(std::uint64_t i) const { return data[i]; }
};

using LaunchStream = KernelStream&;

/// Bytes of shared memory that a block may have: those of compute capability 9.0.
inline constexpr std::size_t kMostShared = std::size_t{227} << 10U;
inline std::size_t most_shared_bytes() { return kMostShared; }

/// Multiprocessors of the card: as many as an H100 has.
inline unsigned processor_count() { return 132; }

/// Whether kernels may call wgmma_s8: the emulation has every instruction.
inline bool has_wgmma() { return true; }

/// Runs kernel K on the stream's threads; returns when it is done.
template <class Kernel>
void run_kernel(Grid grid, KernelStream& stream, typename Kernel::Args args) {
    static_assert(Kernel::kThreads % kWarp == 0);
    static_assert(sizeof(typename Kernel::Shared) <= kMostShared);
    constexpr unsigned kMostAcross = 65'535;  // along y and z, on every card
    if (grid.y > kMostAcross || grid.z > kMostAcross) stream.faults().add(FaultKind::kTooManyBlocks);
    std::vector<std::unique_ptr<std::atomic<std::uint8_t>[]>> marks;
    if (stream.checks()) {
        Kernel::outputs(args, [&](auto& output) {
            marks.push_back(std::make_unique<std::atomic<std::uint8_t>[]>(output.count));
            output.marks = marks.back().get();
            output.faults = &stream.faults();
        });
    }
    const HostKernel kernel{
        .run = [](const SimtBlock& block,
                  const void* with) { Kernel::run(block, *static_cast<const typename Kernel::Args*>(with)); },
        .args = &args,
        .threads = Kernel::kThreads,
        .shared_bytes = sizeof(typename Kernel::Shared),
        .waits = Kernel::kWaits};
    const std::uint64_t misaligned = misaligned_accesses;
    run_grid(grid, stream, kernel);
    if (misaligned_accesses != misaligned) stream.faults().add(FaultKind::kMisaligned);
}

/// The same, now or when the stream's owner runs deferred launches.
template <class Kernel>
void launch(Grid grid, LaunchStream stream, const typename Kernel::Args& args) {
    LaunchWatch* const watch = launch_watch();
    if (watch != nullptr) watch->begin(typeid(Kernel));
    if (stream.defer()) {
        stream.defer()([grid, &stream, args] { run_kernel<Kernel>(grid, stream, args); });
    } else {
        run_kernel<Kernel>(grid, stream, args);
    }
    if (watch != nullptr) watch->end();
}

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
