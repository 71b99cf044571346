// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <stop_token>
#include <thread>

#include "ledger/store/posix_disk.hpp"
#include "node/runtime/home.hpp"
#include "node/runtime/ledger_link.hpp"
#include "node/runtime/loop.hpp"
#include "node/runtime/process.hpp"
#include "node/runtime/shutdown.hpp"
#include "node/runtime/strand_thread.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace assay::node {
namespace {

using namespace std::chrono_literals;

std::string text_of(const std::filesystem::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

ProcessOptions shell(const std::string& script) {
    return {.program = "/bin/sh", .arguments = {"-c", script}};
}

TEST_CASE("a child's exit code, output, environment and descriptors are its own") {
    const test::TemporaryFolder folder;
    auto options = shell("echo out $ADDED; echo err >&2; echo three >&3; exit 3");
    options.environment = {{"ADDED", "yes"}};
    options.stdout_file = folder / "log";
    options.stderr_file = folder / "log";
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    options.descriptors = {{ends[1], 3}};
    auto child = Process::spawn(options).value();
    close(ends[1]);
    const auto status = child.wait();
    REQUIRE((status.code == 3 && status.signal == 0));
    REQUIRE(text_of(folder / "log") == "out yes\nerr\n");
    char text[16] = {};
    REQUIRE(read(ends[0], text, sizeof text) == 6);
    REQUIRE(std::string(text) == "three\n");
    close(ends[0]);
}

TEST_CASE(
    "a child has a session of its own without a terminal, and reads nothing of what was meant for its "
    "parent") {
    const test::TemporaryFolder folder;
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    REQUIRE(write(ends[1], "secret\n", 7) == 7);
    close(ends[1]);
    const int before = dup(STDIN_FILENO);
    REQUIRE(dup2(ends[0], STDIN_FILENO) == STDIN_FILENO);
    // Of stat: number, name, state, parent, group, session, terminal.
    auto options = shell("cut -d' ' -f1,5-7 /proc/$$/stat; cat; readlink /proc/$$/fd/0");
    options.stdout_file = folder / "own";
    auto child = Process::spawn(options).value();
    const std::string number = std::to_string(child.pid());
    child.wait();
    dup2(before, STDIN_FILENO);
    for (const int fd : {before, ends[0]}) close(fd);
    CHECK(text_of(folder / "own") == number + " " + number + " " + number + " 0\n/dev/null\n");
}

TEST_CASE("a child gets no descriptor that it was not given") {
    const test::TemporaryFolder folder;
    const int ours = open("/dev/null", O_RDONLY);  // without O_CLOEXEC, as a careless library would
    const std::string place = "/proc/$$/fd/" + std::to_string(ours);
    auto options = shell("if [ -e " + place + " ]; then echo leaked; else echo closed; fi");
    options.stdout_file = folder / "fds";
    Process::spawn(options)->wait();
    close(ours);
    REQUIRE(text_of(folder / "fds") == "closed\n");
}

TEST_CASE("terminate is polite first, and kills what does not listen, with its own children") {
    auto polite = Process::spawn(shell("sleep 30")).value();
    REQUIRE(polite.terminate(2s).signal == SIGTERM);
    const test::TemporaryFolder folder;
    auto options = shell("trap '' TERM; sleep 30 & echo $!; wait; sleep 30");
    options.stdout_file = folder / "pid";
    auto stubborn = Process::spawn(options).value();
    for (int i = 0; i < 200 && text_of(folder / "pid").empty(); ++i) std::this_thread::sleep_for(10ms);
    const pid_t grandchild = std::stoi(text_of(folder / "pid"));
    REQUIRE(stubborn.terminate(200ms).signal == SIGKILL);
    const auto alive = [&] {
        const std::string stat = text_of("/proc/" + std::to_string(grandchild) + "/stat");
        return !stat.empty() && stat.find(") Z") == std::string::npos;
    };
    for (int i = 0; i < 200 && alive(); ++i) std::this_thread::sleep_for(10ms);
    REQUIRE_FALSE(alive());
}

TEST_CASE("nobody waits for a child that was abandoned, and it still ends with the thread that spawned it") {
    const test::TemporaryFolder folder;
    auto options = shell("echo $$; exec sleep 600");
    options.stdout_file = folder / "pid";
    std::thread([&] {
        auto child = Process::spawn(options).value();
        for (int i = 0; i < 200 && text_of(folder / "pid").empty(); ++i) std::this_thread::sleep_for(10ms);
        child.abandon();
        CHECK(child.pid() == -1);
        CHECK_FALSE(child.poll().has_value());
        child.signal(SIGKILL);  // does nothing any more
    }).join();
    const pid_t abandoned = std::stoi(text_of(folder / "pid"));
    int status = 0;
    REQUIRE(waitpid(abandoned, &status, 0) == abandoned);
    CHECK(WTERMSIG(status) == SIGKILL);
}

TEST_CASE("a child's processor time grows while it computes, stands while it sleeps, and ends with it") {
    auto busy = Process::spawn(shell("while :; do :; done")).value();
    auto idle = Process::spawn(shell("exec sleep 600")).value();
    const auto until = std::chrono::steady_clock::now() + 60s;
    const auto next = [&](const Process& child) {
        REQUIRE(std::chrono::steady_clock::now() < until);
        std::this_thread::sleep_for(20ms);
        return child.processor_time().value();
    };
    while (next(busy) < 20ms) {
    }
    // Its own start takes a while.
    auto before = next(idle);
    for (auto now = next(idle); now != before; now = next(idle)) before = now;
    busy.kill();
    CHECK_FALSE(busy.processor_time().has_value());
}

TEST_CASE("a program that is missing or is none is an error, not a child") {
    REQUIRE(Process::spawn({.program = "/nowhere/assay"}).error().kind == base::ErrorKind::kNotFound);
    const test::TemporaryFolder folder;
    std::ofstream(folder / "junk") << "\x7f"
                                      "not a program";
    std::filesystem::permissions(folder / "junk", std::filesystem::perms::owner_all);
    REQUIRE(Process::spawn({.program = folder / "junk"}).error().kind == base::ErrorKind::kFailure);
}

TEST_CASE("a home and every folder that is made above it are closed to others, whatever the umask") {
    const test::TemporaryFolder folder;
    const mode_t before = umask(0);
    const auto made = create_home({folder / "share/assay/devnet"});
    const auto disk = ledger::PosixDisk().make_directories((folder / "other/assay/ledger").string());
    umask(before);
    REQUIRE(made.ok());
    REQUIRE(disk.ok());
    using std::filesystem::perms;
    for (const char* name : {"share", "share/assay", "share/assay/devnet", "share/assay/devnet/keys", "other",
                             "other/assay", "other/assay/ledger"}) {
        INFO(name);
        CHECK(std::filesystem::status(folder / name).permissions() == perms::owner_all);
    }
    // What others made stays as they made it.
    std::filesystem::permissions(folder / "share", perms(0755));
    REQUIRE(create_home({folder / "share/assay/again"}).ok());
    CHECK(std::filesystem::status(folder / "share").permissions() == perms(0755));
    std::ofstream(folder / "file") << "in the way";
    REQUIRE(create_home({folder / "file/home"}).error().kind == base::ErrorKind::kFailure);
}

TEST_CASE("one home, one process") {
    const test::TemporaryFolder folder;
    const Home home{folder / "home"};
    REQUIRE(create_home(home).ok());
    {
        const auto lock = HomeLock::take(home, "assay miner").value();
        const auto second = HomeLock::take(home, "assay miner");
        REQUIRE(second.error().what.find("process " + std::to_string(getpid()) + " (assay miner)") !=
                std::string::npos);
    }
    REQUIRE(HomeLock::take(home, "assay miner").ok());
}

TEST_CASE("a state file is read back as it was written, and bad names are refused") {
    const test::TemporaryFolder folder;
    auto disk = make_disk_port(folder / "jobs").value();
    REQUIRE_FALSE(disk->read("a.bin")->has_value());
    REQUIRE(disk->write("a.bin", base::Bytes{1, 2}).ok());
    REQUIRE(disk->write("a.bin", base::Bytes{3}).ok());
    REQUIRE(disk->read("a.bin")->value() == base::Bytes{3});
    REQUIRE(disk->remove("a.bin").ok());
    REQUIRE_FALSE(disk->read("a.bin")->has_value());
    for (const char* name : {"", ".", "..", "../x", "/etc/passwd", "a/b", ".hidden", "UPPER"}) {
        INFO(name);
        REQUIRE_FALSE(disk->write(name, {}).ok());
        REQUIRE_FALSE(disk->read(name).ok());
    }
}

// Collects what happens, and stops the loop once both timers fired and the post is there.
class Recorder final : public Role {
public:
    explicit Recorder(Loop& loop) : loop_(loop) {}
    void step(const RoleEvent& event) override {
        if (std::holds_alternative<Started>(event)) {
            const std::uint64_t now = system_clock().mono_ns();
            late = loop_.timers().at(now + 60'000'000);
            early = loop_.timers().at(now + 20'000'000);
            loop_.timers().cancel(loop_.timers().at(now + 1));
        }
        if (std::holds_alternative<StopRequested>(event)) posted = true;
        if (const auto* timer = std::get_if<TimerFired>(&event)) fired.push_back(timer->id);
        if (fired.size() == 2 && posted) loop_.stop();
    }
    Loop& loop_;
    TimerId early = 0, late = 0;
    bool posted = false;
    std::vector<TimerId> fired;
};

TEST_CASE("timers fire in order, once, cancelled ones not at all; posts arrive from other threads") {
    Loop loop;
    Recorder role(loop);
    loop.attach(role);
    std::thread other([&] { loop.post(RoleEvent(StopRequested{})); });
    loop.run();
    other.join();
    REQUIRE(role.fired == std::vector<TimerId>{role.early, role.late});
    REQUIRE(role.posted);
}

TEST_CASE(
    "timers of one deadline fire in the order in which they were asked for, and one that has passed fires") {
    struct Asker final : Role {
        explicit Asker(Loop& the_loop) : loop(the_loop) {}
        void step(const RoleEvent& event) override {
            if (std::holds_alternative<Started>(event)) {
                const std::uint64_t soon = system_clock().mono_ns() + 5'000'000;
                for (TimerId& id : asked) id = loop.timers().at(soon);
                past = loop.timers().at(1);
            }
            if (const auto* timer = std::get_if<TimerFired>(&event)) fired.push_back(timer->id);
            if (fired.size() == 1) loop.timers().cancel(asked[1]);  // from inside a timer
            if (fired.size() == 3) loop.stop();
        }
        Loop& loop;
        std::array<TimerId, 3> asked{};
        TimerId past = 0;
        std::vector<TimerId> fired;
    };
    Loop loop;
    Asker role(loop);
    loop.attach(role);
    loop.run();
    REQUIRE(role.fired == std::vector<TimerId>{role.past, role.asked[0], role.asked[2]});
}

TEST_CASE("neither a stream of posts nor a stream of timers starves the other") {
    struct Busy final : Role {
        explicit Busy(Loop& the_loop) : loop(the_loop) {}
        void step(const RoleEvent& event) override {
            if (std::holds_alternative<Started>(event)) {
                again();
                (void)loop.timers().at(1);
            }
            if (std::holds_alternative<TimerFired>(event)) {
                ++timers;
                (void)loop.timers().at(1);
            }
        }
        void again() {
            if (++posts >= 1000 && timers >= 100) return loop.stop();
            loop.post([this] { again(); });
        }
        Loop& loop;
        int posts = 0, timers = 0;
    };
    Loop loop;
    Busy role(loop);
    loop.attach(role);
    loop.run();
    CHECK(role.posts >= 1000);
    CHECK(role.timers >= 100);
}

TEST_CASE("after stop nothing that was posted runs, before or after it") {
    Loop loop;
    int ran = 0;
    loop.post([&] {
        ++ran;
        loop.post([&] { ++ran; });
        loop.stop();
        loop.post([&] { ++ran; });
    });
    loop.run();
    REQUIRE(ran == 1);
}

TEST_CASE("what is held for an event is let go once the role has taken it, or once the event is dropped") {
    struct Stopper final : Role {
        void step(const RoleEvent& event) override {
            if (!std::holds_alternative<StopRequested>(event)) return;
            holders = held.use_count();
            loop->stop();
        }
        std::shared_ptr<int> held = std::make_shared<int>();
        std::optional<Loop> loop{std::in_place};
        long holders = 0;
    };
    Stopper role;
    role.loop->attach(role);
    role.loop->post(RoleEvent(StopRequested{}), role.held);
    role.loop->post(RoleEvent(StopRequested{}), role.held);
    REQUIRE(role.held.use_count() == 3);
    role.loop->run();
    CHECK(role.holders == 3);
    CHECK(role.held.use_count() == 2);  // the second event is still queued
    role.loop->post(RoleEvent(StopRequested{}), role.held);
    CHECK(role.held.use_count() == 2);
    role.loop.reset();
    CHECK(role.held.use_count() == 1);
}

TEST_CASE("who waits for a loop is told when it is stopped") {
    Loop loop;
    bool told = false;
    const std::stop_callback callback(loop.stopped(), [&] { told = true; });
    REQUIRE_FALSE(told);
    loop.stop();
    CHECK(told);
    CHECK(loop.stopped().stop_requested());
}

TEST_CASE("a strand thread works in order; its end waits for what has begun and drops the rest") {
    std::vector<int> done;
    std::atomic<bool> begun = false;
    bool asked_to_stop = false;
    {
        StrandThread thread;
        for (int i = 0; i < 100; ++i) thread.add([&done, i](const std::stop_token&) { done.push_back(i); });
        thread.add([&](const std::stop_token& stop) {
            begun = true;
            while (!stop.stop_requested()) std::this_thread::sleep_for(1ms);
            asked_to_stop = true;
        });
        thread.add([&](const std::stop_token&) { done.push_back(-1); });
        while (!begun) std::this_thread::sleep_for(1ms);
    }
    REQUIRE(asked_to_stop);
    REQUIRE(done.size() == 100);
    REQUIRE(std::is_sorted(done.begin(), done.end()));
}

// In a process of its own: stop_on_signals changes the process that calls it for good.
TEST_CASE(
    "the first signal requests a stop and is named; the second ends the process by its default action") {
    const pid_t child = fork();
    if (child == 0) {
        const std::stop_token stop = stop_on_signals();
        kill(getpid(), SIGTERM);
        for (int i = 0; i < 500 && !stop.stop_requested(); ++i) std::this_thread::sleep_for(10ms);
        if (!stop.stop_requested() || stop_signal() != SIGTERM) _exit(1);
        kill(getpid(), SIGINT);
        std::this_thread::sleep_for(5s);
        _exit(2);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    REQUIRE(WTERMSIG(status) == SIGINT);
}

}  // namespace
}  // namespace assay::node
