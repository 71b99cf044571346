// SPDX-License-Identifier: Apache-2.0
// Gives kernels the machine that they are written for: blocks of threads that share memory and wait for one
// another, warps of 32 lanes, and arithmetic rounded to nearest even. The same text is compiled by nvcc for a
// GPU (device-inl.hpp) and by the host's compiler for an emulation (host-inl.hpp).
//
// A kernel is a class K with
//   kThreads              threads of a block, a multiple of 32
//   kBlocks               blocks that a processor of the GPU has room for at a time, at least
//   kWaits                whether threads wait for one another: at barriers, in warp operations, for copies
//   Args                  what it works on: numbers, addresses of the device, each OutputArray
//   Shared                memory of a block; nothing is in it at first
//   outputs(Args&, visit) calls visit(array) for every OutputArray of the arguments
//   static ASSAY_SIMT void run(const SimtBlock& block, const Args& args)    what a thread does
// and is started by launch<K>(grid, stream, args). A launch writes every number of an OutputArray once.
// A function is ASSAY_SIMT where threads call it, ASSAY_BOTH where whoever launches does, too.
//
// SimtBlock has x(), y(), z() (its place in the grid), thread(), lane(), warp(), shared<Shared>(), sync(),
// shfl_down(value, lanes), shfl(value, lane) and shfl_xor(value, lanes) of 32-bit numbers, mma_s8,
// load_matrices, copy4 and copy16 (from memory to shared memory, there after commit_copies() and
// wait_copies<n>(), all but the last n groups of them; what is not `valid` becomes zeros), and atomic_min.
// All lanes of a warp take part in a warp's operation.
//
// Where has_wgmma(), four warps that follow one another from a multiple of four on, a warpgroup, multiply
// tiles in shared memory: wgmma_begin(), wgmma_s8, wgmma_commit(), and wgmma_wait<n>() for all but the last n
// groups. Until then nobody changes the tiles or looks at the sums, as wgmma_hold(sums) tells the compiler
// before the first product and after the last wait. share_with_wgmma() comes between a thread's writes or
// copies to a tile and the barrier after which it is multiplied.
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

/// Sees launches of a thread: what it orders in begin() and end() comes right before and after one.
class LaunchWatch {
public:
    virtual ~LaunchWatch() = default;
    virtual void begin(const std::type_info& kernel) = 0;
    virtual void end() = 0;
};

/// Who sees launches of the calling thread; null: nobody.
inline LaunchWatch*& launch_watch() {
    thread_local LaunchWatch* watch = nullptr;
    return watch;
}

/// Lanes of a warp: also those of the law's row sums (contracts/arithmetic/reduce.hpp).
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

/// Where word `word` of 16 of a line of 64 digits lies in a tile for wgmma_s8, whose first word lies at a
/// multiple of 1,024 bytes: pieces of four words change places, so that eight lines are read from different
/// banks (PTX ISA, swizzle of 64 bytes).
ASSAY_BOTH unsigned swizzled_word(unsigned line, unsigned word) {
    return line * 16 + (word / 4 ^ line / 2 % 4) * 4 + word % 4;
}

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
