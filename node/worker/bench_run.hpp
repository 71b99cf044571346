// SPDX-License-Identifier: Apache-2.0
// Gives benches the timing of one case on several sides. The sides take turns, so that other load on the
// machine affects all of them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "node/worker/bench_child.hpp"

namespace assay::node {

/// One side of a comparison.
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

/// For an even number of values the mean of the two in the middle. REQUIRES at least one value.
double median(std::vector<double> values);

/// How many times longer `other` takes than `ours`: the median, over the turns, of the ratio of their times
/// in that turn. Within a turn both met the machine in the same state; the quotient of two medians could
/// compare different states. REQUIRES that both took the same turns.
/// REQUIRES at least one turn.
double times_longer(const BenchTiming& other, const BenchTiming& ours);

/// Keeps one process for each key until it is destroyed, so that several cases need not start it again.
class BenchRoom {
public:
    /// Called with the reason when a side could not do its case.
    using Complain = std::function<void(const BenchSide&, const std::string&)>;
    explicit BenchRoom(Complain complain) : complain_(std::move(complain)) {}

    /// Prepares the case `line` on every side, then lets the sides take turns for about `budget` seconds, at
    /// least three turns each. Returns the timings in the order of `sides`; nothing for a side that is absent
    /// or failed. REQUIRES that the keys differ.
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
