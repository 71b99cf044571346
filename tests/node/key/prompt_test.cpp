// SPDX-License-Identifier: Apache-2.0
// The prompt for a passphrase, on a terminal of the test's own.
#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>

#include "node/key/key_file.hpp"
#include "tests/support/catch.hpp"

namespace assay::node {
namespace {

using namespace std::chrono_literals;

/// How a process that asked for a passphrase ended, as its shell sees it.
struct PromptEnd {
    int status = 0;       ///< of waitpid
    int echoes = 0;       ///< whether the terminal shows again what is typed
    int shell_heard = 0;  ///< SIGINTs that came to the shell
};

volatile std::sig_atomic_t interrupts = 0;
void count_interrupt(int) { interrupts = interrupts + 1; }

/// Asks, and ends with 0 for "right words", else with the error's number.
[[noreturn]] void ask(bool signals_blocked) {
    std::signal(SIGINT, SIG_DFL);
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    if (signals_blocked) sigprocmask(SIG_BLOCK, &signals, nullptr);
    const auto words = read_passphrase({}, PromptKind::kOpen);
    if (!words.ok()) _exit(static_cast<int>(words.error().kind));
    _exit(words->text() == "right words" ? 0 : 99);
}

/// A shell: the terminal is its own, and outlives the process that asks.
[[noreturn]] void be_shell(const char* terminal, int report, bool signals_blocked) {
    setsid();
    const int tty = open(terminal, O_RDWR);  // the controlling one from here on
    std::signal(SIGINT, count_interrupt);
    const pid_t asks = fork();
    if (asks == 0) ask(signals_blocked);
    PromptEnd end;
    const auto give_up = std::chrono::steady_clock::now() + 20s;
    while (waitpid(asks, &end.status, WNOHANG) != asks) {
        if (std::chrono::steady_clock::now() > give_up) kill(asks, SIGKILL);
        std::this_thread::sleep_for(10ms);
    }
    termios state{};
    tcgetattr(tty, &state);
    end.echoes = (state.c_lflag & ECHO) != 0 ? 1 : 0;
    end.shell_heard = interrupts;
    const bool told = write(report, &end, sizeof end) == sizeof end;
    _exit(told ? 0 : 1);
}

/// What the terminal shows, until `text` is in it.
void wait_for(int terminal, const std::string& text) {
    std::string shown;
    while (shown.find(text) == std::string::npos) {
        pollfd wanted{terminal, POLLIN, 0};
        REQUIRE(poll(&wanted, 1, 20'000) == 1);
        std::array<char, 256> part{};
        const ssize_t got = read(terminal, part.data(), part.size());
        REQUIRE(got > 0);
        shown.append(part.data(), static_cast<std::size_t>(got));
    }
}

PromptEnd prompted(const std::string& typed, bool signals_blocked) {
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    REQUIRE(terminal >= 0);
    REQUIRE(grantpt(terminal) == 0);
    REQUIRE(unlockpt(terminal) == 0);
    const std::string name = ptsname(terminal);
    int report[2];
    REQUIRE(pipe(report) == 0);
    const pid_t shell = fork();
    REQUIRE(shell >= 0);
    if (shell == 0) be_shell(name.c_str(), report[1], signals_blocked);
    close(report[1]);
    wait_for(terminal, "Passphrase: ");
    REQUIRE(write(terminal, typed.data(), typed.size()) == static_cast<ssize_t>(typed.size()));
    PromptEnd end;
    CHECK(read(report[0], &end, sizeof end) == sizeof end);
    waitpid(shell, nullptr, 0);
    close(report[0]);
    close(terminal);
    return end;
}

constexpr const char* kControlC = "\x03";

}  // namespace

TEST_CASE("what is typed at the prompt is the passphrase, and is not shown") {
    for (const bool signals_blocked : {false, true}) {
        const PromptEnd end = prompted("right words\n", signals_blocked);
        CHECK(WIFEXITED(end.status));
        CHECK(WEXITSTATUS(end.status) == 0);
        CHECK(end.echoes == 1);
        CHECK(end.shell_heard == 0);
    }
}

TEST_CASE("Ctrl-C at the prompt ends the process, and the terminal shows again what is typed") {
    for (const std::string typed : {"", "half a passph"}) {
        CAPTURE(typed);
        const PromptEnd end = prompted(typed + kControlC, false);
        CHECK(WIFSIGNALED(end.status));
        CHECK(WTERMSIG(end.status) == SIGINT);
        CHECK(end.echoes == 1);
        CHECK(end.shell_heard == 1);  // or a script would go on with its next command
    }
}

TEST_CASE("Ctrl-C at the prompt of a process that takes its signals elsewhere ends the question") {
    const PromptEnd end = prompted(kControlC, true);
    CHECK(WIFEXITED(end.status));
    CHECK(WEXITSTATUS(end.status) == static_cast<int>(base::ErrorKind::kInterrupted));
    CHECK(end.echoes == 1);
    CHECK(end.shell_heard == 1);
}

}  // namespace assay::node
