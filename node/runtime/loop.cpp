// SPDX-License-Identifier: Apache-2.0
#include "node/runtime/loop.hpp"

#include <sys/random.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <set>

namespace assay::node {
namespace {

class SystemClock final : public Clock {
public:
    [[nodiscard]] std::uint64_t mono_ns() const override {
        const auto since = std::chrono::steady_clock::now().time_since_epoch();
        return static_cast<std::uint64_t>(std::chrono::nanoseconds(since).count());
    }
    [[nodiscard]] std::int64_t wall_ms() const override {
        const auto since = std::chrono::system_clock::now().time_since_epoch();
        return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
    }
};

class SystemRandom final : public Random {
public:
    void fill(std::span<std::uint8_t> out) override {
        while (!out.empty()) {
            const ssize_t got = getrandom(out.data(), out.size(), 0);
            if (got > 0) out = out.subspan(static_cast<std::size_t>(got));
        }
    }
};

}  // namespace

// Timers live on the strand only: armed and cancelled by the role, fired by run(). The queue is the one
// thing that other threads touch.
struct Loop::State final : public Timers {
    TimerId at(std::uint64_t mono_ns) override {
        const TimerId id = ++last_timer;
        due.emplace(mono_ns, id);
        deadline_of.emplace(id, mono_ns);
        return id;
    }
    void cancel(TimerId id) override {
        const auto found = deadline_of.find(id);
        if (found == deadline_of.end()) return;
        due.erase({found->second, id});
        deadline_of.erase(found);
    }
    // The earliest timer that is due at `now`, taken out.
    TimerId take_due(std::uint64_t now) {
        if (due.empty() || due.begin()->first > now) return 0;
        const TimerId id = due.begin()->second;
        cancel(id);
        return id;
    }
    // The next thing to do, or nothing when a timer is due or the loop stops first.
    std::function<void()> next() {
        std::unique_lock lock(mutex);
        const auto ready = [this] { return stopped || !queue.empty(); };
        if (due.empty()) {
            wake.wait(lock, ready);
        } else {
            const auto until =
                std::chrono::steady_clock::time_point(std::chrono::nanoseconds(due.begin()->first));
            wake.wait_until(lock, until, ready);
        }
        if (stopped || queue.empty()) return {};
        auto work = std::move(queue.front());
        queue.pop_front();
        return work;
    }
    bool is_stopped() {
        const std::lock_guard lock(mutex);
        return stopped;
    }

    std::mutex mutex;
    std::condition_variable wake;
    std::deque<std::function<void()>> queue;
    bool stopped = false;

    Role* role = nullptr;
    std::set<std::pair<std::uint64_t, TimerId>> due;
    std::map<TimerId, std::uint64_t> deadline_of;
    TimerId last_timer = 0;
};

Loop::Loop() : state_(std::make_unique<State>()) {}
Loop::~Loop() = default;

void Loop::post(std::function<void()> work) {
    {
        const std::lock_guard lock(state_->mutex);
        if (state_->stopped) return;
        state_->queue.push_back(std::move(work));
    }
    state_->wake.notify_one();
}

void Loop::post(Event event) {
    post([this, held = std::make_shared<const Event>(std::move(event))] {
        if (state_->role != nullptr) state_->role->step(*held);
    });
}

void Loop::attach(Role& role) { state_->role = &role; }

void Loop::run() {
    if (state_->role != nullptr) state_->role->step(Started{});
    while (!state_->is_stopped()) {
        if (const auto work = state_->next()) work();
        // Between two pieces of work at most one timer: neither can starve the other.
        const TimerId id = state_->take_due(system_clock().mono_ns());
        if (id != 0 && state_->role != nullptr && !state_->is_stopped()) state_->role->step(TimerFired{id});
    }
}

void Loop::stop() {
    {
        const std::lock_guard lock(state_->mutex);
        state_->stopped = true;
        state_->queue.clear();
    }
    state_->wake.notify_all();
}

Timers& Loop::timers() { return *state_; }

Clock& system_clock() {
    static SystemClock clock;
    return clock;
}

Random& system_random() {
    static SystemRandom random;
    return random;
}

}  // namespace assay::node
