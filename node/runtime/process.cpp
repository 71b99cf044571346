// SPDX-License-Identifier: Apache-2.0
#include "node/runtime/process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <thread>

extern char** environ;

namespace assay::node {
namespace {

using base::ErrorKind;
using base::fail;

// Everything the child needs, made before fork: between fork and exec only async-signal-safe calls are
// allowed, because other threads may have held any lock.
struct StartPlan {
    std::vector<std::string> texts;
    std::vector<char*> argv, envp;
    std::vector<std::pair<int, int>> descriptors;  // {ours, in the child}, the copies above all targets
    int out = -1;
    int err = -1;
    pid_t parent = 0;
};

StartPlan make_plan(const ProcessOptions& options) {
    StartPlan plan;
    plan.parent = getpid();
    plan.texts.push_back(options.program.string());
    plan.texts.insert(plan.texts.end(), options.arguments.begin(), options.arguments.end());
    const std::size_t arguments = plan.texts.size();
    for (const auto& [name, value] : options.environment) plan.texts.push_back(name + "=" + value);
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const std::string_view name = text.substr(0, text.find('='));
        const bool replaced = std::any_of(options.environment.begin(), options.environment.end(),
                                          [&](const auto& added) { return added.first == name; });
        if (!replaced) plan.texts.emplace_back(text);
    }
    for (std::size_t i = 0; i < plan.texts.size(); ++i) {
        (i < arguments ? plan.argv : plan.envp).push_back(plan.texts[i].data());
    }
    plan.argv.push_back(nullptr);
    plan.envp.push_back(nullptr);
    return plan;
}

[[noreturn]] void child_fails(int report, int reason) {
    [[maybe_unused]] const auto put = write(report, &reason, sizeof reason);
    _exit(127);
}

// Nothing to read. Closed where it lies elsewhere: a source of a number that the child gets lies above all.
bool read_nothing() {
    const int nothing = open("/dev/null", O_RDONLY);
    if (nothing < 0) return false;
    if (nothing == STDIN_FILENO) return true;
    const bool put = dup2(nothing, STDIN_FILENO) >= 0;
    close(nothing);
    return put;
}

[[noreturn]] void become(const StartPlan& plan, int report) {
    // A session of its own is a group of its own, and has no terminal into which the child could type.
    if (setsid() < 0) child_fails(report, errno);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != plan.parent) _exit(127);  // the parent died before the line above
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, nullptr);
    for (const int number : {SIGPIPE, SIGINT, SIGTERM}) signal(number, SIG_DFL);
    if (!read_nothing()) child_fails(report, errno);
    if (plan.out >= 0 && dup2(plan.out, STDOUT_FILENO) < 0) child_fails(report, errno);
    if (plan.err >= 0 && dup2(plan.err, STDERR_FILENO) < 0) child_fails(report, errno);
    int top = STDERR_FILENO;
    for (const auto& [ours, wanted] : plan.descriptors) {
        if (dup2(ours, wanted) < 0) child_fails(report, errno);
        top = std::max(top, wanted);
    }
    // Close on exec what the child was not given, gaps between the given numbers included. `report` tells
    // the parent about a failed exec by staying open until exec closes it.
    for (int fd = STDERR_FILENO + 1; fd <= top; ++fd) {
        bool given = false;
        for (const auto& [ours, wanted] : plan.descriptors) given = given || wanted == fd;
        if (!given) fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
    syscall(SYS_close_range, static_cast<unsigned>(top + 1), ~0U, 4U /* CLOSE_RANGE_CLOEXEC */);
    execve(plan.argv[0], plan.argv.data(), plan.envp.data());
    child_fails(report, errno);
}

base::Outcome<int> open_log(const std::optional<std::filesystem::path>& file) {
    if (!file) return -1;
    const int fd = open(file->c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0) {
        return fail(ErrorKind::kFailure,
                    "cannot open the log file " + file->string() + ": " + std::strerror(errno),
                    "check that its folder exists and has space");
    }
    return fd;
}

ExitStatus from_wait(int status) {
    if (WIFSIGNALED(status)) return {.code = 0, .signal = WTERMSIG(status)};
    return {.code = WEXITSTATUS(status), .signal = 0};
}

class Fds {
public:
    ~Fds() {
        for (const int fd : fds_) close(fd);
    }
    Fds() = default;
    Fds(const Fds&) = delete;
    Fds& operator=(const Fds&) = delete;
    int keep(int fd) {
        if (fd >= 0) fds_.push_back(fd);
        return fd;
    }

private:
    std::vector<int> fds_;
};

}  // namespace

std::string to_text(const ExitStatus& status) {
    if (status.signal == 0) return "exit code " + std::to_string(status.code);
    return "signal " + std::to_string(status.signal) + " (" + strsignal(status.signal) + ")";
}

ErrorKind error_kind(const ExitStatus& status) {
    if (status.signal != 0) return ErrorKind::kFailure;
    switch (const auto kind = static_cast<ErrorKind>(status.code)) {
        case ErrorKind::kFailure:
        case ErrorKind::kUsage:
        case ErrorKind::kNotFound:
        case ErrorKind::kUnreachable:
        case ErrorKind::kKey:
        case ErrorKind::kRejected:
        case ErrorKind::kVerification:
        case ErrorKind::kPreflight:
        case ErrorKind::kInterrupted: return kind;
    }
    return ErrorKind::kFailure;
}

base::Outcome<Process> Process::spawn(const ProcessOptions& options) {
    if (access(options.program.c_str(), X_OK) != 0) {
        return fail(ErrorKind::kNotFound, "there is no program " + options.program.string(),
                    "build it, or check where it was installed");
    }
    Fds ours;
    StartPlan plan = make_plan(options);
    ASSAY_ASSIGN(plan.out, open_log(options.stdout_file));
    ours.keep(plan.out);
    ASSAY_ASSIGN(plan.err, open_log(options.stderr_file));
    ours.keep(plan.err);
    int top = STDERR_FILENO;
    for (const auto& [mine, wanted] : options.descriptors) top = std::max(top, wanted);
    // Copies above every target number, so that no dup2 in the child overwrites a source still needed.
    for (const auto& [mine, wanted] : options.descriptors) {
        plan.descriptors.emplace_back(ours.keep(fcntl(mine, F_DUPFD_CLOEXEC, top + 1)), wanted);
    }
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
        return fail(ErrorKind::kFailure, std::string("cannot start a process: ") + std::strerror(errno));
    }
    ours.keep(ends[0]);
    const int report = fcntl(ends[1], F_DUPFD_CLOEXEC, top + 1);
    close(ends[1]);
    const pid_t pid = fork();
    if (pid == 0) become(plan, report);
    const int fork_error = errno;
    close(report);
    if (pid < 0)
        return fail(ErrorKind::kFailure, std::string("cannot start a process: ") + std::strerror(fork_error));
    Process process(pid);
    // The child's exec closes the last write end: end of file is success, a number is why it failed. Whoever
    // signals its group comes after this, and so after its setsid.
    int reason = 0;
    ssize_t got = 0;
    do {
        got = read(ends[0], &reason, sizeof reason);
    } while (got < 0 && errno == EINTR);
    if (got == sizeof reason) {
        process.wait();
        return fail(ErrorKind::kFailure,
                    "cannot start " + options.program.string() + ": " + std::strerror(reason));
    }
    return process;
}

Process::Process(Process&& other) noexcept : pid_(std::exchange(other.pid_, -1)), status_(other.status_) {}
Process& Process::operator=(Process&& other) noexcept {
    std::swap(pid_, other.pid_);
    std::swap(status_, other.status_);
    return *this;
}
Process::~Process() {
    if (pid_ > 0 && !status_) kill();
}

std::optional<ExitStatus> Process::poll() {
    if (status_ || pid_ <= 0) return status_;
    int status = 0;
    const pid_t ended = waitpid(pid_, &status, WNOHANG);
    if (ended == pid_) status_ = from_wait(status);
    // Its end was taken by the system, as it does where SIGCHLD is ignored.
    if (ended < 0 && errno == ECHILD) status_ = ExitStatus{.code = 127, .signal = 0};
    return status_;
}

std::optional<ExitStatus> Process::wait(std::chrono::milliseconds patience) {
    const auto until = std::chrono::steady_clock::now() + patience;
    while (!poll() && std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return status_;
}

ExitStatus Process::wait() {
    while (!status_) {
        int status = 0;
        const pid_t ended = waitpid(pid_, &status, 0);
        if (ended == pid_)
            status_ = from_wait(status);
        else if (errno != EINTR)
            status_ = ExitStatus{.code = 127, .signal = 0};
    }
    return *status_;
}

std::optional<std::chrono::nanoseconds> Process::processor_time() const {
    clockid_t clock{};
    timespec used{};
    if (pid_ <= 0 || status_ || clock_getcpuclockid(pid_, &clock) != 0 || clock_gettime(clock, &used) != 0)
        return std::nullopt;
    return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

ExitStatus Process::terminate(std::chrono::milliseconds grace) {
    signal(SIGTERM);
    if (const auto ended = wait(grace)) return *ended;
    return kill();
}

ExitStatus Process::kill() {
    signal(SIGKILL);
    return wait();
}

void Process::signal(int number) {
    // The whole group: a worker's own children go with it. Not after its end was seen: the number may be
    // reused.
    if (pid_ > 0 && !poll()) ::kill(-pid_, number);
}

base::Outcome<std::filesystem::path> own_program() {
    std::error_code error;
    auto path = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error) return fail(ErrorKind::kFailure, "cannot find the running program: " + error.message());
    return path;
}

}  // namespace assay::node
