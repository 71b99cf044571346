// SPDX-License-Identifier: Apache-2.0
#include "trainer/cuda/simt/host_runner.hpp"

#include <boost/context/fixedsize_stack.hpp>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>

namespace assay::trainer::cuda {
inline namespace ASSAY_MACHINE {

namespace {
constexpr std::size_t kStackBytes = 64 * 1024;
constexpr int kPoison = 0xff;
constexpr std::size_t kSharedAlignment = 1024;

std::uint64_t next(std::uint64_t& state) {  // splitmix64
    std::uint64_t z = (state += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}
}  // namespace

BlockRunner::~BlockRunner() {
    over_ = true;
    for (const auto& thread : threads_) {
        if (thread->fiber) thread->fiber = std::move(thread->fiber).resume();
    }
}

void BlockRunner::prepare(unsigned threads, std::size_t shared_bytes) {
    count_ = threads;
    while (threads_.size() < threads)
        threads_.push_back(std::make_unique<Thread>(*this, static_cast<unsigned>(threads_.size())));
    if (warps_.size() < threads / kWarp) warps_.resize(threads / kWarp);
    const std::size_t needed = shared_bytes + kSharedAlignment;
    if (shared_.size() < needed) shared_.resize(used_ = needed);
    // Memory beyond what the last block and this one use still holds poison.
    std::memset(shared_.data(), kPoison, std::max(used_, needed));
    used_ = needed;
}

void BlockRunner::new_turns(std::uint64_t block) {
    warp_turns_.resize(count_ / kWarp);
    for (const std::span<unsigned> turns : {std::span(warp_turns_), std::span<unsigned>(lane_turns_)}) {
        std::iota(turns.begin(), turns.end(), 0U);
        if (stream_->options().order == ThreadOrder::kDescending) std::reverse(turns.begin(), turns.end());
    }
    random_ = stream_->options().seed * 0x2545f4914f6cdd1dU + block;
    shuffle_turns();
}

void BlockRunner::shuffle_turns() {
    if (stream_->options().order != ThreadOrder::kSeeded) return;
    for (const std::span<unsigned> turns : {std::span(warp_turns_), std::span<unsigned>(lane_turns_)}) {
        for (std::size_t i = turns.size(); i > 1; --i) std::swap(turns[i - 1], turns[next(random_) % i]);
    }
}

void BlockRunner::run(const HostKernel& kernel, KernelStream& stream, const Grid& grid, std::uint64_t index) {
    kernel_ = &kernel;
    stream_ = &stream;
    prepare(kernel.threads, kernel.shared_bytes);
    const std::uint64_t plane = std::uint64_t{grid.x} * grid.y;
    for (unsigned i = 0; i < count_; ++i) {
        Thread& thread = *threads_[i];
        thread.block.place(static_cast<unsigned>(index % grid.x),
                           static_cast<unsigned>(index / grid.x % grid.y),
                           static_cast<unsigned>(index / plane), grid.x);
        thread.state = ThreadState::kReady;
        thread.operation = WarpOperation::kNone;
        thread.operations = 0;
        thread.groups = 0;
        thread.copies.clear();
        thread.products.clear();
    }
    new_turns(index);
    if (kernel.waits) {
        run_fibers();
    } else {
        run_loops();
    }
    for (unsigned i = 0; i < count_; ++i) {
        if (!threads_[i]->copies.empty() || !threads_[i]->products.empty()) fault(FaultKind::kLeftCopies);
    }
}

void BlockRunner::run_loops() {
    for (const unsigned warp : warp_turns_) {
        for (const unsigned lane : lane_turns_) {
            kernel_->run(threads_[warp * kWarp + lane]->block, kernel_->args);
        }
    }
}

void BlockRunner::run_fibers() {
    do {
        // A warp runs until it comes to a barrier: as far ahead of the others as is possible.
        for (const unsigned warp : warp_turns_) {
            do {
                for (const unsigned lane : lane_turns_) {
                    Thread& thread = *threads_[warp * kWarp + lane];
                    if (thread.state == ThreadState::kReady) resume(thread);
                }
            } while (release_warp(warp * kWarp));
        }
        shuffle_turns();
    } while (release_block());
}

void BlockRunner::resume(Thread& thread) {
    if (!thread.fiber) {
        // The fiber is kept for later blocks: when its thread has ended, resuming it runs the next one.
        thread.fiber = boost::context::fiber(std::allocator_arg, boost::context::fixedsize_stack(kStackBytes),
                                             [this, &thread](boost::context::fiber&& caller) {
                                                 thread.caller = std::move(caller);
                                                 while (!over_) {
                                                     kernel_->run(thread.block, kernel_->args);
                                                     thread.state = ThreadState::kEnded;
                                                     thread.caller = std::move(thread.caller).resume();
                                                 }
                                                 return std::move(thread.caller);
                                             });
    }
    thread.fiber = std::move(thread.fiber).resume();
}

unsigned BlockRunner::count_in(unsigned first, unsigned last, ThreadState state) const {
    unsigned found = 0;
    for (unsigned i = first; i < last; ++i) found += threads_[i]->state == state ? 1U : 0U;
    return found;
}

void BlockRunner::let_go(unsigned first, unsigned last) {
    for (unsigned i = first; i < last; ++i) {
        if (threads_[i]->state != ThreadState::kEnded) threads_[i]->state = ThreadState::kReady;
    }
}

bool BlockRunner::release_warp(unsigned first) {
    if (count_in(first, first + kWarp, ThreadState::kInWarp) != kWarp) return false;
    for (unsigned i = first; i < first + kWarp; ++i) {
        if (threads_[i]->operation != threads_[first]->operation) {
            fault(FaultKind::kMixedWarp);
            break;
        }
    }
    let_go(first, first + kWarp);
    return true;
}

bool BlockRunner::release_block() {
    if (count_in(0, count_, ThreadState::kEnded) == count_) return false;
    // No thread waits for its warp: all wait at the barrier, or the kernel is wrong. It continues, so that it
    // ends.
    if (count_in(0, count_, ThreadState::kAtBarrier) != count_) fault(FaultKind::kLeftBarrier);
    let_go(0, count_);
    return true;
}

void BlockRunner::wait(unsigned thread, ThreadState state) {
    Thread& one = *threads_[thread];
    if (!kernel_->waits) return fault(FaultKind::kWaitUndeclared);
    one.state = state;
    one.caller = std::move(one.caller).resume();
}

void SimtBlock::sync() const { runner_.wait(thread_, BlockRunner::ThreadState::kAtBarrier); }

const LaneWords* SimtBlock::meet(WarpOperation operation, const LaneWords& mine) const {
    BlockRunner::Thread& one = *runner_.threads_[thread_];
    // A lane is at most one operation ahead of another.
    LaneWords* const all = runner_.warps_[warp()].words[one.operations++ % 2];
    all[lane()] = mine;
    one.operation = operation;
    runner_.wait(thread_, BlockRunner::ThreadState::kInWarp);
    return all;
}

bool SimtBlock::any(bool is_so) const {
    LaneWords mine;
    mine.words[0] = is_so ? 1 : 0;
    const LaneWords* const all = meet(WarpOperation::kVote, mine);
    return std::any_of(all, all + kWarp, [](const LaneWords& one) { return one.words[0] != 0; });
}

namespace {
using LineDigits = std::array<std::int8_t, 32>;

// A loop of its own over the digits, which compilers vectorise.
std::int32_t product_of(const LineDigits& left, const LineDigits& right) {
    std::int32_t sum = 0;
    for (std::size_t k = 0; k < left.size(); ++k) sum += std::int32_t{left[k]} * std::int32_t{right[k]};
    return sum;
}

// Of the line that four lanes hold, two words each.
LineDigits digits_of_lanes(const LaneWords* four, unsigned first, unsigned second) {
    LineDigits digits;
    for (unsigned q = 0; q < 4; ++q) {
        std::memcpy(&digits[8 * q], &four[q].words[first], sizeof(std::uint32_t));
        std::memcpy(&digits[8 * q + 4], &four[q].words[second], sizeof(std::uint32_t));
    }
    return digits;
}
}  // namespace

void SimtBlock::load_matrices(std::uint32_t (&words)[4], const std::uint32_t* row) const {
    const auto address = reinterpret_cast<std::uintptr_t>(row);
    if (address % 16 != 0) runner_.fault(FaultKind::kMisaligned);
    const LaneWords* const all = meet(
        WarpOperation::kLoad,
        {{static_cast<std::uint32_t>(address), static_cast<std::uint32_t>(std::uint64_t{address} >> 32U)}});
    for (unsigned i = 0; i < 4; ++i) {
        const LaneWords& named = all[8 * i + lane() / 4];
        const std::uint64_t at = std::uint64_t{named.words[1]} << 32U | named.words[0];
        words[i] = reinterpret_cast<const std::uint32_t*>(static_cast<std::uintptr_t>(at))[lane() % 4];
    }
}

void SimtBlock::mma_s8(std::int32_t (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) const {
    const LaneWords* const all = meet(WarpOperation::kMultiply, {{a[0], a[1], a[2], a[3], b[0], b[1]}});
    const unsigned g = lane() / 4, t = lane() % 4;
    const LineDigits rows[2] = {digits_of_lanes(&all[4 * g], 0, 2), digits_of_lanes(&all[4 * g], 1, 3)};
    for (unsigned column = 0; column < 2; ++column) {
        const LineDigits right = digits_of_lanes(&all[4 * (2 * t + column)], 4, 5);
        for (unsigned row = 0; row < 2; ++row) {
            std::int32_t& sum = d[2 * row + column];
            sum = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) +
                                            static_cast<std::uint32_t>(product_of(rows[row], right)));
        }
    }
}

void* SimtBlock::shared_memory() const {
    const auto at = reinterpret_cast<std::uintptr_t>(runner_.shared_.data());
    return runner_.shared_.data() + (kSharedAlignment - at % kSharedAlignment) % kSharedAlignment;
}

void SimtBlock::copy(void* to, const void* from, unsigned bytes, bool valid) const {
    const auto is_aligned = [bytes](const void* at) {
        return reinterpret_cast<std::uintptr_t>(at) % bytes == 0;
    };
    if (!is_aligned(to) || (valid && !is_aligned(from))) runner_.fault(FaultKind::kMisaligned);
    std::memset(to, kPoison, bytes);
    BlockRunner::Thread& one = *runner_.threads_[thread_];
    one.copies.push_back({to, from, bytes, valid, one.groups});
}

void SimtBlock::commit_copies() const { ++runner_.threads_[thread_]->groups; }

void SimtBlock::finish_copies(unsigned but_last) const {
    BlockRunner::Thread& one = *runner_.threads_[thread_];
    const auto is_done = [&](const BlockRunner::Copy& copy) { return copy.group + but_last < one.groups; };
    std::size_t kept = 0;
    for (const BlockRunner::Copy& copy : one.copies) {
        if (!is_done(copy)) {
            one.copies[kept++] = copy;
        } else if (copy.valid) {
            std::memcpy(copy.to, copy.from, copy.bytes);
        } else {
            std::memset(copy.to, 0, copy.bytes);
        }
    }
    one.copies.resize(kept);
}

namespace {
// A lane's place in a warpgroup's product of two tiles: its numbers' rows and columns.
struct LanePlace {
    unsigned row, column;
    explicit LanePlace(unsigned thread)
        : row(thread / 32 % 4 * 16 + thread % 32 / 4), column(thread % 4 * 2) {}
    [[nodiscard]] unsigned row_of(unsigned i) const { return row + i / 2 % 2 * 8; }
    [[nodiscard]] unsigned column_of(unsigned i) const { return column + i / 4 * 8 + i % 2; }
};

LineDigits digits_of(const std::uint32_t* tile, unsigned line, unsigned step) {
    LineDigits digits;
    for (unsigned word = 0; word < 8; ++word)
        std::memcpy(&digits[4 * word], &tile[swizzled_word(line, 8 * step + word)], sizeof(std::uint32_t));
    return digits;
}

// Calls each(i, left, right) with the digits of every number that the lane makes.
template <class Each>
void each_pair(const std::uint32_t* a, const std::uint32_t* b, unsigned step, unsigned thread, unsigned words,
               const Each& each) {
    const LanePlace place(thread);
    const LineDigits rows[2] = {digits_of(a, place.row_of(0), step), digits_of(a, place.row_of(2), step)};
    for (unsigned first = 0; first < words; first += 4) {
        for (unsigned side = 0; side < 2; ++side) {
            const LineDigits right = digits_of(b, place.column_of(first + side), step);
            for (unsigned down = 0; down < 2; ++down) each(first + 2 * down + side, rows[down], right);
        }
    }
}

// Of all operands that the lane's numbers are made of.
std::uint64_t digest_of(const std::uint32_t* a, const std::uint32_t* b, unsigned step, unsigned thread,
                        unsigned words) {
    // Four chains, each of its own eight digits of every line: none waits for another's multiplication.
    std::array<std::uint64_t, 4> chains{0xcbf29ce484222325U, 1, 2, 3};
    const auto add = [&](const LineDigits& line) {
        for (std::size_t i = 0; i < chains.size(); ++i) {
            std::uint64_t eight = 0;
            std::memcpy(&eight, &line[8 * i], sizeof eight);
            chains[i] = (chains[i] ^ eight) * 0x100000001b3U;
            chains[i] ^= chains[i] >> 29U;
        }
    };
    const LanePlace place(thread);
    for (const unsigned i : {0U, 2U}) add(digits_of(a, place.row_of(i), step));
    for (unsigned first = 0; first < words; first += 4) {
        for (unsigned side = 0; side < 2; ++side) add(digits_of(b, place.column_of(first + side), step));
    }
    std::uint64_t digest = 0;
    for (const std::uint64_t chain : chains) {
        digest = (digest ^ chain) * 0x100000001b3U;
        digest ^= digest >> 29U;
    }
    return digest;
}
}  // namespace

void SimtBlock::begin_product(std::int32_t* d, unsigned words, const std::uint32_t* a, const std::uint32_t* b,
                              unsigned step) const {
    BlockRunner::Thread& one = *runner_.threads_[thread_];
    BlockRunner::WarpgroupProduct product{d, a, b, step, one.product_groups, std::vector<std::int32_t>(words),
                                          0};
    each_pair(a, b, step, thread_, words, [&](unsigned i, const LineDigits& left, const LineDigits& right) {
        product.sums[i] = product_of(left, right);
    });
    product.operands = digest_of(a, b, step, thread_, words);
    one.products.push_back(std::move(product));
}

void SimtBlock::wgmma_commit() const { ++runner_.threads_[thread_]->product_groups; }

void SimtBlock::finish_products(unsigned but_last) const {
    BlockRunner::Thread& one = *runner_.threads_[thread_];
    const auto is_done = [&](const BlockRunner::WarpgroupProduct& product) {
        return product.group + but_last < one.product_groups;
    };
    for (const BlockRunner::WarpgroupProduct& product : one.products) {
        if (!is_done(product)) continue;
        const auto words = static_cast<unsigned>(product.sums.size());
        if (digest_of(product.a, product.b, product.step, thread_, words) != product.operands)
            runner_.fault(FaultKind::kMovedOperand);
        for (unsigned i = 0; i < words; ++i) {
            product.d[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(product.d[i]) +
                                                     static_cast<std::uint32_t>(product.sums[i]));
        }
    }
    std::erase_if(one.products, is_done);
}

void SimtBlock::atomic_min(unsigned* at, unsigned value) const {
    const std::atomic_ref<unsigned> shared(*at);
    unsigned found = shared.load();
    while (value < found && !shared.compare_exchange_weak(found, value)) {
    }
}

bool SimtFaults::any() const {
    return std::any_of(counts_.begin(), counts_.end(), [](const auto& count) { return count.load() != 0; });
}

std::string SimtFaults::to_text() const {
    constexpr std::array<const char*, kFaultKinds> kNames = {
        "left barriers",  "mixed warps",    "undeclared waits", "left copies",        "second writes",
        "writes outside", "moved operands", "grids too large",  "misaligned accesses"};
    std::string text;
    for (std::size_t i = 0; i < kFaultKinds; ++i) {
        if (counts_[i] == 0) continue;
        text.append(text.empty() ? "" : ", ")
            .append(std::to_string(counts_[i].load()))
            .append(" ")
            .append(kNames[i]);
    }
    return text;
}

void run_grid(const Grid& grid, KernelStream& stream, const HostKernel& kernel) {
    const std::uint64_t blocks = std::uint64_t{grid.x} * grid.y * grid.z;
    const bool backwards = stream.options().order == ThreadOrder::kDescending;
    stream.pool().deal(blocks, 1, [&](std::size_t first, std::size_t last) {
        static thread_local BlockRunner runner;
        for (std::size_t i = first; i < last; ++i) {
            runner.run(kernel, stream, grid, backwards ? blocks - 1 - i : i);
        }
    });
}

}  // namespace ASSAY_MACHINE
}  // namespace assay::trainer::cuda
