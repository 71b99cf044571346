// SPDX-License-Identifier: Apache-2.0
// Gives the worker's loop Pacer, which decides when it rests, so that it computes only for a share of the
// time. The bits do not depend on it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>

#include "contracts/base/error.hpp"

namespace assay::verifier {

/// How long a worker with this duty rests after it was busy: busy · (100 − duty) / duty, rounded down.
/// `duty`: percent of the time in which it computes, 1 to 100. More than a day of work counts as a day.
std::chrono::nanoseconds rest_after(std::chrono::nanoseconds busy, unsigned duty);

/// Value of ASSAY_DUTY; 100 when it is not set. kUsage unless it is a number from 1 to 100.
base::Outcome<unsigned> duty_from_environment();

/// Counts the rest that a worker owes. The caller gives the times; the same times give the same rests.
class Pacer {
public:
    using Moment = std::chrono::steady_clock::time_point;
    explicit Pacer(unsigned duty) : duty_(duty) {}

    /// Work begins, or goes on.
    void work_from(Moment now) { busy_from_ = now; }
    /// The rest that is due for the work up to now, plus what is left of earlier rests. REQUIRES work_from().
    std::chrono::nanoseconds due(Moment now);
    /// The worker waited for somebody else for so long: that was no work, and no rest.
    void idled(std::chrono::nanoseconds waited) { busy_from_ += waited; }
    /// Subtracts a rest of `slept`; the remainder stays due.
    void rested(std::chrono::nanoseconds slept);

private:
    unsigned duty_;
    Moment busy_from_;
    std::chrono::nanoseconds owed_{0};
};

/// The clock by which a worker paces itself: the system's steady clock, or another one in tests.
class RestClock {
public:
    RestClock() = default;
    RestClock(const RestClock&) = delete;
    RestClock& operator=(const RestClock&) = delete;
    virtual ~RestClock() = default;

    [[nodiscard]] virtual Pacer::Moment now() { return std::chrono::steady_clock::now(); }
    /// Returns when `due` has passed, or when `over` returns true; code that changes its result notifies
    /// `wake`. REQUIRES the lock.
    virtual void wait(std::unique_lock<std::mutex>& lock, std::condition_variable& wake,
                      std::chrono::nanoseconds due, const std::function<bool()>& over) {
        wake.wait_for(lock, due, over);
    }
};

}  // namespace assay::verifier
