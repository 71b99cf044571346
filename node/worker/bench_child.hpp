// SPDX-License-Identifier: Apache-2.0
// Gives benches BenchChild, a child process that times cases of `assay bench` with the lines of
// node/worker/program/bench.hpp: our worker, LibTorch inside it, or PyTorch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "contracts/base/error.hpp"

namespace assay::node {

/// How one side of a comparison is run.
struct BenchProgram {
    std::filesystem::path program;
    std::vector<std::string> arguments;
    std::vector<std::pair<std::string, std::string>> environment;  ///< added to ours
};

/// The time that a part of a step took.
struct BenchPart {
    std::string name;
    std::uint64_t count = 0;
    double seconds = 0;
};

/// A process that measures. Whatever it answers that is not what was asked for is a kFailure.
class BenchChild {
public:
    static base::Outcome<BenchChild> start(const BenchProgram& program);
    BenchChild(BenchChild&&) noexcept;
    BenchChild& operator=(BenchChild&&) noexcept;
    ~BenchChild();

    /// Sends a line and returns the answer without its first word, which must be `expected`. kFailure when
    /// the child answered `error`, with its own text, and when it ended.
    base::Outcome<std::string> ask(const std::string& line, const std::string& expected);

    /// Makes `line` (gemm or step) the case that run() times.
    base::Outcome<void> prepare(const std::string& line);
    /// Seconds of each of `count` >= 1 runs.
    base::Outcome<std::vector<double>> run(unsigned count);
    /// Times of the parts of one step, longest first; empty when the device does not report them. `line` is
    /// that of a step, with `parts` as its first word. The case of run() must be prepared again afterwards.
    base::Outcome<std::vector<BenchPart>> parts(const std::string& line);
    /// Largest resident memory of the process so far, in bytes.
    base::Outcome<double> peak();

private:
    class Impl;
    explicit BenchChild(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

/// Environment under which LibTorch and PyTorch are fastest: their allocator otherwise gives large tensors
/// back to the system and faults them in again. A peer is tuned before it is compared with.
std::vector<std::pair<std::string, std::string>> tuned_environment(unsigned threads);

}  // namespace assay::node
