// SPDX-License-Identifier: Apache-2.0
// CudaHostDevice is CudaDevice on an emulated card ("cuda-host"), for tests and to check the kernels without
// a GPU. Its memory is the host's, but not shared: adopted arrays are copies, as on a GPU. Ordered work runs
// late, early or in a random order, depending on the threads' order (lane_queues.hpp); freed memory is reused
// at once. It counts calls, and fails where CardTroubles ask for it. Slow; no miner works on it.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trainer/cuda/cuda_device.hpp"
#include "trainer/cuda/lane_queues.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// Planted failures of a card; each counts from 0.
struct CardTroubles {
    std::optional<std::uint64_t> no_memory_at;  ///< the allocation that fails
    std::optional<std::uint64_t> bad_launch;    ///< the launch that fails
    std::optional<std::uint64_t> lost_at;       ///< the call from which on the card does nothing
};

struct EmulatedOptions {
    StreamOptions stream = {};  ///< kAscending: lanes run late; kDescending: early copies; kSeeded: random
    std::uint64_t memory = 0;   ///< bytes of the card; 0: as many as the host has
    CardTroubles troubles = {};
};

/// How often a card was used.
struct CardCounts {
    std::uint64_t waits = 0;
    std::uint64_t copies_to_card = 0;
    std::uint64_t copies_to_host = 0;
    std::uint64_t allocations = 0;
    std::uint64_t launches = 0;
    std::uint64_t calls = 0;  ///< of all kinds
    std::uint64_t bytes = 0;  ///< bytes of the card in use
    std::uint64_t peak = 0;   ///< the most bytes in use at a time
};

class EmulatedCard final : public Card {
public:
    EmulatedCard(int threads, const EmulatedOptions& options);
    ~EmulatedCard() override;

    [[nodiscard]] const CardCounts& counts() const { return counts_; }
    /// Counts of the troubles begin now.
    void set_troubles(const CardTroubles& troubles);

    [[nodiscard]] std::string_view name() const override { return "cuda-host"; }
    [[nodiscard]] std::optional<std::uint64_t> capacity() const override;
    [[nodiscard]] LaunchStream stream() override { return stream_; }
    void* allocate(std::uint64_t bytes) override;
    void release(void* at) override;
    void* allocate_pinned(std::uint64_t bytes) override;
    void release_pinned(void* at) override;
    void zero(void* at, std::uint64_t bytes) override;
    void copy(CardLane lane, Direction direction, void* to, const void* from, std::uint64_t bytes) override;
    void discard(CardLane lane, void* at, std::uint64_t bytes) override;
    [[nodiscard]] Ticket record(CardLane lane) override;
    void hold(CardLane lane, Ticket until) override;
    void wait(Ticket until) override;
    void mark() override;
    /// Measures the host's time.
    [[nodiscard]] std::vector<double> take_marks() override;
    [[nodiscard]] bool has_failed() override { return !failure_.empty(); }
    [[nodiscard]] base::Outcome<void> check() override;

private:
    using Blocks = std::map<const std::byte*, std::uint64_t>;  // bytes by address

    // Counts a call; returns false when the card is lost.
    bool call();
    void launch(std::function<void()> work);
    [[nodiscard]] static bool contains(const Blocks& blocks, const void* at, std::uint64_t bytes);
    void run_all();

    ThreadPool pool_;
    KernelStream stream_;
    LaneQueues queues_;
    EmulatedOptions options_;
    CardCounts counts_;
    std::uint64_t calls_ = 0, allocations_ = 0, launches_ = 0;  // since the troubles were set
    std::string failure_;                                       // empty: none
    std::string misplaced_;  // the first copy between impossible places; empty: none
    Blocks blocks_, pinned_;
    std::vector<std::chrono::steady_clock::time_point> marks_;
    std::vector<std::pair<std::byte*, std::uint64_t>> kept_;  // freed blocks, for reuse
};

class CudaHostDevice final : public CudaDevice {
public:
    explicit CudaHostDevice(int threads, const StreamOptions& options = {})
        : CudaHostDevice(threads, EmulatedOptions{.stream = options}) {}
    CudaHostDevice(int threads, const EmulatedOptions& options, const CudaOptions& sizes = {})
        : CudaDevice(std::make_unique<EmulatedCard>(threads, options), sizes) {}
    [[nodiscard]] EmulatedCard& emulated() { return static_cast<EmulatedCard&>(card()); }
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
