// SPDX-License-Identifier: Apache-2.0
#include "node/plan/interval.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "contracts/base/check.hpp"

namespace assay::node {

namespace {

double sorted_quantile(const std::vector<double>& sorted, double share) {
    const double place = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(std::floor(place));
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return std::lerp(sorted[below], sorted[above], place - std::floor(place));
}

}  // namespace

double quantile(std::vector<double> values, double share) {
    ASSAY_CHECK(!values.empty());
    std::ranges::sort(values);
    return sorted_quantile(values, share);
}

Interval80 interval_of(std::vector<double> values) {
    ASSAY_CHECK(!values.empty());
    std::ranges::sort(values);
    return {sorted_quantile(values, 0.1), sorted_quantile(values, 0.5), sorted_quantile(values, 0.9)};
}

}  // namespace assay::node
