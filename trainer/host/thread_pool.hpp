// SPDX-License-Identifier: Apache-2.0
// Gives devices ThreadPool, a fixed number of threads that share the outputs of an operator among
// themselves. Handing out work neither allocates nor, while work keeps coming, sleeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace assay::trainer {

/// A callable of two numbers, borrowed: what it names must live as long as it is called.
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
    /// `threads` >= 1; the calling thread is one of them. Each new thread sets the lawful mode.
    explicit ThreadPool(int threads);
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;
    ~ThreadPool();

    [[nodiscard]] std::size_t threads() const;

    /// Calls work(first, last) for ranges that cover [0, count) once, at most one per thread, cut at
    /// multiples of `grain`; returns when all are done. `work` must not throw. Not re-entrant.
    void split(std::size_t count, std::size_t grain, RangeWork work);

    /// The same in ranges of `grain`, each taken by whichever thread is free: for shares of uneven length.
    void deal(std::size_t count, std::size_t grain, RangeWork work);

    /// What was wrong with the floating-point mode (floating_point.hpp) of a thread of the pool, the caller
    /// among them, when it took work or after it, since the last call. 0: nothing, the work has its bits;
    /// else none of it is to be used.
    [[nodiscard]] std::uint64_t take_faults();

private:
    struct Shared;
    void run_here(std::size_t count, RangeWork work);
    void run(std::size_t count, std::size_t share, RangeWork work);
    std::unique_ptr<Shared> shared_;
};

}  // namespace assay::trainer
