// SPDX-License-Identifier: Apache-2.0
#include "node/sim/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace assay::node::sim {

Interval wilson(std::uint64_t hits, std::uint64_t trials) {
    if (trials == 0) return {};
    constexpr double kZ = 1.959963984540054;
    const double n = static_cast<double>(trials);
    const double p = static_cast<double>(hits) / n;
    const double z2 = kZ * kZ;
    const double middle = (p + z2 / (2 * n)) / (1 + z2 / n);
    const double half = kZ * std::sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n);
    // At its ends the interval is exact, whatever was rounded.
    return {hits == 0 ? 0.0 : std::max(0.0, middle - half),
            hits == trials ? 1.0 : std::min(1.0, middle + half)};
}

}  // namespace assay::node::sim
