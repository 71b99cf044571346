// SPDX-License-Identifier: Apache-2.0
// Gives benches the timing of one case on several sides that take turns, so that whatever else the machine
// does touches all of them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "node/worker/bench_child.hpp"

namespace assay::node {

/// One of those compared.
struct BenchSide {
    std::string key;       ///< names the process: sides of one key have one program
    BenchProgram program;  ///< with an empty path: absent
    std::string line;      ///< makes the case, "gemm f32 forward 512 128 512"
};

struct BenchTiming {
    double seconds = 0;         ///< median of its runs
    std::vector<double> turns;  ///< median seconds of a run in each turn
    double peak_bytes = 0;      ///< of its process, everything that it has done so far
    std::string name;           ///< of the peer inside the process
};

/// Of an even number of values the mean of the two in the middle. REQUIRES a value.
double median(std::vector<double> values);

/// How many times longer `other` takes than `ours`, two that took the same turns: the median over the turns
/// of the two times of one turn. Each such pair met the machine in one state; two medians, each over all
/// turns, may come from two.
/// REQUIRES at least one turn.
double times_longer(const BenchTiming& other, const BenchTiming& ours);

/// Keeps one process for each key until it goes, so that several cases need not start it again.
class BenchRoom {
public:
    /// Told why a side could not do its case.
    using Complain = std::function<void(const BenchSide&, const std::string&)>;
    explicit BenchRoom(Complain complain) : complain_(std::move(complain)) {}

    /// Prepares the case on every side, then lets them take turns for about `budget` seconds, at least three
    /// turns each. What came out in the order of `sides`; nothing for a side that is absent or failed. The
    /// case of a side is `line`; keys differ.
    std::vector<std::optional<BenchTiming>> take_turns(const std::vector<BenchSide>& sides, double budget);

private:
    struct Seat {
        BenchChild child;
        std::string name;
    };
    struct Player;
    base::Outcome<Player> begin(const BenchSide& side, std::size_t index);
    void lose(const BenchSide& side, const base::Error& error);

    Complain complain_;
    std::map<std::string, Seat> seats_;
};

}  // namespace assay::node
