// SPDX-License-Identifier: Apache-2.0
// simt.hpp on a GPU: the machine's operations as instructions of compute capability 7.5 and later.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#define ASSAY_SIMT __device__ __forceinline__
#define ASSAY_BOTH __host__ __device__ __forceinline__
#define ASSAY_UNROLL _Pragma("unroll")
#define ASSAY_NO_UNROLL _Pragma("unroll 1")
#define ASSAY_TEXT(text) #text
#define ASSAY_UNROLL_BY(count) _Pragma(ASSAY_TEXT(unroll count))
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define ASSAY_WGMMA  // instructions of compute capability 9.0 only
#endif

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

ASSAY_SIMT float add_rn(float a, float b) { return __fadd_rn(a, b); }
ASSAY_SIMT float sub_rn(float a, float b) { return __fsub_rn(a, b); }
ASSAY_SIMT float mul_rn(float a, float b) { return __fmul_rn(a, b); }
ASSAY_SIMT float div_rn(float a, float b) { return __fdiv_rn(a, b); }
/// 1 / a, by fewer instructions than a division.
ASSAY_SIMT float reciprocal_rn(float a) { return __frcp_rn(a); }
ASSAY_SIMT float sqrt_rn(float a) { return __fsqrt_rn(a); }
ASSAY_SIMT float fma_rn(float a, float b, float c) { return __fmaf_rn(a, b, c); }
/// The larger number; the other one if one is a NaN; of zeros of both signs, any.
ASSAY_SIMT float larger_of(float a, float b) { return fmaxf(a, b); }
ASSAY_SIMT std::int32_t bits_of(float a) { return __float_as_int(a); }
ASSAY_SIMT float from_bits(std::int32_t a) { return __int_as_float(a); }
/// Nearest integer, ties to even; 0 for a NaN, and the nearest 32-bit integer for larger magnitudes.
ASSAY_SIMT std::int32_t to_int_rn(float a) { return __float2int_rn(a); }
ASSAY_SIMT float to_float_rn(std::int64_t a) { return __ll2float_rn(a); }

ASSAY_SIMT double sub_rn(double a, double b) { return __dsub_rn(a, b); }
ASSAY_SIMT double mul_rn(double a, double b) { return __dmul_rn(a, b); }
ASSAY_SIMT double double_from_bits(std::int64_t a) { return __longlong_as_double(a); }
ASSAY_SIMT float narrow_rn(double a) { return __double2float_rn(a); }
ASSAY_SIMT double to_double_rn(std::uint64_t a) { return __ull2double_rn(a); }
/// Nearest integer, ties to even. REQUIRES |a| < 2^62.
ASSAY_SIMT std::int64_t to_long_rn(double a) { return __double2ll_rn(a); }
/// Zero bits before the first one bit. REQUIRES a != 0.
ASSAY_SIMT unsigned leading_zeros(std::uint64_t a) {
    return static_cast<unsigned>(__clzll(static_cast<long long>(a)));
}

/// Byte `byte` of four words as a word; that of the first is the lowest.
ASSAY_SIMT std::uint32_t same_bytes(unsigned byte, std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                    std::uint32_t d) {
    const unsigned two = byte + ((byte + 4) << 4U);
    return __byte_perm(__byte_perm(a, b, two), __byte_perm(c, d, two), 0x5410);
}

/// The bytes of `a` (0 to 3) and `b` (4 to 7) that the digits of `which` name, the lowest first.
ASSAY_SIMT std::uint32_t pick_bytes(std::uint32_t a, std::uint32_t b, unsigned which) {
    return __byte_perm(a, b, which);
}

/// Returns `a` in a way that the compiler cannot see through. What is made of it is computed anew each time
/// and takes no registers in between.
ASSAY_SIMT unsigned recomputed(unsigned a) {
    asm volatile("" : "+r"(a));
    return a;
}

/// Whether the address is aligned for two numbers, or for four (load4).
ASSAY_SIMT bool is_aligned8(const float* at) { return reinterpret_cast<std::uintptr_t>(at) % 8 == 0; }
ASSAY_BOTH bool is_aligned16(const float* at) { return reinterpret_cast<std::uintptr_t>(at) % 16 == 0; }
/// Loads four neighbouring numbers. REQUIRES an address aligned to 16 bytes.
ASSAY_SIMT void load4(const float* from, float* to) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    to[0] = four.x;
    to[1] = four.y;
    to[2] = four.z;
    to[3] = four.w;
}

/// Stores four neighbouring numbers. REQUIRES an address aligned to 16 bytes.
ASSAY_SIMT void store4(float* to, const float* from) {
    *reinterpret_cast<float4*>(to) = float4{from[0], from[1], from[2], from[3]};
}

/// Loads a number, or four at an address aligned to 16 bytes, that nobody writes while the kernel runs.
ASSAY_SIMT float read(const float* from) { return __ldg(from); }
ASSAY_SIMT void read4(const float* from, float* to) {
    const float4 four = __ldg(reinterpret_cast<const float4*>(from));
    to[0] = four.x;
    to[1] = four.y;
    to[2] = four.z;
    to[3] = four.w;
}

ASSAY_SIMT unsigned word_of(float a) { return __float_as_uint(a); }
ASSAY_SIMT unsigned word_of(std::uint32_t a) { return a; }

template <class T>
struct OutputArray {
    T* data = nullptr;
    std::uint64_t count = 0;
    ASSAY_SIMT void set(std::uint64_t i, T value) const { data[i] = value; }
    /// Stores two numbers. REQUIRES an address aligned to 8 bytes.
    ASSAY_SIMT void set2(std::uint64_t i, T first, T second) const {
        *reinterpret_cast<float2*>(data + i) = float2{first, second};
    }
    /// Stores four words or numbers. REQUIRES an address aligned to 16 bytes.
    ASSAY_SIMT void set4(std::uint64_t i, const T (&values)[4]) const {
        // One instruction: the compiler may take any other store apart where branches meet.
        asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(data + i)),
                     "r"(word_of(values[0])), "r"(word_of(values[1])), "r"(word_of(values[2])),
                     "r"(word_of(values[3]))
                     : "memory");
    }
    ASSAY_SIMT T get(std::uint64_t i) const { return data[i]; }
};

/// Bytes of shared memory that a block has without a request for more.
inline constexpr std::size_t kMostStaticShared = std::size_t{48} << 10U;

class SimtBlock {
public:
    ASSAY_SIMT unsigned x() const { return blockIdx.x; }
    ASSAY_SIMT unsigned y() const { return blockIdx.y; }
    ASSAY_SIMT unsigned z() const { return blockIdx.z; }
    ASSAY_SIMT unsigned grid_x() const { return gridDim.x; }
    ASSAY_SIMT unsigned thread() const { return threadIdx.x; }
    ASSAY_SIMT unsigned lane() const { return threadIdx.x % 32; }
    ASSAY_SIMT unsigned warp() const { return threadIdx.x / 32; }

    template <class Shared>
    ASSAY_SIMT Shared& shared() const {
        if constexpr (sizeof(Shared) > kMostStaticShared) {
            extern __shared__ __align__(1024) unsigned char dynamic_memory[];
            return *reinterpret_cast<Shared*>(dynamic_memory);
        } else {
            __shared__ Shared memory;
            return memory;
        }
    }
    ASSAY_SIMT void sync() const { __syncthreads(); }
    ASSAY_SIMT void sync_warp() const { __syncwarp(); }

    template <class T>
    ASSAY_SIMT T shfl_down(T value, unsigned lanes) const {
        return __shfl_down_sync(0xffffffffU, value, lanes);
    }
    template <class T>
    ASSAY_SIMT T shfl(T value, unsigned lane) const {
        return __shfl_sync(0xffffffffU, value, lane);
    }
    template <class T>
    ASSAY_SIMT T shfl_xor(T value, unsigned lanes) const {
        return __shfl_xor_sync(0xffffffffU, value, lanes);
    }

    /// Whether it is so in any lane of the warp.
    ASSAY_SIMT bool any(bool is_so) const { return __any_sync(0xffffffffU, is_so ? 1 : 0) != 0; }

    /// d += a · b: 16×32 by 32×8 digits of 8 bits, signed; sums of 32 bits wrap around.
    ASSAY_SIMT void mma_s8(std::int32_t (&d)[4], const std::uint32_t (&a)[4],
                           const std::uint32_t (&b)[2]) const {
#if __CUDA_ARCH__ >= 800
        // Volatile: all lanes have to execute it, so no compiler may move it into a branch.
        asm volatile(
            "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
            "{%0,%1,%2,%3};"
            : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
        // The smaller instruction has the same lane layout for each quarter.
        mma_s8_quarter(d[0], d[1], a[0], b[0]);
        mma_s8_quarter(d[0], d[1], a[2], b[1]);
        mma_s8_quarter(d[2], d[3], a[1], b[0]);
        mma_s8_quarter(d[2], d[3], a[3], b[1]);
#endif
    }

    /// Four matrices of eight rows of four words from shared memory: lane l names row l % 8 of matrix l / 8,
    /// at an address of 16 bytes, and gets of each matrix word l % 4 of row l / 4.
    ASSAY_SIMT void load_matrices(std::uint32_t (&words)[4], const std::uint32_t* row) const {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                     : "r"(shared_address(row))
                     : "memory");
    }

    ASSAY_SIMT void copy4(void* to, const void* from, bool valid) const {
#if __CUDA_ARCH__ >= 800
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared_address(to)), "l"(from),
                     "r"(valid ? 4 : 0)
                     : "memory");
#else
        *static_cast<std::uint32_t*>(to) = valid ? *static_cast<const std::uint32_t*>(from) : 0U;
#endif
    }
    ASSAY_SIMT void copy16(void* to, const void* from, bool valid) const {
#if __CUDA_ARCH__ >= 800
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(from),
                     "r"(valid ? 16 : 0)
                     : "memory");
#else
        *static_cast<uint4*>(to) = valid ? *static_cast<const uint4*>(from) : uint4{};
#endif
    }
    ASSAY_SIMT void commit_copies() const {
#if __CUDA_ARCH__ >= 800
        asm volatile("cp.async.commit_group;" ::: "memory");
#endif
    }
    template <int n>
    ASSAY_SIMT void wait_copies() const {
#if __CUDA_ARCH__ >= 800
        asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory");
#endif
    }

    /// A tile in shared memory (swizzled_word) as wgmma_s8 wants it: the lower half of its descriptor.
    struct WgmmaTile {
        unsigned start;
        /// The tile so many words further on.
        ASSAY_SIMT WgmmaTile from(unsigned words) const { return {start + words / 4}; }
    };
    ASSAY_SIMT WgmmaTile wgmma_tile(const std::uint32_t* tile) const {
        return {shared_address(tile) / 16 | 1U << 16U};
    }
    /// d += a · b of a warpgroup, 64×32 by 32×(2·words) digits, begun in the order of calls and done after
    /// wgmma_wait. `step` chooses 32 of 64 k.
    template <unsigned words>
    ASSAY_SIMT void wgmma_s8(std::int32_t (&d)[words], WgmmaTile a, WgmmaTile b, unsigned step) const {
#ifdef ASSAY_WGMMA
        wgmma(d, tile_descriptor(a, step), tile_descriptor(b, step));
#else
        __trap();  // nobody may have started the kernel here
#endif
    }
    ASSAY_SIMT void wgmma_begin() const {
#ifdef ASSAY_WGMMA
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
    }
    ASSAY_SIMT void wgmma_commit() const {
#ifdef ASSAY_WGMMA
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
    }
    template <int n>
    ASSAY_SIMT void wgmma_wait() const {
#ifdef ASSAY_WGMMA
        asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(n) : "memory");
#endif
    }
    /// Keeps the compiler from moving accesses to the sums across it. Call it before the first product and
    /// after the last wait.
    template <unsigned words>
    ASSAY_SIMT void wgmma_hold(std::int32_t (&d)[words]) const {
        ASSAY_UNROLL
        for (unsigned i = 0; i < words; ++i) asm volatile("" : "+r"(d[i])::"memory");
    }
    ASSAY_SIMT void share_with_wgmma() const {
#ifdef ASSAY_WGMMA
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
    }

    ASSAY_SIMT void atomic_min(unsigned* at, unsigned value) const { atomicMin(at, value); }

private:
#ifdef ASSAY_WGMMA
    // Of rows of 64 bytes along k, the swizzle of 64 bytes, eight rows after 512 bytes (PTX ISA, matrix
    // descriptor).
    ASSAY_SIMT static std::uint64_t tile_descriptor(WgmmaTile tile, unsigned step) {
        constexpr std::uint64_t kSwizzle64 = std::uint64_t{2} << 62U,
                                kEightRows = std::uint64_t{512 / 16} << 32U;
        return kSwizzle64 | kEightRows | (tile.start + 2 * step);  // in units of 16 bytes
    }
    ASSAY_SIMT static void wgmma(std::int32_t (&d)[64], std::uint64_t a, std::uint64_t b) {
        asm volatile(
            "wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, "
            "%11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, "
            "%30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, "
            "%49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, 1;"
            : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]),
              "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]),
              "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]),
              "+r"(d[22]), "+r"(d[23]), "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]),
              "+r"(d[29]), "+r"(d[30]), "+r"(d[31]), "+r"(d[32]), "+r"(d[33]), "+r"(d[34]), "+r"(d[35]),
              "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39]), "+r"(d[40]), "+r"(d[41]), "+r"(d[42]),
              "+r"(d[43]), "+r"(d[44]), "+r"(d[45]), "+r"(d[46]), "+r"(d[47]), "+r"(d[48]), "+r"(d[49]),
              "+r"(d[50]), "+r"(d[51]), "+r"(d[52]), "+r"(d[53]), "+r"(d[54]), "+r"(d[55]), "+r"(d[56]),
              "+r"(d[57]), "+r"(d[58]), "+r"(d[59]), "+r"(d[60]), "+r"(d[61]), "+r"(d[62]), "+r"(d[63])
            : "l"(a), "l"(b));
    }
    ASSAY_SIMT static void wgmma(std::int32_t (&d)[48], std::uint64_t a, std::uint64_t b) {
        asm volatile(
            "wgmma.mma_async.sync.aligned.m64n96k32.s32.s8.s8 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, "
            "%11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, "
            "%30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47}, %48, "
            "%49, 1;"
            : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]),
              "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]),
              "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]),
              "+r"(d[22]), "+r"(d[23]), "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]),
              "+r"(d[29]), "+r"(d[30]), "+r"(d[31]), "+r"(d[32]), "+r"(d[33]), "+r"(d[34]), "+r"(d[35]),
              "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39]), "+r"(d[40]), "+r"(d[41]), "+r"(d[42]),
              "+r"(d[43]), "+r"(d[44]), "+r"(d[45]), "+r"(d[46]), "+r"(d[47])
            : "l"(a), "l"(b));
    }
#endif
    ASSAY_SIMT static unsigned shared_address(const void* at) {
        return static_cast<unsigned>(__cvta_generic_to_shared(at));
    }
    ASSAY_SIMT static void mma_s8_quarter(std::int32_t& d0, std::int32_t& d1, std::uint32_t a,
                                          std::uint32_t b) {
        asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0,%1}, {%2}, {%3}, {%0,%1};"
                     : "+r"(d0), "+r"(d1)
                     : "r"(a), "r"(b));
    }
};

using LaunchStream = cudaStream_t;

template <class Kernel>
__global__ void __launch_bounds__(Kernel::kThreads, Kernel::kBlocks) entry(const typename Kernel::Args args) {
    Kernel::run(SimtBlock{}, args);
}

template <class Kernel>
void launch(Grid grid, LaunchStream stream, const typename Kernel::Args& args) {
    static_assert(sizeof args <= 4096);  // a kernel takes no more
    std::size_t dynamic = 0;
    if constexpr (sizeof(typename Kernel::Shared) > kMostStaticShared) {
        dynamic = sizeof(typename Kernel::Shared);
        // Of each card; an error stays for whoever asks for the launch's.
        static_cast<void>(cudaFuncSetAttribute(entry<Kernel>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                               static_cast<int>(dynamic)));
    }
    LaunchWatch* const watch = launch_watch();
    if (watch != nullptr) watch->begin(typeid(Kernel));
    entry<Kernel><<<dim3(grid.x, grid.y, grid.z), Kernel::kThreads, dynamic, stream>>>(args);
    if (watch != nullptr) watch->end();
}

/// Bytes of shared memory that a block may have on the calling thread's card; 0 when that is not known.
inline std::size_t most_shared_bytes() {
    int card = 0, bytes = 0;
    if (cudaGetDevice(&card) != cudaSuccess) return 0;
    if (cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, card) != cudaSuccess)
        return 0;
    return static_cast<std::size_t>(bytes);
}

/// Multiprocessors of the calling thread's card; 1 when that is not known.
inline unsigned processor_count() {
    int card = 0, count = 1;
    if (cudaGetDevice(&card) != cudaSuccess) return 1;
    if (cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, card) != cudaSuccess) return 1;
    return static_cast<unsigned>(count);
}

/// Whether kernels may call wgmma_s8 on the calling thread's card: it has the instructions, and this build
/// has machine code with them (ASSAY_CUDA_90A; trainer/cuda/CMakeLists.txt).
inline bool has_wgmma() {
#ifndef ASSAY_CUDA_90A
    return false;
#endif
    int card = 0, major = 0, minor = 0;
    if (cudaGetDevice(&card) != cudaSuccess) return false;
    if (cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, card) != cudaSuccess) return false;
    if (cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, card) != cudaSuccess) return false;
    return major == 9 && minor == 0;
}

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
