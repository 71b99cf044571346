// SPDX-License-Identifier: Apache-2.0
#include "trainer/cuda/emulated_card.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "contracts/base/check.hpp"
#include "contracts/base/floating_point.hpp"
#include "trainer/step/device_failure.hpp"

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

namespace {
constexpr std::size_t kAlignment = 256;
constexpr int kPoison = 0xff;
constexpr std::size_t kMostKept = 16;

std::uint64_t rounded(std::uint64_t bytes) { return (bytes / kAlignment + 1) * kAlignment; }

std::byte* new_block(std::uint64_t bytes) {
    void* const at = std::aligned_alloc(kAlignment, bytes);
    if (at == nullptr) throw std::bad_alloc();
    return static_cast<std::byte*>(at);
}

LaneOrder order_of(ThreadOrder order) {
    switch (order) {
        case ThreadOrder::kAscending: return LaneOrder::kLate;
        case ThreadOrder::kDescending: return LaneOrder::kEarlyCopies;
        case ThreadOrder::kSeeded: return LaneOrder::kDrawn;
    }
    return LaneOrder::kLate;
}
}  // namespace

EmulatedCard::EmulatedCard(int threads, const EmulatedOptions& options)
    : pool_(threads),
      stream_(pool_, options.stream),
      queues_(order_of(options.stream.order), options.stream.seed),
      options_(options) {
    stream_.defer_to([this](std::function<void()> work) { launch(std::move(work)); });
}

EmulatedCard::~EmulatedCard() {
    queues_.forget();
    for (const auto& [at, bytes] : blocks_) std::free(const_cast<std::byte*>(at));
    for (const auto& [at, bytes] : pinned_) std::free(const_cast<std::byte*>(at));
    for (const auto& [at, bytes] : kept_) std::free(at);
}

void EmulatedCard::set_troubles(const CardTroubles& troubles) {
    options_.troubles = troubles;
    calls_ = allocations_ = launches_ = 0;
}

std::optional<std::uint64_t> EmulatedCard::capacity() const {
    return options_.memory == 0 ? std::nullopt : std::optional(options_.memory);
}

bool EmulatedCard::call() {
    ++counts_.calls;
    if (options_.troubles.lost_at && calls_++ >= *options_.troubles.lost_at && failure_.empty()) {
        failure_ = "the card is lost";
        queues_.forget();
    }
    return failure_.empty();
}

void* EmulatedCard::allocate(std::uint64_t bytes) {
    if (!call()) {
        throw lost_device(name(), failure_);
    }
    ++counts_.allocations;
    const std::uint64_t whole = rounded(bytes);
    const bool fails = options_.troubles.no_memory_at == allocations_++;
    if (fails || (options_.memory != 0 && counts_.bytes + whole > options_.memory)) {
        throw out_of_device_memory(name(), whole, counts_.bytes, options_.memory);
    }
    // What was given back last: its bytes may still be in use by work that was ordered before.
    const auto found =
        std::find_if(kept_.rbegin(), kept_.rend(), [&](const auto& one) { return one.second == whole; });
    std::byte* at = nullptr;
    if (found != kept_.rend()) {
        at = found->first;
        kept_.erase(std::next(found).base());
    } else {
        at = new_block(whole);
    }
    blocks_.emplace(at, whole);
    counts_.bytes += whole;
    counts_.peak = std::max(counts_.peak, counts_.bytes);
    queues_.order(CardLane::kWork, [at, whole] { std::memset(at, kPoison, whole); });
    return at;
}

void EmulatedCard::release(void* at) {
    call();
    const auto found = blocks_.find(static_cast<std::byte*>(at));
    ASSAY_CHECK(found != blocks_.end());
    const std::uint64_t whole = found->second;
    blocks_.erase(found);
    counts_.bytes -= whole;
    queues_.order(CardLane::kWork, [at, whole] { std::memset(at, kPoison, whole); });
    kept_.emplace_back(static_cast<std::byte*>(at), whole);
    if (kept_.size() <= kMostKept) return;
    run_all();
    std::free(kept_.front().first);
    kept_.erase(kept_.begin());
}

void* EmulatedCard::allocate_pinned(std::uint64_t bytes) {
    if (!call()) {
        throw lost_device(name(), failure_);
    }
    const std::uint64_t whole = rounded(bytes);
    std::byte* const at = new_block(whole);
    std::memset(at, kPoison, whole);
    pinned_.emplace(at, whole);
    return at;
}

void EmulatedCard::release_pinned(void* at) {
    call();
    run_all();  // a copy that still names it is a mistake that should not end the process
    ASSAY_CHECK(pinned_.erase(static_cast<std::byte*>(at)) == 1);
    std::free(at);
}

void EmulatedCard::zero(void* at, std::uint64_t bytes) {
    if (!call()) return;
    queues_.order(CardLane::kWork, [at, bytes] { std::memset(at, 0, bytes); });
}

void EmulatedCard::discard(CardLane lane, void* at, std::uint64_t bytes) {
    if (!call()) return;
    queues_.order(lane, [at, bytes] { std::memset(at, kPoison, bytes); });
}

bool EmulatedCard::contains(const Blocks& blocks, const void* at, std::uint64_t bytes) {
    const auto* const first = static_cast<const std::byte*>(at);
    auto found = blocks.upper_bound(first);
    if (found == blocks.begin()) return false;
    --found;
    return first + bytes <= found->first + found->second;
}

void EmulatedCard::copy(CardLane lane, Direction direction, void* to, const void* from, std::uint64_t bytes) {
    if (!call()) return;
    counts_.copies_to_card += direction == Direction::kToCard ? 1U : 0U;
    counts_.copies_to_host += direction == Direction::kToHost ? 1U : 0U;
    if (!contains(direction == Direction::kToHost ? pinned_ : blocks_, to, bytes) ||
        !contains(direction == Direction::kToCard ? pinned_ : blocks_, from, bytes)) {
        misplaced_ = "a copy between other places than the card's and pinned ones";
        return;
    }
    queues_.order(lane, [to, from, bytes] { std::memcpy(to, from, bytes); });
}

void EmulatedCard::launch(std::function<void()> work) {
    if (!call()) return;
    ++counts_.launches;
    if (options_.troubles.bad_launch == launches_++) {
        failure_ = "a launch failed";
        return;
    }
    queues_.order(CardLane::kWork, std::move(work));
}

Ticket EmulatedCard::record(CardLane lane) {
    call();
    return queues_.record(lane);
}

void EmulatedCard::hold(CardLane lane, Ticket until) {
    if (call()) queues_.hold(lane, until);
}

void EmulatedCard::wait(Ticket until) {
    ++counts_.waits;
    if (call()) queues_.run_to(until);
}

void EmulatedCard::mark() {
    if (call())
        queues_.order(CardLane::kWork, [this] { marks_.push_back(std::chrono::steady_clock::now()); });
}

std::vector<double> EmulatedCard::take_marks() {
    run_all();
    std::vector<double> seconds;
    if (call()) {
        for (const auto& one : marks_)
            seconds.push_back(std::chrono::duration<double>(one - marks_.front()).count());
    }
    marks_.clear();
    return seconds;
}

void EmulatedCard::run_all() {
    queues_.run_to(queues_.record(CardLane::kWork));
    queues_.run_to(queues_.record(CardLane::kCopies));
}

base::Outcome<void> EmulatedCard::check() {
    if (!failure_.empty()) return base::Failed<base::Error>{lost_device(name(), failure_).error()};
    const std::string faults = stream_.faults().any() ? stream_.faults().to_text() : misplaced_;
    if (!faults.empty()) {
        return base::fail(base::ErrorKind::kPreflight, "a kernel broke a rule of the machine: " + faults,
                          "report this: the kernels of this build are not to be used");
    }
    return base::refuse_floating_point(base::floating_point_faults() | pool_.take_faults());
}

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
