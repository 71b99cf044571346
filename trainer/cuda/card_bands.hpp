// SPDX-License-Identifier: Apache-2.0
// Gives CudaDevice CardBands: host arrays on their way through a card, a part at a time. While kernels work
// on one part the next is on its way.
#pragma once

#include <cstdint>

#include "trainer/cuda/card_lanes.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// Memory of the host as a copy finds it.
enum class HostMemory : std::uint8_t { kPinned, kPlain };

/// For each part: begin(), fill() what it reads, filled(), launches, take() what it wrote, end(). After the
/// last, finish().
class CardBands {
public:
    explicit CardBands(CardLanes& lanes) : lanes_(lanes) {}
    CardBands(const CardBands&) = delete;
    CardBands& operator=(const CardBands&) = delete;
    ~CardBands() { give_back(); }

    /// Room for `bytes` on the card, of any value, until its end(). Throws DeviceFailure.
    std::byte* begin(std::uint64_t bytes);
    /// Of plain memory the bytes may change as soon as it returns.
    void fill(void* at, const void* from, std::uint64_t bytes, HostMemory memory);
    /// Launches from now on find what was filled.
    void filled();
    /// Copies to pinned memory what the launches so far made.
    void take(void* to, const void* at, std::uint64_t bytes);
    void end();
    /// Work ordered from now on begins after all that was taken: who waits for it finds that, too.
    void finish();

private:
    void give_back();

    CardLanes& lanes_;
    std::byte* room_ = nullptr;  // of two parts
    std::uint64_t size_ = 0;     // of one
    std::size_t turn_ = 0;
    Ticket free_[2];         // when copies may fill a part again
    bool is_taken_ = false;  // of the part at hand
    bool is_open_ = false;   // something was taken since finish()
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
