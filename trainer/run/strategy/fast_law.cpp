// SPDX-License-Identifier: Apache-2.0
#include "trainer/run/strategy/fast_law.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <vector>

#include "trainer/run/strategy/diloco.hpp"

namespace assay::trainer {

namespace {
// Numbers are computed each by itself: any cut of the arrays gives the same bits.
constexpr std::uint64_t kShare = 4096;  // of a thread, at least

using FastMerge = bool (*)(Device&, const program::RoundSettings&, std::span<const program::Contribution>,
                           std::span<float>, std::span<float>);
struct FastRow {
    program::Strategy number;
    FastMerge merge;
};
constexpr std::array kFastRows = {FastRow{program::Strategy::kDiloco, merge_diloco},
                                  FastRow{program::Strategy::kDilocoHalf, merge_diloco}};

bool all_finite(std::span<const float> values) {
    return std::all_of(values.begin(), values.end(), [](float one) { return std::isfinite(one); });
}
}  // namespace

FastLaw::FastLaw(const program::StrategyRow& row, const program::RoundSettings& settings, Device& device)
    : row_(row), settings_(settings), device_(device) {}

bool FastLaw::finalise(std::span<const float> start, std::span<const float> end,
                       std::span<std::int64_t> update) const {
    std::atomic<bool> in_range = true;
    device_.share(update.size(), kShare, [&](std::size_t first, std::size_t last) {
        const std::size_t count = last - first;
        if (!row_.codec->finalise(settings_, start.subspan(first, count), end.subspan(first, count),
                                  update.subspan(first, count))) {
            in_range = false;
        }
    });
    return in_range;
}

bool FastLaw::merge(std::span<const program::Contribution> contributions, std::span<float> parameters,
                    std::span<float> outer_momentum) const {
    const auto* const fast = std::find_if(kFastRows.begin(), kFastRows.end(),
                                          [&](const FastRow& one) { return one.number == row_.number; });
    if (fast != kFastRows.end()) {
        return fast->merge(device_, settings_, contributions, parameters, outer_momentum);
    }
    row_.merge(settings_, contributions, parameters, outer_momentum);
    return all_finite(parameters) && all_finite(outer_momentum);
}

}  // namespace assay::trainer
