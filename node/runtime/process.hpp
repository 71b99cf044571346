// SPDX-License-Identifier: Apache-2.0
// Gives code that starts programs Process, a child process that never outlives its parent.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "contracts/base/error.hpp"

namespace assay::node {

struct ProcessOptions {
    std::filesystem::path program;
    std::vector<std::string> arguments;                            ///< without argv[0]
    std::vector<std::pair<std::string, std::string>> environment;  ///< added to ours
    std::optional<std::filesystem::path> stdout_file;              ///< output is appended; nothing: inherited
    std::optional<std::filesystem::path> stderr_file;              ///< may be the same file
    /// Descriptors the child gets: {ours, number in the child}. All others are closed in the child, and
    /// without one for number 0 it reads /dev/null.
    std::vector<std::pair<int, int>> descriptors;
};

/// How a process ended: an exit code, or the signal that killed it.
struct ExitStatus {
    int code = 0;
    int signal = 0;
    [[nodiscard]] bool success() const { return code == 0 && signal == 0; }
};

/// "exit code 3", "signal 9 (Killed)".
std::string to_text(const ExitStatus& status);

/// The kind of error with which one of our programs ended, by its exit code. kFailure for a signal, and for
/// codes that name no kind.
base::ErrorKind error_kind(const ExitStatus& status);

/// A running child, in a session of its own without a terminal. It is killed when this object is destroyed,
/// unless it was abandoned, or when the parent dies. PR_SET_PDEATHSIG sees to the latter, and also kills the
/// child when the thread that spawned it ends, so spawn from the main thread. Move-only, not thread-safe.
class Process {
public:
    /// kNotFound when there is no such program; kFailure when it cannot be started.
    static base::Outcome<Process> spawn(const ProcessOptions& options);

    Process(Process&& other) noexcept;
    Process& operator=(Process&& other) noexcept;
    ~Process();

    [[nodiscard]] pid_t pid() const { return pid_; }
    /// How it ended; nothing while it runs.
    std::optional<ExitStatus> poll();
    /// Waits for at most `patience`; nothing when it still runs then.
    std::optional<ExitStatus> wait(std::chrono::milliseconds patience);
    ExitStatus wait();
    /// Processor time that its threads have used, without its children's. Nothing once its end was seen, or
    /// when the clock cannot be read.
    [[nodiscard]] std::optional<std::chrono::nanoseconds> processor_time() const;
    /// Sends SIGTERM to its process group, and SIGKILL after `grace`.
    ExitStatus terminate(std::chrono::milliseconds grace = std::chrono::seconds(5));
    /// Sends SIGKILL to its process group, and waits until the process has ended. The kernel ends none that
    /// waits inside a driver.
    ExitStatus kill();
    void signal(int number);
    /// From now on nobody waits for it: destroying this does not, and its end is never seen.
    void abandon() { pid_ = -1; }

private:
    explicit Process(pid_t pid) : pid_(pid) {}
    pid_t pid_ = -1;
    std::optional<ExitStatus> status_;
};

/// The path of the program that is running now, to start a sibling from the same folder.
base::Outcome<std::filesystem::path> own_program();

}  // namespace assay::node
