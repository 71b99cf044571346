// SPDX-License-Identifier: Apache-2.0
// Gives CudaDevice CardLanes: what is ordered on a card, what of it is known to be done, and copies of any
// memory of the host by way of pinned memory. CardRoom is memory of the card that grows with what is asked of
// it.
#pragma once

#include <cstdint>
#include <deque>
#include <span>

#include "trainer/cuda/card.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

class CardLanes {
public:
    /// `staging` bytes of pinned memory, at least 1,024, are taken at the first copy.
    CardLanes(Card& card, std::uint64_t staging) : card_(card), size_(staging) {}
    CardLanes(const CardLanes&) = delete;
    CardLanes& operator=(const CardLanes&) = delete;
    ~CardLanes();

    [[nodiscard]] Card& card() { return card_; }
    /// For a launch.
    [[nodiscard]] LaunchStream stream();
    /// Zeros, on kWork.
    void zero(void* at, std::uint64_t bytes);
    /// Between the card and pinned memory, or on the card.
    void copy(CardLane lane, Direction direction, void* to, const void* from, std::uint64_t bytes);
    /// Card::discard.
    void discard(CardLane lane, void* at, std::uint64_t bytes);
    /// Of all that was ordered on the lane so far.
    [[nodiscard]] Ticket record(CardLane lane);
    /// The ticket after which copies may fill what allocate() gave: work before it may still use that memory.
    [[nodiscard]] Ticket allocated();
    void hold(CardLane lane, Ticket until);
    /// What is ordered on `lane` from now on begins after all that was ordered on the other.
    void join(CardLane lane);

    /// Copies from the host, whose bytes may change as soon as it returns. Throws DeviceFailure.
    void to_card(CardLane lane, void* to, const void* from, std::uint64_t bytes);
    /// Waits for all that was ordered on kWork so far and copies to the host; leaves `to` alone once the card
    /// has failed. Throws DeviceFailure.
    void to_host(void* to, const void* from, std::uint64_t bytes);

    /// Waits for what was ordered on both lanes; not at all where it is known to be done.
    void finish();

private:
    // Bytes of pinned memory that are in use until a ticket is done.
    struct Piece {
        std::uint64_t first = 0, last = 0;
        Ticket until;
    };
    [[nodiscard]] std::uint64_t most() const { return size_ / 4; }  // bytes of a piece
    // Pinned memory that nobody needs; the caller says until when it does.
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
    // By lane: the last ticket of the other one that it was held for; and the first ticket of kWork that
    // covers its.
    std::uint64_t held_[2] = {0, 0};
    std::uint64_t held_at_ = 0;  // 0: none
};

/// Memory of a card that grows with what is asked of it.
template <class T>
class CardRoom {
public:
    explicit CardRoom(CardLanes& lanes) : lanes_(lanes) {}
    CardRoom(const CardRoom&) = delete;
    CardRoom& operator=(const CardRoom&) = delete;
    ~CardRoom() {
        if (at_ != nullptr) lanes_.card().release(at_);
    }

    /// Room for `count` numbers; what was there is lost where it grows. Throws DeviceFailure.
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
    /// The numbers, at the front.
    void put(std::span<const T> numbers) {
        const OutputArray<T> array = of(numbers.size());
        if (!numbers.empty())
            lanes_.to_card(CardLane::kWork, array.data, numbers.data(), numbers.size_bytes());
    }
    void put(T number) { put(std::span<const T>(&number, 1)); }
    /// The first number, after all work ordered so far; `number` once the card has failed.
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
