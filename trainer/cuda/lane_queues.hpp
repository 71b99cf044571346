// SPDX-License-Identifier: Apache-2.0
// LaneQueues holds the work that was ordered on the emulated card's two lanes and is not done yet. Work runs
// only when somebody waits for it, or copies run as early as they may, or the order is random: code that
// relies on an order that no ticket fixes meets another one.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>

#include "trainer/cuda/card.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

enum class LaneOrder : std::uint8_t { kLate, kEarlyCopies, kDrawn };

class LaneQueues {
public:
    using Work = std::function<void()>;

    /// `seed` is for kDrawn.
    LaneQueues(LaneOrder order, std::uint64_t seed) : order_(order), random_(seed) {}

    void order(CardLane lane, Work work);
    void hold(CardLane lane, Ticket until);
    [[nodiscard]] Ticket record(CardLane lane) const { return {lane, queue(lane).ordered}; }
    /// Runs the work that the ticket stands for, and the other lane's work that it was held for.
    void run_to(Ticket until);
    /// Drops all work that is left.
    void forget();

private:
    struct Entry {
        Work work;
        std::optional<Ticket> until;  // a hold
    };
    struct Queue {
        std::deque<Entry> entries;
        std::uint64_t ordered = 0, done = 0;
    };
    [[nodiscard]] Queue& queue(CardLane lane) { return queues_[static_cast<std::size_t>(lane)]; }
    [[nodiscard]] const Queue& queue(CardLane lane) const { return queues_[static_cast<std::size_t>(lane)]; }
    void add(CardLane lane, Entry entry);
    // Whether the lane's next entry need not wait for the other lane.
    [[nodiscard]] bool may_run(CardLane lane) const;
    void run_next(CardLane lane);
    // Runs work that nobody waits for yet, as `order_` allows.
    void run_early();

    Queue queues_[2];
    LaneOrder order_;
    std::uint64_t random_;
};

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
