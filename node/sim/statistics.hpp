// SPDX-License-Identifier: Apache-2.0
// Gives the simulator's report its confidence interval.
#pragma once

#include <cstdint>

namespace assay::node::sim {

struct Interval {
    double low = 0;
    double high = 1;
};

/// The 95 % Wilson score interval of a rate, from `hits` in `trials`; [0, 1] without trials.
Interval wilson(std::uint64_t hits, std::uint64_t trials);

}  // namespace assay::node::sim
