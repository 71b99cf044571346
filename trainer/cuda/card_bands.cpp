// SPDX-License-Identifier: Apache-2.0
#include "trainer/cuda/card_bands.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

void CardBands::give_back() {
    if (room_ == nullptr) return;
    lanes_.join(CardLane::kWork);  // copies may still use the room
    lanes_.card().release(room_);
    room_ = nullptr;
    size_ = 0;
}

std::byte* CardBands::begin(std::uint64_t wanted) {
    const std::uint64_t bytes = (wanted + kPiece - 1) / kPiece * kPiece;
    if (bytes > size_) {
        give_back();
        room_ = static_cast<std::byte*>(lanes_.card().allocate(2 * bytes));
        size_ = bytes;
        free_[0] = free_[1] = lanes_.allocated();
    }
    turn_ ^= 1U;
    lanes_.hold(CardLane::kCopies, free_[turn_]);
    return room_ + turn_ * size_;
}

void CardBands::fill(void* at, const void* from, std::uint64_t bytes, HostMemory memory) {
    if (memory == HostMemory::kPlain) return lanes_.to_card(CardLane::kCopies, at, from, bytes);
    lanes_.copy(CardLane::kCopies, Direction::kToCard, at, from, bytes);
}

void CardBands::filled() { lanes_.join(CardLane::kWork); }

void CardBands::take(void* to, const void* at, std::uint64_t bytes) {
    // The first array of a part waits for the launches; further ones of that part need not.
    if (!is_taken_) lanes_.join(CardLane::kCopies);
    is_taken_ = is_open_ = true;
    lanes_.copy(CardLane::kCopies, Direction::kToHost, to, at, bytes);
}

void CardBands::end() {
    // Where something was taken the lane of copies has waited for the launches already.
    lanes_.discard(is_taken_ ? CardLane::kCopies : CardLane::kWork, room_ + turn_ * size_, size_);
    free_[turn_] = is_taken_ ? Ticket{} : lanes_.record(CardLane::kWork);
    is_taken_ = false;
}

void CardBands::finish() {
    if (is_open_) lanes_.join(CardLane::kWork);
    is_open_ = false;
}

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
