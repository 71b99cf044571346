// SPDX-License-Identifier: Apache-2.0
// Gives whoever starts programs child processes that never outlive their parent.
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
    std::optional<std::filesystem::path> stdout_file;              ///< appended to; nothing: inherited
    std::optional<std::filesystem::path> stderr_file;              ///< may be the same file
    /// Descriptors the child gets: {ours, number in the child}. All others are closed in the child.
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

/// The kind of error that a program of ours ended with, by its exit code; kFailure for a signal, and for
/// codes that are no kind.
base::ErrorKind error_kind(const ExitStatus& status);

/// A running child, killed when this goes or when the parent dies (PR_SET_PDEATHSIG, so the thread that
/// spawned it must live on too: spawn from the main thread). Move-only, not thread-safe.
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
    /// Waits at most that long.
    std::optional<ExitStatus> wait(std::chrono::milliseconds patience);
    ExitStatus wait();
    /// Processor time that its threads have used, its children's not among it; nothing once its end was seen,
    /// or where the clock cannot be read.
    [[nodiscard]] std::optional<std::chrono::nanoseconds> processor_time() const;
    /// SIGTERM to its process group, SIGKILL after `grace`.
    ExitStatus terminate(std::chrono::milliseconds grace = std::chrono::seconds(5));
    ExitStatus kill();
    void signal(int number);

private:
    explicit Process(pid_t pid) : pid_(pid) {}
    pid_t pid_ = -1;
    std::optional<ExitStatus> status_;
};

/// The path of the program that is running now, for starting a sibling beside it.
base::Outcome<std::filesystem::path> own_program();

}  // namespace assay::node
