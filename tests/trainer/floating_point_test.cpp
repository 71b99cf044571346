// SPDX-License-Identifier: Apache-2.0
// The floating-point mode: no work done in another mode than the law's is taken for the law's, on whichever
// thread it was done.
#include "contracts/base/floating_point.hpp"

#include <atomic>
#include <cfenv>
#include <thread>

#include "tests/support/catch.hpp"
#include "tests/trainer/small_job.hpp"
#include "trainer/host/thread_pool.hpp"
#include "trainer/run/job_runner.hpp"

#if defined(__x86_64__) && defined(__linux__)
#include <csignal>
#include <filesystem>
#include <set>

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#endif

namespace assay::trainer {

using base::floating_point_faults;
using base::mxcsr_fault_text;

namespace {

/// Calls `work` once on every thread of the pool.
template <class Work>
void on_every_thread(ThreadPool& pool, const Work& work) {
    std::atomic<std::size_t> arrived = 0;
    pool.split(pool.threads(), 1, [&](std::size_t first, std::size_t last) {
        arrived += last - first;
        while (arrived < pool.threads()) std::this_thread::yield();
        work();
    });
}

}  // namespace

TEST_CASE("a pool tells of a mode that a task left behind, on its threads and on the caller's",
          "[trainer][mode]") {
    ThreadPool pool(3);
    const auto caller = std::this_thread::get_id();
    on_every_thread(pool, [] {});
    CHECK(pool.take_faults() == 0);
    on_every_thread(pool, [&] {
        if (std::this_thread::get_id() != caller) std::fesetround(FE_UPWARD);
    });
    const std::uint64_t left = pool.take_faults();
    CHECK(left != 0);
    CHECK(floating_point_faults() == 0);
    // It is told of again when such a thread takes work, and no more when all are as they were.
    on_every_thread(pool, [] { std::fesetround(FE_TONEAREST); });
    CHECK(pool.take_faults() == left);
    on_every_thread(pool, [] {});
    CHECK(pool.take_faults() == 0);
    // Work that is too little to share is the caller's alone.
    pool.split(1, 1, [](std::size_t, std::size_t) { std::fesetround(FE_UPWARD); });
    std::fesetround(FE_TONEAREST);
    CHECK(pool.take_faults() == left);
    pool.deal(1, 1, [](std::size_t, std::size_t) {});
    CHECK(pool.take_faults() == 0);
}

#if defined(__x86_64__) && defined(__linux__)
namespace {

std::atomic<std::uint32_t> g_mode = 0;  // bits that the handler sets in the thread that it interrupts
std::atomic<int> g_changed = 0;

extern "C" void change_mode(int, siginfo_t*, void* context) {
    static_cast<ucontext_t*>(context)->uc_mcontext.fpregs->mxcsr = 0x1f80 | g_mode;
    ++g_changed;
}

std::set<int> threads_of_this_process() {
    std::set<int> ids;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
        ids.insert(std::stoi(entry.path().filename().string()));
    return ids;
}

/// Does to other threads what a library does that runs on them.
void change_mode_of(const std::set<int>& threads, std::uint32_t bits) {
    g_mode = bits;
    g_changed = 0;
    for (const int id : threads) REQUIRE(::syscall(SYS_tgkill, ::getpid(), id, SIGUSR2) == 0);
    while (g_changed < static_cast<int>(threads.size())) std::this_thread::yield();
}

}  // namespace

TEST_CASE("a runner refuses steps and evaluations in which a thread of its pool was in another mode",
          "[trainer][mode][runner]") {
    struct sigaction action {};
    action.sa_sigaction = change_mode;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    struct sigaction before {};
    REQUIRE(::sigaction(SIGUSR2, &action, &before) == 0);
    const program::JobSpec spec = test::small_job();
    const auto train = test::small_tokens(spec.data.train_tokens, spec.model.vocabulary, 1);
    const auto held_out = test::small_tokens(spec.data.held_out_tokens, spec.model.vocabulary, 2);
    const auto others = threads_of_this_process();
    const auto runner =
        JobRunner::create(spec, {train}, {held_out}, test::on_cpu(2, Target::kScalar)).value();
    std::set<int> pool;
    for (const int id : threads_of_this_process()) {
        if (!others.contains(id)) pool.insert(id);
    }
    REQUIRE(pool.size() == 1);
    const BaseState base = runner->initial();
    const SlotState start = runner->start(base).value();
    SlotState expected = start;
    REQUIRE(runner->run_segment(expected, {0, 0, 0}, {}).ok());
    const auto loss = runner->evaluate_held_out(base.parameters, 1, {}).value().loss;
    for (const std::uint32_t bits : {0x8000U, 0x0040U, 0x2000U}) {
        INFO("MXCSR bits " << bits);
        change_mode_of(pool, bits);
        // On a busy machine the thread may be late and take no part for a while: such work is right.
        constexpr int kMost = 2'000;
        int tries = 0;
        for (; tries < kMost; ++tries) {
            SlotState state = start;
            const auto ran = runner->run_segment(state, {0, 0, 0}, {});
            if (ran.ok()) {
                REQUIRE(state == expected);
                continue;
            }
            CHECK(ran.error().kind == base::ErrorKind::kPreflight);
            CHECK(ran.error().what.find(mxcsr_fault_text(bits)) != std::string::npos);
            break;
        }
        CHECK(tries < kMost);
        for (tries = 0; tries < kMost; ++tries) {
            const auto evaluated = runner->evaluate_held_out(base.parameters, 1, {});
            if (!evaluated.ok()) {
                CHECK(evaluated.error().kind == base::ErrorKind::kPreflight);
                break;
            }
            REQUIRE(evaluated->loss == loss);
        }
        CHECK(tries < kMost);
        // The mode is the thread's own: once it is right again, so is the work.
        change_mode_of(pool, 0);
        SlotState state = start;
        while (!runner->run_segment(state = start, {0, 0, 0}, {}).ok()) REQUIRE(++tries < kMost);
        CHECK(state == expected);
    }
    ::sigaction(SIGUSR2, &before, nullptr);
}
#endif

}  // namespace assay::trainer
