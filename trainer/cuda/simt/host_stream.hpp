// SPDX-License-Identifier: Apache-2.0
// KernelStream is where kernels are launched on the host: it has the threads that run them, the order in
// which the threads of a block take turns, and the faults that were found.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "trainer/cuda/simt/host_block-inl.hpp"
#include "trainer/host/thread_pool.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

struct Grid;

/// The order in which the threads of a block run between two waits, and in which blocks run.
enum class ThreadOrder : std::uint8_t { kAscending, kDescending, kSeeded };

/// A rule of the machine that a kernel broke.
enum class FaultKind : std::uint8_t {
    kLeftBarrier,     ///< threads wait at a barrier or for their warp while others ended or wait elsewhere
    kMixedWarp,       ///< lanes of a warp are in different operations
    kWaitUndeclared,  ///< a kernel waited that declares no waits
    kLeftCopies,      ///< a thread ended without waiting for its copies or products
    kTwoWrites,       ///< a number of an output was written twice
    kOutsideOutput,   ///< a number beyond an output was written
    kMovedOperand,    ///< a tile changed between a warpgroup's product and its wait
    kTooManyBlocks,   ///< the grid is larger than any card takes
    kMisaligned,      ///< a copy of 4 or 16 bytes, or a matrix's row, at an address that is no multiple
};
inline constexpr std::size_t kFaultKinds = 9;

/// Counts faults by kind. Any thread may add.
class SimtFaults {
public:
    void add(FaultKind kind) { counts_[static_cast<std::size_t>(kind)].fetch_add(1); }
    [[nodiscard]] std::uint64_t count(FaultKind kind) const {
        return counts_[static_cast<std::size_t>(kind)].load();
    }
    [[nodiscard]] bool any() const;
    /// A text for people: every kind that was seen, and how often.
    [[nodiscard]] std::string to_text() const;

private:
    std::array<std::atomic<std::uint64_t>, kFaultKinds> counts_{};
};

struct StreamOptions {
    ThreadOrder order = ThreadOrder::kAscending;
    std::uint64_t seed = 1;  ///< for kSeeded
    bool checks = true;      ///< marks every number that is written, to find kTwoWrites
};

class KernelStream {
public:
    /// `pool` must outlive the stream.
    explicit KernelStream(ThreadPool& pool, const StreamOptions& options = {})
        : pool_(pool), options_(options) {}
    [[nodiscard]] ThreadPool& pool() { return pool_; }
    [[nodiscard]] const StreamOptions& options() const { return options_; }
    [[nodiscard]] bool checks() const { return options_.checks; }
    [[nodiscard]] SimtFaults& faults() { return faults_; }

    using Defer = std::function<void(std::function<void()>)>;
    /// Passes launches to `defer` from now on. It must run each once, in order, on the thread that uses the
    /// stream.
    void defer_to(Defer defer) { defer_ = std::move(defer); }
    /// Empty: launches run at once.
    [[nodiscard]] const Defer& defer() const { return defer_; }

private:
    ThreadPool& pool_;
    StreamOptions options_;
    SimtFaults faults_;
    Defer defer_;
};

/// A kernel with its type erased.
struct HostKernel {
    void (*run)(const SimtBlock& block, const void* args) = nullptr;
    const void* args = nullptr;
    unsigned threads = 0;
    std::size_t shared_bytes = 0;
    bool waits = false;
};

/// Runs every block of the grid once.
void run_grid(const Grid& grid, KernelStream& stream, const HostKernel& kernel);

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
