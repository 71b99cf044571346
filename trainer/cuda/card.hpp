// SPDX-License-Identifier: Apache-2.0
// Card is a GPU (runtime_card.cpp) or an emulated one (emulated_card.hpp) as CudaDevice uses it: memory of
// the card, pinned memory of the host, and two lanes of work. Calls only order work. One lane does its work
// in the order of the calls; between two lanes only tickets fix an order.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "contracts/base/error.hpp"
#include "trainer/cuda/simt/simt.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

enum class CardLane : std::uint8_t {
    kWork,    ///< launches and copies that kernels wait for
    kCopies,  ///< copies that run at the same time
};

/// Stands for all work that was ordered on a lane before record() returned it.
struct Ticket {
    CardLane lane = CardLane::kWork;
    std::uint64_t number = 0;  ///< ascending in its lane
};

enum class Direction : std::uint8_t { kToCard, kToHost, kOnCard };

class Card {
public:
    Card() = default;
    Card(const Card&) = delete;
    Card& operator=(const Card&) = delete;
    virtual ~Card() = default;

    /// The name by which trainer/devices opens it.
    [[nodiscard]] virtual std::string_view name() const = 0;
    /// Bytes that may be allocated at the same time; nothing: as many as the host has.
    [[nodiscard]] virtual std::optional<std::uint64_t> capacity() const = 0;
    /// Launches go to CardLane::kWork.
    [[nodiscard]] virtual LaunchStream stream() = 0;

    /// Allocates `bytes` uninitialised bytes, aligned to 256, for work that is ordered on kWork from now on.
    /// Earlier work of that lane may still use them. Throws DeviceFailure.
    virtual void* allocate(std::uint64_t bytes) = 0;
    /// Frees what allocate() returned, after all work that was ordered on kWork so far.
    virtual void release(void* at) = 0;
    /// Allocates pinned memory of the host, as copy() needs it. Throws std::bad_alloc.
    virtual void* allocate_pinned(std::uint64_t bytes) = 0;
    /// Frees pinned memory. REQUIRES that no copy needs it any more.
    virtual void release_pinned(void* at) = 0;

    /// Writes zeros, on kWork.
    virtual void zero(void* at, std::uint64_t bytes) = 0;
    /// Copies within the card's memory, or between it and pinned memory. The host must not change that until
    /// the copy is done.
    virtual void copy(CardLane lane, Direction direction, void* to, const void* from,
                      std::uint64_t bytes) = 0;

    /// Declares that work ordered on the lane from now on does not read these bytes. An emulated card
    /// overwrites them, so that tests find work that reads them all the same.
    virtual void discard(CardLane, void*, std::uint64_t) {}

    [[nodiscard]] virtual Ticket record(CardLane lane) = 0;
    /// Work ordered on `lane` from now on begins after the work that a ticket of the other lane stands for.
    virtual void hold(CardLane lane, Ticket until) = 0;
    /// Waits until the work that the ticket stands for is done.
    virtual void wait(Ticket until) = 0;

    /// Sets a mark: the time when all work ordered on kWork so far is done.
    virtual void mark() = 0;
    /// Waits for all marks, forgets them and returns each one's seconds since the first. Empty once a call
    /// has failed.
    [[nodiscard]] virtual std::vector<double> take_marks() = 0;

    /// Whether a call failed. Everything copied from the card is then meaningless.
    [[nodiscard]] virtual bool has_failed() = 0;
    /// Fails with the error of the first call or launch that failed: kFailure when memory was short, else
    /// kUnreachable.
    [[nodiscard]] virtual base::Outcome<void> check() = 0;
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
