// SPDX-License-Identifier: Apache-2.0
// The machine that kernels are written for: blocks of threads that share memory and wait for one another,
// warps of 32 lanes, and arithmetic rounded to nearest even. nvcc compiles the same text for a GPU
// (device-inl.hpp), and the host's compiler for an emulation (host-inl.hpp).
//
// A kernel is a class K with
//   kThreads              threads of a block, a multiple of 32
//   kBlocks               least number of blocks that a multiprocessor has room for at a time
//   kWaits                whether threads wait for one another: at barriers, in warp operations, for copies
//   Args                  its arguments: numbers, addresses of the device, and an OutputArray for each output
//   Shared                memory of a block, uninitialised
//   outputs(Args&, visit) calls visit(array) for every OutputArray of the arguments
//   static ASSAY_SIMT void run(const SimtBlock& block, const Args& args)    the work of one thread
// launch<K>(grid, stream, args) starts it. A launch writes every number of an OutputArray at most once.
// Functions that threads call are ASSAY_SIMT; those that launching code calls, too, are ASSAY_BOTH.
//
// SimtBlock has x(), y(), z() (its place in the grid), grid_x(), thread(), lane(), warp(), shared<Shared>(),
// sync(), sync_warp(), shfl_down(value, lanes), shfl(value, lane) and shfl_xor(value, lanes) of 32-bit
// numbers, any(bool) of a warp, mma_s8, load_matrices, atomic_min, copy4 and copy16. Copies go from memory to
// shared memory. commit_copies() makes a group of them; wait_copies<n>() waits for all but the last n groups.
// Copies that are not `valid` write zeros. All lanes of a warp take part in a warp's operation.
//
// If has_wgmma(), a warpgroup (four consecutive warps from a multiple of four on) can multiply tiles in
// shared memory: wgmma_begin(), wgmma_s8 of wgmma_tile()s, wgmma_commit(), and wgmma_wait<n>() for all but
// the last n groups. Until that wait no thread may change the tiles or read the sums; wgmma_hold(sums) tells
// the compiler so, before the first product and after the last wait. share_with_wgmma() comes between a
// thread's writes or copies to a tile and the barrier before its product.
#pragma once

#include <cstdint>
#include <typeinfo>

#include "trainer/cuda/simt/machine.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// Blocks of a launch along x, y and z.
struct Grid {
    unsigned x = 1;
    unsigned y = 1;
    unsigned z = 1;
};

/// Observes the launches of a thread. Work that begin() and end() order comes right before and after a
/// launch.
class LaunchWatch {
public:
    virtual ~LaunchWatch() = default;
    virtual void begin(const std::type_info& kernel) = 0;
    virtual void end() = 0;
};

/// The observer of the calling thread's launches; null: none.
inline LaunchWatch*& launch_watch() {
    thread_local LaunchWatch* watch = nullptr;
    return watch;
}

/// Lanes of a warp, and of the law's row sums (contracts/arithmetic/reduce.hpp).
inline constexpr unsigned kWarp = 32;

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda

#if defined(__CUDACC__)
#include "trainer/cuda/simt/device-inl.hpp"
#else
#include "trainer/cuda/simt/host-inl.hpp"
#endif

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// Index of word `word` of 16, of a line of 64 digits, in a tile for wgmma_s8 that begins at a multiple of
/// 1,024 bytes. Pieces of four words change places, so that eight lines are read from different banks (PTX
/// ISA, swizzle of 64 bytes).
ASSAY_BOTH unsigned swizzled_word(unsigned line, unsigned word) {
    return line * 16 + (word / 4 ^ line / 2 % 4) * 4 + word % 4;
}

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
