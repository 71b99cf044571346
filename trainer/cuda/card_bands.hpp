// SPDX-License-Identifier: Apache-2.0
// CardBands streams host arrays through a card for CudaDevice, a part at a time. While kernels work on one
// part, the next one is copied.
#pragma once

#include <cstdint>

#include "trainer/cuda/card_lanes.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

/// The kind of host memory that a copy reads.
enum class HostMemory : std::uint8_t { kPinned, kPlain };

/// Calls for each part: begin(), fill() what kernels read, filled(), launches, take() what kernels wrote,
/// end(). After the last part: finish().
class CardBands {
public:
    explicit CardBands(CardLanes& lanes) : lanes_(lanes) {}
    CardBands(const CardBands&) = delete;
    CardBands& operator=(const CardBands&) = delete;
    ~CardBands() { give_back(); }

    /// Parts take whole pieces of so many bytes, so that kernels may read words of any size from where one
    /// begins.
    static constexpr std::uint64_t kPiece = 256;

    /// Returns room for `wanted` bytes on the card, uninitialised, valid until end(). It begins a multiple of
    /// kPiece behind the beginning of memory that the card allocated. Throws DeviceFailure.
    std::byte* begin(std::uint64_t wanted);
    /// Copies from the host. Bytes in plain memory may change as soon as it returns.
    void fill(void* at, const void* from, std::uint64_t bytes, HostMemory memory);
    /// Launches from now on come after the copies of fill().
    void filled();
    /// Copies the results of the launches so far to pinned memory.
    void take(void* to, const void* at, std::uint64_t bytes);
    void end();
    /// Orders all later work after the copies of take(), so that waiting for it waits for them, too.
    void finish();

private:
    void give_back();

    CardLanes& lanes_;
    std::byte* room_ = nullptr;  // for two parts
    std::uint64_t size_ = 0;     // bytes of one part
    std::size_t turn_ = 0;
    Ticket free_[2];         // when copies may fill a part again
    bool is_taken_ = false;  // something was taken of the current part
    bool is_open_ = false;   // something was taken since finish()
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
