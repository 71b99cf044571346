// SPDX-License-Identifier: Apache-2.0
#include "trainer/cuda/lane_queues.hpp"

#include <utility>

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

void LaneQueues::order(CardLane lane, Work work) { add(lane, {std::move(work), std::nullopt}); }

void LaneQueues::hold(CardLane lane, Ticket until) { add(lane, {{}, until}); }

void LaneQueues::add(CardLane lane, Entry entry) {
    queue(lane).entries.push_back(std::move(entry));
    ++queue(lane).ordered;
    run_early();
}

void LaneQueues::run_early() {
    if (order_ == LaneOrder::kEarlyCopies) {
        while (may_run(CardLane::kCopies)) run_next(CardLane::kCopies);
    }
    if (order_ != LaneOrder::kDrawn) return;
    constexpr std::uint64_t kMultiplier = 6364136223846793005U, kIncrement = 1442695040888963407U;
    constexpr unsigned kTopBits = 61;  // the top ones of the generator are its best
    random_ = random_ * kMultiplier + kIncrement;
    const std::uint64_t draw = random_ >> kTopBits;  // 0 … 7
    if (draw > 3) return;
    const CardLane lane = draw % 2 == 0 ? CardLane::kWork : CardLane::kCopies;
    if (may_run(lane)) run_next(lane);
}

bool LaneQueues::may_run(CardLane lane) const {
    const Queue& mine = queue(lane);
    if (mine.entries.empty()) return false;
    const auto& until = mine.entries.front().until;
    return !until || queue(until->lane).done >= until->number;
}

void LaneQueues::run_next(CardLane lane) {
    Queue& mine = queue(lane);
    // A hold stays in front until its ticket is done: nothing behind it runs before.
    if (!may_run(lane)) return run_to(*mine.entries.front().until);
    const Entry entry = std::move(mine.entries.front());
    mine.entries.pop_front();
    if (entry.work) entry.work();
    ++mine.done;
}

void LaneQueues::run_to(Ticket until) {
    const auto is_open = [&] {
        const Queue& one = queue(until.lane);
        return one.done < until.number && !one.entries.empty();
    };
    while (is_open()) {
        run_early();
        if (is_open()) run_next(until.lane);
    }
}

void LaneQueues::forget() {
    for (Queue& one : queues_) {
        one.entries.clear();
        one.done = one.ordered;
    }
}

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
