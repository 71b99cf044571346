// SPDX-License-Identifier: Apache-2.0
// Gives the bench commands what `assay bench gemm` and `assay bench train` measure on this machine, and with
// which peers they compare. bench_state.hpp has the state.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "contracts/base/error.hpp"

namespace assay::node {

struct BenchOptions {
    double seconds = 60;        ///< about how long one kind of bench measures, without the start of peers
    std::string only;           ///< cases whose name or shape contains this; empty: all
    bool large = false;         ///< also GPT-2 124M
    bool peers = true;          ///< false: only our sides
    std::string device;         ///< empty: the processor; a card, or its emulation (bench_card.hpp)
    std::string device_memory;  ///< of `device`, as ASSAY_DEVICE_MEMORY; empty: inherit the environment's
};

/// A row of the JSON output (docs/reference/json.md).
struct BenchRow {
    std::string name, shape, profile, target;
    unsigned threads = 1;
    double value = 0;
    std::string unit;
    std::string peer;                  ///< empty: no peer
    std::optional<double> peer_value;  ///< nothing: the peer is not on this machine
    std::optional<double> ratio;       ///< above 1: ours is better

    template <class Visit>
    void fields(Visit& visit) const {
        visit("name", name);
        visit("shape", shape);
        visit("profile", profile);
        visit("target", target);
        visit("threads", threads);
        visit("value", value);
        visit("unit", unit);
        visit("peer", peer);
        visit("peer_value", peer_value);
        visit("ratio", ratio);
    }
};

struct BenchReport {
    std::function<void(const BenchRow&)> row;
    std::function<void(const std::string&)> note;  ///< progress and what failed, for people
};

/// Measures the products of a linear layer. Errors: a malformed target or thread count in the environment, no
/// worker program.
base::Outcome<void> bench_products(const BenchOptions& options, const BenchReport& report);
/// Measures whole training steps, their peak memory, and how they scale with threads.
base::Outcome<void> bench_steps(const BenchOptions& options, const BenchReport& report);

}  // namespace assay::node
