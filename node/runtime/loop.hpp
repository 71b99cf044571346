// SPDX-License-Identifier: Apache-2.0
// Gives a role Loop, the strand that it runs on (Boost.Asio). One thread takes one item at a time, so a
// role's core needs no locks. Adapters wait on their own threads and post the results.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <vector>

#include "contracts/base/error.hpp"
#include "node/seams/event.hpp"

namespace assay::node {

/// post(), stop() and stopped() are thread-safe; the rest belongs to the thread that calls run().
class Loop {
public:
    Loop();
    ~Loop();
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

    /// Runs `work` on the strand, after everything posted before it. Dropped after stop().
    void post(std::function<void()> work);
    /// Posts role.step(event); `attach` must have been called. `held` is let go when the role has taken the
    /// event, when the event is dropped, or with the loop.
    void post(RoleEvent event, std::shared_ptr<const void> held = nullptr);

    /// The role that gets posted events and fired timers; must outlive run().
    void attach(Role& role);

    /// Delivers Started to the role, then work and events until stop(). An exception out of the role is a
    /// bug of ours and ends the process.
    void run();
    /// Makes run() return after the present item. Drops what is queued and what is posted later.
    void stop();
    /// Requested by stop(), which runs the callbacks. For threads that would wait for the role.
    [[nodiscard]] std::stop_token stopped() const;

    [[nodiscard]] Timers& timers();  ///< its timers fire as TimerFired on the strand

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// The machine's clocks and generator.
Clock& system_clock();
Random& system_random();

}  // namespace assay::node
