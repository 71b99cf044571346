// SPDX-License-Identifier: Apache-2.0
#include "trainer/host/thread_pool.hpp"

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <cstdint>
#include <thread>
#include <vector>

#include "contracts/base/check.hpp"
#include "contracts/base/floating_point.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace assay::trainer {

namespace {
// A little longer than the serial stretches of a step: a thread that sleeps takes tens of microseconds to
// wake.
constexpr int kSpins = 4000;

void pause() {
#if defined(__x86_64__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("isb");
#endif
}

// Returns once `value` is not `old`.
void wait_for_change(const std::atomic<std::uint32_t>& value, std::uint32_t old) {
    for (int i = 0; i < kSpins; ++i) {
        if (value.load(std::memory_order_acquire) != old) return;
        pause();
    }
    value.wait(old, std::memory_order_acquire);
}
}  // namespace

struct ThreadPool::Shared {
    // Written by the caller before `generation` moves, read by the others after.
    std::size_t count = 0;
    std::size_t share = 0;  // length of a range
    bool by_slot = false;   // calls have a slot and a task, not first and last
    const RangeWork* work = nullptr;
    std::size_t parts = 0;  // threads that have ranges of their own
    std::atomic<bool> stop = false;

    alignas(64) std::atomic<std::uint32_t> generation = 0;  // what idle threads watch
    // Who may take part: generation, kClosed, and in the low bits how many have come in. The caller closes it
    // when nothing is left to take, so that it waits only for threads that work, not for one still asleep.
    alignas(64) std::atomic<std::uint64_t> gate = kClosed;
    alignas(64) std::atomic<std::uint32_t> gone = 0;  // how many of those have finished
    std::atomic<std::uint64_t> faults = 0;            // of the floating-point mode, until take_faults()
    struct alignas(64) ThreadRanges {
        std::atomic<std::size_t> next = 0;  // its next range that is free
        std::size_t end = 0;
    };
    std::vector<ThreadRanges> ranges_of;  // each thread; the caller's come first
    std::vector<std::thread> threads;

    explicit Shared(std::size_t all) : ranges_of(all) {}

    static constexpr std::uint64_t kClosed = 1ULL << 31U;

    // Called before work and after it; each call reads one register. The work continues, since other threads
    // may wait for this thread's part. take_faults() then reports that the result may not be used.
    void note_mode() {
        const std::uint64_t found = base::floating_point_faults();
        if (found != 0) faults.fetch_or(found, std::memory_order_relaxed);
    }

    void distribute(std::size_t ranges) {
        parts = std::min(ranges_of.size(), ranges);
        for (std::size_t i = 0; i < parts; ++i) {
            ranges_of[i].next.store(ranges * i / parts, std::memory_order_relaxed);
            ranges_of[i].end = ranges * (i + 1) / parts;
        }
    }

    // Takes a thread's own ranges, then what others have not begun.
    void take_ranges(std::size_t thread) {
        if (parts == 0 || (by_slot && thread >= parts)) return;
        for (std::size_t i = 0; i < parts; ++i) {
            ThreadRanges& part = ranges_of[(thread + i) % parts];
            if (part.next.load(std::memory_order_relaxed) >= part.end) continue;
            while (true) {
                const std::size_t range = part.next.fetch_add(1, std::memory_order_relaxed);
                if (range >= part.end) break;
                if (by_slot) {
                    (*work)(thread, range);
                } else {
                    (*work)(range * share, std::min(count, (range + 1) * share));
                }
            }
        }
    }

    bool enter() {
        std::uint64_t seen = gate.load(std::memory_order_acquire);
        while ((seen & kClosed) == 0) {
            if (gate.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel)) return true;
        }
        return false;
    }

    void loop(std::size_t thread) {
        std::fesetenv(FE_DFL_ENV);
        std::uint32_t seen = 0;
        while (true) {
            wait_for_change(generation, seen);
            seen = generation.load(std::memory_order_acquire);
            if (stop) return;
            if (!enter()) continue;
            note_mode();
            take_ranges(thread);
            note_mode();
            gone.fetch_add(1, std::memory_order_release);
            gone.notify_one();
        }
    }

    void wake() {
        generation.fetch_add(1, std::memory_order_release);
        generation.notify_all();
    }
};

ThreadPool::ThreadPool(int threads) {
    ASSAY_CHECK(threads >= 1);
    const auto all = static_cast<std::size_t>(threads);
    shared_ = std::make_unique<Shared>(all);
    for (std::size_t i = 1; i < all; ++i) shared_->threads.emplace_back(&Shared::loop, shared_.get(), i);
}

ThreadPool::~ThreadPool() {
    shared_->stop = true;
    shared_->wake();
    for (std::thread& thread : shared_->threads) thread.join();
}

std::size_t ThreadPool::threads() const { return shared_->threads.size() + 1; }

void ThreadPool::run(std::size_t count, std::size_t share, bool by_slot, RangeWork work) {
    Shared& shared = *shared_;
    shared.note_mode();
    shared.count = count;
    shared.share = share;
    shared.by_slot = by_slot;
    shared.work = &work;
    shared.distribute((count + share - 1) / share);
    shared.gone.store(0, std::memory_order_relaxed);
    const std::uint64_t generation = shared.generation.load(std::memory_order_relaxed) + 1U;
    shared.gate.store(generation << 32U, std::memory_order_release);
    shared.wake();
    shared.take_ranges(0);
    const std::uint64_t closed = shared.gate.fetch_or(Shared::kClosed, std::memory_order_acq_rel);
    const auto came = static_cast<std::uint32_t>(closed & (Shared::kClosed - 1));
    for (std::uint32_t gone = 0; gone != came;) {
        gone = shared.gone.load(std::memory_order_acquire);
        if (gone != came) wait_for_change(shared.gone, gone);
    }
    shared.note_mode();
}

void ThreadPool::run_here(std::size_t count, RangeWork work) {
    if (count == 0) return;
    shared_->note_mode();
    work(0, count);
    shared_->note_mode();
}

std::uint64_t ThreadPool::take_faults() { return shared_->faults.exchange(0, std::memory_order_relaxed); }

void ThreadPool::split(std::size_t count, std::size_t grain, RangeWork work) {
    const std::size_t grains = (count + grain - 1) / grain;
    if (threads() == 1 || grains <= 1) return run_here(count, work);
    run(count, (grains + threads() - 1) / threads() * grain, false, work);
}

void ThreadPool::deal(std::size_t count, std::size_t grain, RangeWork work) {
    if (threads() > 1 && count > grain) return run(count, grain, false, work);
    run_here(count, work);
}

void ThreadPool::deal_tasks(std::size_t count, RangeWork work) {
    if (threads() > 1 && count > 1) return run(count, 1, true, work);
    shared_->note_mode();
    for (std::size_t task = 0; task < count; ++task) work(0, task);
    shared_->note_mode();
}

}  // namespace assay::trainer
