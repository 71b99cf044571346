// SPDX-License-Identifier: Apache-2.0
// A program run as a person runs it: arguments in, exit code, standard output and standard error out.
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "node/runtime/process.hpp"
#include "tests/support/temporary_folder.hpp"

namespace assay::test {

struct ProgramRun {
    int code = 0;  ///< exit code; 128 + number for one that a signal ended, as shells count
    std::string out;
    std::string err;
};

inline std::string file_text(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// $ASSAY_BIN_DIR/NAME, set by ctest; without it, beside the running test.
inline std::filesystem::path built_program_path(const std::string& name) {
    const char* folder = std::getenv("ASSAY_BIN_DIR");
    if (folder != nullptr) return std::filesystem::path(folder) / name;
    return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

/// A program that runs in the background, with its output in files. Spawned from the main thread.
class BackgroundProgram {
public:
    BackgroundProgram(const std::filesystem::path& program, std::vector<std::string> arguments,
                      std::vector<std::pair<std::string, std::string>> environment = {})
        : process_(spawn(folder_, program, std::move(arguments), std::move(environment))) {}

    [[nodiscard]] std::string out() const { return file_text(folder_ / "out"); }
    [[nodiscard]] std::string err() const { return file_text(folder_ / "err"); }
    void signal(int number) { process_.signal(number); }
    [[nodiscard]] bool running() { return !process_.poll().has_value(); }
    ProgramRun wait() {
        const node::ExitStatus status = process_.wait();
        return {status.signal != 0 ? 128 + status.signal : status.code, out(), err()};
    }

private:
    static node::Process spawn(const TemporaryFolder& folder, const std::filesystem::path& program,
                               std::vector<std::string> arguments,
                               std::vector<std::pair<std::string, std::string>> environment) {
        node::ProcessOptions options;
        options.program = program;
        options.arguments = std::move(arguments);
        options.environment = std::move(environment);
        options.stdout_file = folder / "out";
        options.stderr_file = folder / "err";
        auto process = node::Process::spawn(options);
        if (!process.ok()) throw std::runtime_error(process.error().what);
        return std::move(process).value();
    }

    TemporaryFolder folder_;
    node::Process process_;
};

inline ProgramRun run_program(const std::filesystem::path& program, std::vector<std::string> arguments,
                              std::vector<std::pair<std::string, std::string>> environment = {}) {
    return BackgroundProgram(program, std::move(arguments), std::move(environment)).wait();
}

}  // namespace assay::test
