// SPDX-License-Identifier: Apache-2.0
#include "trainer/thread_pool.hpp"

#include <algorithm>
#include <cfenv>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "contracts/base/check.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace assay::trainer {

bool floating_point_mode_is_lawful() {
#if defined(__x86_64__)
    constexpr unsigned kFlushToZero = 0x8000U;
    constexpr unsigned kDenormalsAreZero = 0x0040U;
    constexpr unsigned kRounding = 0x6000U;  // 0: to nearest even
    return (_mm_getcsr() & (kFlushToZero | kDenormalsAreZero | kRounding)) == 0;
#else
    return std::fegetround() == FE_TONEAREST;
#endif
}

struct ThreadPool::Shared {
    std::mutex mutex;
    std::condition_variable wake;
    std::condition_variable done;
    std::uint64_t generation = 0;
    std::size_t running = 0;
    std::size_t count = 0;
    std::size_t share = 0;  // length of each range
    const std::function<void(std::size_t, std::size_t)>* work = nullptr;
    bool stop = false;
    std::vector<std::thread> threads;

    void run_range(std::size_t index) const {
        const std::size_t first = std::min(count, index * share);
        const std::size_t last = std::min(count, first + share);
        if (first < last) (*work)(first, last);
    }

    void loop(std::size_t index) {
        std::fesetenv(FE_DFL_ENV);
        ASSAY_CHECK(floating_point_mode_is_lawful());
        std::uint64_t seen = 0;
        while (true) {
            std::unique_lock lock(mutex);
            wake.wait(lock, [&] { return stop || generation != seen; });
            if (stop) return;
            seen = generation;
            lock.unlock();
            run_range(index);
            lock.lock();
            if (--running == 0) done.notify_one();
        }
    }
};

ThreadPool::ThreadPool(int threads) : shared_(std::make_unique<Shared>()) {
    ASSAY_CHECK(threads >= 1);
    for (int i = 1; i < threads; ++i) {
        shared_->threads.emplace_back(&Shared::loop, shared_.get(), static_cast<std::size_t>(i));
    }
}

ThreadPool::~ThreadPool() {
    {
        const std::lock_guard lock(shared_->mutex);
        shared_->stop = true;
    }
    shared_->wake.notify_all();
    for (std::thread& thread : shared_->threads) thread.join();
}

std::size_t ThreadPool::threads() const { return shared_->threads.size() + 1; }

void ThreadPool::split(std::size_t count, std::size_t grain,
                       const std::function<void(std::size_t, std::size_t)>& work) {
    const std::size_t grains = (count + grain - 1) / grain;
    if (threads() == 1 || grains <= 1) {
        if (count > 0) work(0, count);
        return;
    }
    {
        const std::lock_guard lock(shared_->mutex);
        shared_->count = count;
        shared_->share = (grains + threads() - 1) / threads() * grain;
        shared_->work = &work;
        shared_->running = shared_->threads.size();
        ++shared_->generation;
    }
    shared_->wake.notify_all();
    shared_->run_range(0);
    std::unique_lock lock(shared_->mutex);
    shared_->done.wait(lock, [&] { return shared_->running == 0; });
}

}  // namespace assay::trainer
