// SPDX-License-Identifier: Apache-2.0
// Gives CudaDevice a Card: memory of a GPU (runtime_card.cpp), or of an emulated one (emulated_card.hpp),
// pinned memory of the host, and two lanes of work. Calls only order work. Work of one lane is done in the
// order of the calls; of work of two lanes nothing is known but what a ticket says.
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
    kCopies,  ///< copies beside them
};

/// All that was ordered on a lane before it was given out.
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

    /// The word that opens a device on it.
    [[nodiscard]] virtual std::string_view name() const = 0;
    /// Bytes that may be allocated at a time; nothing: as much as the host has.
    [[nodiscard]] virtual std::optional<std::uint64_t> capacity() const = 0;
    /// Launches go to CardLane::kWork.
    [[nodiscard]] virtual LaunchStream stream() = 0;

    /// `bytes` of any value, aligned to 256, for what is ordered on kWork from now on: earlier work of that
    /// lane may still use them. Throws DeviceFailure.
    virtual void* allocate(std::uint64_t bytes) = 0;
    /// Takes back what allocate() gave, after all that was ordered on kWork so far.
    virtual void release(void* at) = 0;
    /// Memory of the host that copies may name. Throws std::bad_alloc.
    virtual void* allocate_pinned(std::uint64_t bytes) = 0;
    /// REQUIRES that no copy needs it any more.
    virtual void release_pinned(void* at) = 0;

    /// Zeros, on kWork.
    virtual void zero(void* at, std::uint64_t bytes) = 0;
    /// Within memory of the card, or between it and pinned memory, which must stay as it is until the copy is
    /// done.
    virtual void copy(CardLane lane, Direction direction, void* to, const void* from,
                      std::uint64_t bytes) = 0;

    /// What lies there means nothing any more to what is ordered on the lane from now on: an emulated card
    /// spoils it, so that whoever still reads it shows.
    virtual void discard(CardLane, void*, std::uint64_t) {}

    [[nodiscard]] virtual Ticket record(CardLane lane) = 0;
    /// What is ordered on `lane` from now on begins after what the ticket of the other lane names.
    virtual void hold(CardLane lane, Ticket until) = 0;
    /// Waits until what the ticket names is done.
    virtual void wait(Ticket until) = 0;

    /// Remembers when all that was ordered on kWork so far is done.
    virtual void mark() = 0;
    /// Waits for all marks and forgets them. Seconds of each since the first; nothing once a call has failed.
    [[nodiscard]] virtual std::vector<double> take_marks() = 0;

    /// Whether a call failed: nothing that is copied from the card means anything any more.
    [[nodiscard]] virtual bool has_failed() = 0;
    /// The error of the first call or launch that failed: kUnreachable, or kFailure where memory was short.
    [[nodiscard]] virtual base::Outcome<void> check() = 0;
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
