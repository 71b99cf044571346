// SPDX-License-Identifier: Apache-2.0
// Gives predictions Interval80, a plan's estimate of a number that it cannot know: the outcome lies between
// `low` and `high` with a probability of 80 %, below with 10 % and above with 10 %.
#pragma once

#include <vector>

namespace assay::node {

struct Interval80 {
    double low = 0;     ///< 10 % quantile
    double median = 0;  ///< 50 %
    double high = 0;    ///< 90 %

    [[nodiscard]] bool holds(double outcome) const { return low <= outcome && outcome <= high; }

    template <class Visit>
    void fields(Visit& visit) const {
        visit("low", low);
        visit("median", median);
        visit("high", high);
    }
};

/// Linear interpolation between order statistics. `share` from 0 to 1. REQUIRES values that are not empty.
double quantile(std::vector<double> values, double share);
/// REQUIRES values that are not empty.
Interval80 interval_of(std::vector<double> values);

}  // namespace assay::node
