// SPDX-License-Identifier: Apache-2.0
// CardLanes orders work on a card for CudaDevice, tracks which of it is known to be done, and copies any
// memory of the host by way of pinned memory. CardRoom is memory of the card that grows on demand.
#pragma once

#include <cstdint>
#include <deque>
#include <span>

#include "trainer/cuda/card.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

class CardLanes {
public:
    /// The first copy allocates `staging` bytes of pinned memory. REQUIRES staging >= 1,024.
    CardLanes(Card& card, std::uint64_t staging) : card_(card), size_(staging) {}
    CardLanes(const CardLanes&) = delete;
    CardLanes& operator=(const CardLanes&) = delete;
    ~CardLanes();

    [[nodiscard]] Card& card() { return card_; }
    /// The stream for a launch.
    [[nodiscard]] LaunchStream stream();
    /// Writes zeros, on kWork.
    void zero(void* at, std::uint64_t bytes);
    /// Copies between the card and pinned memory, or on the card.
    void copy(CardLane lane, Direction direction, void* to, const void* from, std::uint64_t bytes);
    /// Card::discard.
    void discard(CardLane lane, void* at, std::uint64_t bytes);
    /// The ticket of all work that was ordered on the lane so far.
    [[nodiscard]] Ticket record(CardLane lane);
    /// The ticket after which copies may fill memory from allocate(). Earlier work may still use it.
    [[nodiscard]] Ticket allocated();
    void hold(CardLane lane, Ticket until);
    /// Work ordered on `lane` from now on begins after all work that was ordered on the other lane.
    void join(CardLane lane);

    /// Copies from the host, whose bytes may change as soon as it returns. Throws DeviceFailure.
    void to_card(CardLane lane, void* to, const void* from, std::uint64_t bytes);
    /// Waits for all work that was ordered on kWork so far and copies to the host. Does not change `to` once
    /// the card has failed. Throws DeviceFailure.
    void to_host(void* to, const void* from, std::uint64_t bytes);

    /// Waits for all work of both lanes, unless that is known to be done.
    void finish();

private:
    // A range of pinned memory that is in use until a ticket is done.
    struct Piece {
        std::uint64_t first = 0, last = 0;
        Ticket until;
    };
    [[nodiscard]] std::uint64_t most() const { return size_ / 4; }  // the most bytes of a piece
    // Returns pinned memory that is not in use. The caller then declares by occupy() until when it is.
    std::byte* stage(std::uint64_t bytes);
    void occupy(const std::byte* at, std::uint64_t bytes, Ticket until);
    [[nodiscard]] bool is_done(Ticket ticket) const { return ticket.number <= done_[index(ticket.lane)]; }
    void wait(Ticket until);
    static std::size_t index(CardLane lane) { return static_cast<std::size_t>(lane); }

    Card& card_;
    std::uint64_t size_;
    std::byte* pinned_ = nullptr;
    std::uint64_t next_ = 0;  // where the next piece begins
    std::deque<Piece> pieces_;
    // By lane: whether anything was ordered since the last ticket, that ticket, and the last one that is
    // known to be done.
    bool is_ordered_[2] = {false, false};
    std::uint64_t last_[2] = {0, 0};
    std::uint64_t done_[2] = {0, 0};
    // By lane: the last ticket of the other lane that it was held for. `held_at_`: the first ticket of kWork
    // after its last hold. When that is done, so are the copies that kWork was held for.
    std::uint64_t held_[2] = {0, 0};
    std::uint64_t held_at_ = 0;  // 0: none
};

/// Memory of a card that grows on demand.
template <class T>
class CardRoom {
public:
    explicit CardRoom(CardLanes& lanes) : lanes_(lanes) {}
    CardRoom(const CardRoom&) = delete;
    CardRoom& operator=(const CardRoom&) = delete;
    ~CardRoom() {
        if (at_ != nullptr) lanes_.card().release(at_);
    }

    /// Returns room for `count` numbers. When it grows, its content is lost. Throws DeviceFailure.
    [[nodiscard]] OutputArray<T> of(std::uint64_t count) {
        if (count > count_) {
            if (at_ != nullptr) lanes_.card().release(at_);
            at_ = nullptr;
            count_ = 0;
            at_ = static_cast<T*>(lanes_.card().allocate(count * sizeof(T)));
            count_ = count;
        }
        OutputArray<T> array;
        array.data = at_;
        array.count = count;
        return array;
    }
    /// Copies the numbers to its front.
    void put(std::span<const T> numbers) {
        const OutputArray<T> array = of(numbers.size());
        if (!numbers.empty())
            lanes_.to_card(CardLane::kWork, array.data, numbers.data(), numbers.size_bytes());
    }
    void put(T number) { put(std::span<const T>(&number, 1)); }
    /// Returns the first number, after all work ordered so far; `number` once the card has failed.
    [[nodiscard]] T first(T number) const {
        lanes_.to_host(&number, at_, sizeof(T));
        return number;
    }
    [[nodiscard]] T* data() const { return at_; }

private:
    CardLanes& lanes_;
    T* at_ = nullptr;
    std::uint64_t count_ = 0;
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
