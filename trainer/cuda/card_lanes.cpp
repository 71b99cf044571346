// SPDX-License-Identifier: Apache-2.0
#include "trainer/cuda/card_lanes.hpp"

#include <algorithm>
#include <cstring>

#include "contracts/base/check.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

CardLanes::~CardLanes() {
    if (pinned_ == nullptr) return;
    finish();
    card_.release_pinned(pinned_);
}

LaunchStream CardLanes::stream() {
    is_ordered_[index(CardLane::kWork)] = true;
    return card_.stream();
}

void CardLanes::zero(void* at, std::uint64_t bytes) {
    is_ordered_[index(CardLane::kWork)] = true;
    card_.zero(at, bytes);
}

void CardLanes::copy(CardLane lane, Direction direction, void* to, const void* from, std::uint64_t bytes) {
    is_ordered_[index(lane)] = true;
    card_.copy(lane, direction, to, from, bytes);
}

void CardLanes::discard(CardLane lane, void* at, std::uint64_t bytes) {
    is_ordered_[index(lane)] = true;
    card_.discard(lane, at, bytes);
}

void CardLanes::hold(CardLane lane, Ticket until) {
    if (is_done(until) || until.number <= held_[index(lane)]) return;
    is_ordered_[index(lane)] = true;
    card_.hold(lane, until);
    held_[index(lane)] = until.number;
    if (lane == CardLane::kWork) held_at_ = record(CardLane::kWork).number;
}

Ticket CardLanes::record(CardLane lane) {
    const std::size_t i = index(lane);
    if (is_ordered_[i]) last_[i] = card_.record(lane).number;
    is_ordered_[i] = false;
    return {lane, last_[i]};
}

Ticket CardLanes::allocated() {
    is_ordered_[index(CardLane::kWork)] = true;
    return record(CardLane::kWork);
}

void CardLanes::join(CardLane lane) {
    hold(lane, record(lane == CardLane::kWork ? CardLane::kCopies : CardLane::kWork));
}

void CardLanes::wait(Ticket until) {
    if (is_done(until)) return;
    card_.wait(until);
    done_[index(until.lane)] = until.number;
    // Work waited for copies: with it they are done.
    if (until.lane == CardLane::kWork && held_at_ != 0 && until.number >= held_at_) {
        std::uint64_t& copies = done_[index(CardLane::kCopies)];
        copies = std::max(copies, held_[index(CardLane::kWork)]);
    }
    while (!pieces_.empty() && is_done(pieces_.front().until)) pieces_.pop_front();
}

void CardLanes::finish() {
    wait(record(CardLane::kWork));
    wait(record(CardLane::kCopies));
}

std::byte* CardLanes::stage(std::uint64_t bytes) {
    if (pinned_ == nullptr) pinned_ = static_cast<std::byte*>(card_.allocate_pinned(size_));
    ASSAY_CHECK(bytes <= most());
    if (next_ + bytes > size_) next_ = 0;
    const std::uint64_t first = next_, last = next_ + bytes;
    const auto in_use = [&] {
        return std::any_of(pieces_.begin(), pieces_.end(),
                           [&](const Piece& one) { return one.first < last && first < one.last; });
    };
    while (in_use()) {
        wait(pieces_.front().until);
        if (!pieces_.empty() && is_done(pieces_.front().until)) pieces_.pop_front();
    }
    constexpr std::uint64_t kAlignment = 64;
    next_ = (last + kAlignment - 1) / kAlignment * kAlignment;
    return pinned_ + first;
}

void CardLanes::occupy(const std::byte* at, std::uint64_t bytes, Ticket until) {
    const auto first = static_cast<std::uint64_t>(at - pinned_);
    pieces_.push_back({first, first + bytes, until});
}

void CardLanes::to_card(CardLane lane, void* to, const void* from, std::uint64_t bytes) {
    for (std::uint64_t done = 0; done < bytes;) {
        const std::uint64_t now = std::min(most(), bytes - done);
        std::byte* const piece = stage(now);
        std::memcpy(piece, static_cast<const std::byte*>(from) + done, now);
        copy(lane, Direction::kToCard, static_cast<std::byte*>(to) + done, piece, now);
        occupy(piece, now, record(lane));
        done += now;
    }
}

void CardLanes::to_host(void* to, const void* from, std::uint64_t bytes) {
    // One piece is on its way while the one before it is copied on.
    struct Coming {
        const std::byte* piece = nullptr;
        std::uint64_t at = 0, bytes = 0;
        Ticket ready;
    };
    std::deque<Coming> coming;
    const auto take = [&] {
        const Coming& one = coming.front();
        wait(one.ready);
        if (!card_.has_failed()) std::memcpy(static_cast<std::byte*>(to) + one.at, one.piece, one.bytes);
        coming.pop_front();
    };
    for (std::uint64_t done = 0; done < bytes;) {
        const std::uint64_t now = std::min(most(), bytes - done);
        std::byte* const piece = stage(now);
        copy(CardLane::kWork, Direction::kToHost, piece, static_cast<const std::byte*>(from) + done, now);
        coming.push_back({piece, done, now, record(CardLane::kWork)});
        occupy(piece, now, coming.back().ready);
        done += now;
        if (coming.size() == 2) take();
    }
    while (!coming.empty()) take();
}

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
