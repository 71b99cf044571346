// SPDX-License-Identifier: Apache-2.0
// BlockRunner runs the threads of one block at a time on one thread of the host, for run_grid.
#pragma once

#include <boost/context/fiber.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "trainer/cuda/simt/simt.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

class BlockRunner {
public:
    BlockRunner() = default;
    BlockRunner(const BlockRunner&) = delete;
    BlockRunner& operator=(const BlockRunner&) = delete;
    ~BlockRunner();

    /// Runs block `index` of the grid.
    void run(const HostKernel& kernel, KernelStream& stream, const Grid& grid, std::uint64_t index);

private:
    friend class SimtBlock;

    enum class ThreadState : std::uint8_t { kReady, kAtBarrier, kInWarp, kEnded };
    struct Copy {
        void* to = nullptr;
        const void* from = nullptr;
        unsigned bytes = 0;
        bool valid = false;
        unsigned group = 0;
    };
    // A lane's part of a warpgroup's product.
    struct WarpgroupProduct {
        std::int32_t* d = nullptr;
        const std::uint32_t* a = nullptr;
        const std::uint32_t* b = nullptr;
        unsigned step = 0;
        unsigned group = 0;
        std::vector<std::int32_t> sums;  // their values when the product begins
        std::uint64_t operands = 0;      // a digest of the operands at that time
    };
    struct Thread {
        Thread(BlockRunner& runner, unsigned index) : block(runner, index) {}
        SimtBlock block;
        ThreadState state = ThreadState::kReady;
        WarpOperation operation = WarpOperation::kNone;
        unsigned operations = 0;  // of its warp so far: they alternate between two sets of words
        unsigned groups = 0;      // of copies so far
        std::vector<Copy> copies;
        unsigned product_groups = 0;
        std::vector<WarpgroupProduct> products;
        boost::context::fiber fiber, caller;
    };
    struct Warp {
        LaneWords words[2][kWarp];
    };

    void prepare(unsigned threads, std::size_t shared_bytes);
    void new_turns(std::uint64_t block);
    void shuffle_turns();
    void run_loops();
    void run_fibers();
    void resume(Thread& thread);
    [[nodiscard]] unsigned count_in(unsigned first, unsigned last, ThreadState state) const;
    void let_go(unsigned first, unsigned last);
    // Lets the warp from thread `first` on continue if all its lanes wait for one another.
    bool release_warp(unsigned first);
    // Lets all threads continue from the barrier. Returns false when every thread has ended.
    bool release_block();
    void wait(unsigned thread, ThreadState state);
    void fault(FaultKind kind) { stream_->faults().add(kind); }

    std::vector<std::unique_ptr<Thread>> threads_;
    std::vector<Warp> warps_;
    std::vector<std::byte> shared_;
    std::size_t used_ = 0;  ///< bytes of `shared_` that the last block used
    std::vector<unsigned> warp_turns_;
    std::array<unsigned, kWarp> lane_turns_{};
    unsigned count_ = 0;
    std::uint64_t random_ = 0;
    bool over_ = false;  // true: fibers return when they are resumed
    const HostKernel* kernel_ = nullptr;
    KernelStream* stream_ = nullptr;
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
