// SPDX-License-Identifier: Apache-2.0
// ThreadPool: a fixed number of threads that share the outputs of an operator among themselves.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace assay::trainer {

/// True when this thread rounds to nearest even and keeps denormals, as numerics demands.
bool floating_point_mode_is_lawful();

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
    void split(std::size_t count, std::size_t grain,
               const std::function<void(std::size_t, std::size_t)>& work);

private:
    struct Shared;
    std::unique_ptr<Shared> shared_;
};

}  // namespace assay::trainer
