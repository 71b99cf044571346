// SPDX-License-Identifier: Apache-2.0
// Gives `assay bench verify` the size and time of a dispute at the shapes of real models, for every kind of
// operator, for updates and merges, and for what is opened without arithmetic. The limits are the protocol's:
// a witness of at most kMaxWitnessBytes, and a verdict within 10 ms on one core.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "contracts/dispute/witness.hpp"
#include "contracts/program/names.hpp"

namespace assay::node {

inline constexpr double kVerdictLimitUs = 10'000;

/// One kind in one profile, the worst of both families. Times are medians over the runs, for the slowest
/// partial.
struct DisputeShape {
    std::string name;   ///< "linear_weight_gradient", "merge, momentum"
    std::string group;  ///< forward, backward, optimizer, finalise, merge, state or data
    program::Profile profile = program::Profile::kF32;
    std::uint64_t partials = 0;  ///< of a tile
    std::uint64_t moves = 0;     ///< of the claimant, including the witness
    std::uint64_t bytes = 0;     ///< of these moves
    std::size_t witness_bytes = 0;
    double referee_us = 0;
    double referee_us_subnormal = 0;  ///< on operands that are all subnormal

    [[nodiscard]] bool met() const {
        return witness_bytes <= dispute::kMaxWitnessBytes && referee_us <= kVerdictLimitUs &&
               referee_us_subnormal <= kVerdictLimitUs;
    }
    template <class Visit>
    void fields(Visit& visit) const {
        visit("name", name);
        visit("group", group);
        visit("profile", profile);
        visit("partials", partials);
        visit("moves", moves);
        visit("bytes", bytes);
        visit("witness_bytes", witness_bytes);
        visit("witness_limit", dispute::kMaxWitnessBytes);
        visit("referee_us", referee_us);
        visit("referee_us_subnormal", referee_us_subnormal);
        visit("referee_limit_us", kVerdictLimitUs);
        visit("met", met());
    }
};

struct ShapeOptions {
    int runs = 100;      ///< verdicts for each median
    bool small = false;  ///< a quarter of the width, a tenth of the vocabulary: for tests
    std::string only;    ///< kinds whose name contains this; empty: all
};

/// Width 4,096, vocabulary 50,257, four sequences of 2,048 tokens, segments of 128 steps, merges of 256
/// slots, GPT-2 and Llama. Operands are made tile by tile; no whole tensor is in memory. Rows are in the
/// order of the operator table, then the others; f32 before i16. `note` gets progress messages.
std::vector<DisputeShape> dispute_shapes(const ShapeOptions& options,
                                         const std::function<void(const std::string&)>& note);

}  // namespace assay::node
