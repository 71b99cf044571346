// SPDX-License-Identifier: Apache-2.0
// Gives `assay bench market` its peer HiGHS, a solver of linear and integer programs, from the venv of `make
// bench-peers`.
#pragma once

#include <optional>
#include <string>

#include "contracts/base/error.hpp"
#include "contracts/rules/market/clearing.hpp"
#include "node/cli/scratch_folder.hpp"
#include "node/worker/bench_child.hpp"

namespace assay::node {

/// What the solver found, and how long it took on the processor.
struct Solved {
    double worth = 0;
    double seconds = 0;
};

enum class SolvedAs : std::uint8_t {
    kRelaxation,  ///< linear: a bid may have a part of its lots
    kWhole,       ///< integer: all of its lots or none, as in the rule
};

class MarketPeer {
public:
    /// Fails when there is no temporary folder. A solver that is missing or does not start is no error.
    static base::Outcome<MarketPeer> open();

    /// "HiGHS 1.15.1" or, if it is missing, what it is and how to get it.
    [[nodiscard]] const std::string& name() const { return name_; }
    /// Nothing when the solver is missing.
    base::Outcome<std::optional<Solved>> solve(const contracts::ClassMarket& market, SolvedAs program);

private:
    explicit MarketPeer(ScratchFolder folder) : folder_(std::move(folder)) {}

    ScratchFolder folder_;
    std::string name_;
    std::optional<BenchChild> solver_;
};

}  // namespace assay::node
