// SPDX-License-Identifier: Apache-2.0
// Gathers the numbers of a step that the host looks at, so that one copy brings all of them.
#pragma once

#include <cstdint>

#include "trainer/cuda/simt/simt.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

inline constexpr unsigned kMostGathered = 8;

struct GatherArgs {
    unsigned count = 0;
    const float* from[kMostGathered] = {};
    const unsigned* diverged = nullptr;
    OutputArray<std::uint32_t> out;  ///< *diverged, then the bits of `count` numbers
};

/// One thread for each number.
struct Gather {
    static constexpr unsigned kThreads = 32;
    static constexpr unsigned kBlocks = 1;
    static constexpr bool kWaits = false;
    using Args = GatherArgs;
    struct Shared {};
    template <class Visit>
    static void outputs(Args& args, const Visit& visit) {
        visit(args.out);
    }
    static ASSAY_SIMT void run(const SimtBlock& block, const Args& args) {
        const unsigned i = block.thread();
        if (i == 0) args.out.set(0, *args.diverged);
        if (i < args.count) args.out.set(1 + i, static_cast<std::uint32_t>(bits_of(*args.from[i])));
    }
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
