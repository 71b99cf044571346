// SPDX-License-Identifier: Apache-2.0
// ThreadPool is a fixed number of threads that share the outputs of an operator. Distributing work allocates
// nothing, and while work keeps coming no thread sleeps. Each thread begins with a part of the work of its
// own, the same one each time, so that an operator finds what the one before it wrote in its own core's
// cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace assay::trainer {

/// A borrowed callable of two numbers. The function must outlive all calls.
class RangeWork {
public:
    template <class Function>
    RangeWork(const Function& function)
        : object_(&function), call_([](const void* object, std::size_t first, std::size_t last) {
              (*static_cast<const Function*>(object))(first, last);
          }) {}
    void operator()(std::size_t first, std::size_t last) const { call_(object_, first, last); }

private:
    const void* object_;
    void (*call_)(const void*, std::size_t, std::size_t);
};

class ThreadPool {
public:
    /// REQUIRES threads >= 1; the calling thread is one of them. Each new thread sets the floating-point mode
    /// of the law.
    explicit ThreadPool(int threads);
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;
    ~ThreadPool();

    [[nodiscard]] std::size_t threads() const;

    /// Calls work(first, last) for ranges that cover [0, count) once, no more of them than threads, cut at
    /// multiples of `grain`. Returns when all are done. `work` must not throw. Not re-entrant.
    void split(std::size_t count, std::size_t grain, RangeWork work);

    /// The same in ranges of `grain`, for work of uneven length: a thread that has done its own takes
    /// others'.
    void deal(std::size_t count, std::size_t grain, RangeWork work);

    /// Calls work(slot, task) once for each task below `count`, as deal() does. Slots are below threads() and
    /// `count`; no two calls at a time have the same one.
    void deal_tasks(std::size_t count, RangeWork work);

    /// Returns the faults in the floating-point mode (floating_point.hpp) of the pool's threads, the caller
    /// included, before and after their work since the last call. 0: none, the work has the bits of the law.
    /// Otherwise none of it may be used.
    [[nodiscard]] std::uint64_t take_faults();

private:
    struct Shared;
    void run_here(std::size_t count, RangeWork work);
    void run(std::size_t count, std::size_t share, bool by_slot, RangeWork work);
    std::unique_ptr<Shared> shared_;
};

}  // namespace assay::trainer
