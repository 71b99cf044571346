// SPDX-License-Identifier: Apache-2.0
// ThreadPool hands out every part of the work once.
#include "trainer/host/thread_pool.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "tests/support/catch.hpp"

namespace assay::trainer {

namespace {
constexpr std::size_t kCounts[] = {0, 1, 2, 3, 7, 8, 100};

// How often each number was handed out.
class Tally {
public:
    explicit Tally(std::size_t count) : seen_(count) {}
    void add(std::size_t number) { ++seen_.at(number); }
    [[nodiscard]] bool each_once() const {
        for (const std::atomic<int>& times : seen_) {
            if (times != 1) return false;
        }
        return true;
    }

private:
    std::vector<std::atomic<int>> seen_;
};
}  // namespace

TEST_CASE("a pool hands out every number once, in ranges", "[trainer]") {
    for (const int threads : {1, 2, 3, 5}) {
        ThreadPool pool(threads);
        for (const std::size_t count : kCounts) {
            for (const std::size_t grain : {std::size_t{1}, std::size_t{3}, std::size_t{64}}) {
                INFO(threads << " threads, " << count << " numbers, grain " << grain);
                Tally split(count), dealt(count);
                const auto into = [](Tally& tally) {
                    return [&tally](std::size_t first, std::size_t last) {
                        for (std::size_t i = first; i < last; ++i) tally.add(i);
                    };
                };
                pool.split(count, grain, into(split));
                pool.deal(count, grain, into(dealt));
                CHECK(split.each_once());
                CHECK(dealt.each_once());
            }
        }
    }
}

TEST_CASE("tasks run once each, and no two at a time in one slot", "[trainer]") {
    for (const int threads : {1, 2, 3, 5}) {
        ThreadPool pool(threads);
        for (const std::size_t count : kCounts) {
            INFO(threads << " threads, " << count << " tasks");
            Tally tally(count);
            std::vector<std::atomic<int>> inside(static_cast<std::size_t>(threads));
            std::atomic<bool> right = true;
            pool.deal_tasks(count, [&](std::size_t slot, std::size_t task) {
                if (slot >= inside.size() || slot >= count || inside[slot]++ != 0) right = false;
                tally.add(task);
                std::this_thread::yield();
                --inside[slot];
            });
            CHECK(tally.each_once());
            CHECK(right);
        }
    }
}

// Of two threads, the one whose first task lasts until all others are done leaves its part to the other.
TEST_CASE("a thread that has done its own part takes what another has not begun", "[trainer]") {
    constexpr std::size_t kTasks = 16;
    ThreadPool pool(2);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    std::atomic<std::size_t> done = 0;
    std::atomic<bool> all_were_taken = false;
    pool.deal_tasks(kTasks, [&](std::size_t, std::size_t task) {
        while (task == 0 && done != kTasks - 1 && std::chrono::steady_clock::now() < deadline) {
            std::this_thread::yield();
        }
        if (task == 0) all_were_taken = done == kTasks - 1;
        ++done;
    });
    CHECK(all_were_taken);
}

// Each of two tasks waits for the other to begin, so that no thread can take both.
TEST_CASE("a thread begins with the same part of the work each time", "[trainer]") {
    ThreadPool pool(2);
    for (int i = 0; i < 20; ++i) {
        std::atomic<bool> has_begun[2] = {false, false};
        std::atomic<int> elsewhere = 0;
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        pool.deal_tasks(2, [&](std::size_t slot, std::size_t task) {
            if (slot != task) ++elsewhere;
            has_begun[task] = true;
            while (!has_begun[1 - task] && std::chrono::steady_clock::now() < deadline)
                std::this_thread::yield();
        });
        CHECK(elsewhere == 0);
    }
}

}  // namespace assay::trainer
