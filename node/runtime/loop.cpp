// SPDX-License-Identifier: Apache-2.0
#include "node/runtime/loop.hpp"

#include <sys/random.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <ctime>
#include <map>
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
    [[nodiscard]] std::int64_t local_ms() const override {
        const std::int64_t wall = wall_ms();
        const auto seconds = static_cast<std::time_t>(wall / 1'000);
        std::tm local{};
        // Where the zone is not known, it is UTC.
        return ::localtime_r(&seconds, &local) == nullptr ? wall
                                                          : wall + 1'000 * std::int64_t{local.tm_gmtoff};
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

// One thread runs the context, which makes it a strand. Timers are armed, cancelled and fired there alone:
// one timer of the context stands for the earliest of ours, so that equal deadlines fire in the order in
// which they were asked for, and a cancelled one never does.
struct Loop::State final : public Timers {
    TimerId at(std::uint64_t mono_ns) override {
        const TimerId id = ++last_timer;
        due.emplace(mono_ns, id);
        deadline_of.emplace(id, mono_ns);
        if (due.begin()->second == id) arm();
        return id;
    }
    void cancel(TimerId id) override {
        const auto found = deadline_of.find(id);
        if (found == deadline_of.end()) return;
        const bool first = due.begin()->second == id;
        due.erase({found->second, id});
        deadline_of.erase(found);
        if (first) arm();
    }
    void arm() {
        if (due.empty()) {
            earliest.cancel();
            return;
        }
        earliest.expires_at(
            std::chrono::steady_clock::time_point(std::chrono::nanoseconds(due.begin()->first)));
        earliest.async_wait([this](const boost::system::error_code& cancelled) {
            if (!cancelled) ring();
        });
    }
    // At most one timer: what others posted meanwhile comes before the next. A wait that was replaced when it
    // was over already rings too early, and finds nothing due.
    void ring() {
        if (!due.empty() && due.begin()->first <= system_clock().mono_ns()) {
            const TimerId id = due.begin()->second;
            deadline_of.erase(id);
            due.erase(due.begin());
            if (role != nullptr) role->step(TimerFired{id});
        }
        arm();
    }

    boost::asio::io_context context{1};
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> stay{context.get_executor()};
    boost::asio::steady_timer earliest{context};
    std::stop_source stopped;

    Role* role = nullptr;
    std::set<std::pair<std::uint64_t, TimerId>> due;
    std::map<TimerId, std::uint64_t> deadline_of;
    TimerId last_timer = 0;
};

Loop::Loop() : state_(std::make_unique<State>()) {}
Loop::~Loop() = default;

void Loop::post(std::function<void()> work) {
    if (!state_->stopped.stop_requested()) boost::asio::post(state_->context, std::move(work));
}

void Loop::post(RoleEvent event, std::shared_ptr<const void> held) {
    post([this, held = std::move(held), queued = std::make_shared<const RoleEvent>(std::move(event))] {
        if (state_->role != nullptr) state_->role->step(*queued);
    });
}

void Loop::attach(Role& role) { state_->role = &role; }

void Loop::run() {
    if (state_->role != nullptr) state_->role->step(Started{});
    state_->context.run();
}

void Loop::stop() {
    state_->stopped.request_stop();
    state_->context.stop();
}

std::stop_token Loop::stopped() const { return state_->stopped.get_token(); }

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
