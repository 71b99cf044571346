// SPDX-License-Identifier: Apache-2.0
// Gives the bench commands BenchComparison, which runs one case in turns on our side and on its peers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "node/cli/bench_plan.hpp"
#include "node/cli/bench_sides.hpp"

namespace assay::node {

/// The case that every side of a comparison runs.
struct BenchCase {
    std::string name;
    std::string shape;
    std::string verb;   ///< of the lines: gemm, step or state
    std::string work;   ///< rest of the lines
    double amount = 0;  ///< value = amount / seconds
    std::string unit;
};

/// A product of a linear layer.
struct BenchLayer {
    const char* name;
    const char* word;  ///< of the lines
    unsigned tokens, in, out;
};

struct BenchModel {
    const char* name;
    unsigned layers, width, heads, context, vocabulary, batch;
};

BenchCase case_of(const BenchLayer& layer);
BenchCase case_of(const BenchModel& model);
/// Whether `--only` selects it.
bool wanted(const BenchCase& one, const BenchOptions& options);

/// One of our sides and its peers.
struct BenchMatch {
    OurSide ours;
    BenchSide side;
    std::vector<BenchSide> peers;
};

struct BenchMatchResult {
    BenchTiming ours;
    std::vector<std::optional<BenchTiming>> peers;
};

/// Keeps its processes until it is destroyed. `report` must outlive it.
class BenchComparison {
public:
    explicit BenchComparison(const BenchReport& report);

    /// Runs all sides of `matches` in turns together. Nothing for a match when our side failed.
    std::vector<std::optional<BenchMatchResult>> run(const std::vector<BenchMatch>& matches, double budget);

    void speed_rows(const BenchCase& one, const BenchMatch& match, unsigned threads,
                    const BenchMatchResult& result) const;
    void memory_rows(const BenchCase& one, const BenchMatch& match, unsigned threads,
                     const BenchMatchResult& result) const;
    /// Rows with the milliseconds of one run.
    void time_rows(const BenchCase& one, const BenchMatch& match, unsigned threads,
                   const BenchMatchResult& result) const;

private:
    template <class Values>
    void each_peer(BenchRow row, const BenchMatch& match, const BenchMatchResult& result,
                   const Values& values) const;

    const BenchReport& report_;
    BenchRoom room_;
};

}  // namespace assay::node
