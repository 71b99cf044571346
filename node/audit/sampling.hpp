// SPDX-License-Identifier: Apache-2.0
// Gives an audit by sample its draws, and what they bought: which items come next, and the chance that a
// forger who did not know them would have been met. Pure: the same randomness gives the same draw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contracts/base/hash.hpp"
#include "contracts/base/wide.hpp"

namespace assay::node {

/// Numbers that follow from 32 bytes: number k is the first eight bytes, little-endian, of
/// H("assay/audit/draw", randomness ‖ label ‖ u64 k).
class DrawStream {
public:
    DrawStream(const base::Hash256& randomness, std::string_view label);
    /// Uniform below `bound` by 128-bit multiply-shift: off by less than bound / 2^64. REQUIRES bound > 0.
    std::uint64_t below(std::uint64_t bound);

private:
    base::Hash256 randomness_;
    std::string label_;
    std::uint64_t next_ = 0;
};

/// Items drawn one after another without replacement, each time in proportion to the weights that are left.
class WeightedDraw {
public:
    /// REQUIRES weights whose sum fits 64 bits. An item of weight 0 is never drawn.
    WeightedDraw(std::vector<std::uint64_t> weights, DrawStream stream);
    /// Nothing when all are drawn.
    std::optional<std::size_t> next();

private:
    std::vector<std::uint64_t> weights_;
    std::vector<std::uint64_t> sums_;  ///< a Fenwick tree over what is left
    std::uint64_t left_ = 0;
    DrawStream stream_;
};

/// The same with equal weights, of so many items that nobody wants to list them (Fisher-Yates, of which only
/// the places that changed are kept).
class EvenDraw {
public:
    EvenDraw(std::uint64_t count, DrawStream stream);
    std::optional<std::uint64_t> next();

private:
    std::uint64_t count_;
    std::uint64_t drawn_ = 0;
    std::map<std::uint64_t, std::uint64_t> moved_;
    DrawStream stream_;
};

inline constexpr std::uint32_t kWholeShare = 1'000'000;  ///< shares are parts of a million

/// What is drawn from, for the chances that follow. A forger chooses items with at least a share of the whole
/// weight before the draw is known. Where weights differ, the figures are bounds from below over all such
/// choices; where they are equal, they are exact (hypergeometric). In double: they are shown, not agreed on.
class Population {
public:
    explicit Population(std::vector<std::uint64_t> weights);
    static Population even(std::uint64_t count);

    [[nodiscard]] std::uint64_t count() const { return count_; }
    /// The chance that `draws` items meet one of the forged.
    [[nodiscard]] double chance_of_share(std::uint64_t draws, std::uint32_t parts_per_million) const;
    /// The same of a single forged item, the lightest: draws / count() where weights are equal.
    [[nodiscard]] double chance_of_one(std::uint64_t draws) const;
    /// The fewest draws with at least such a chance. Never more than count(), which meets everything.
    [[nodiscard]] std::uint64_t draws_for(double chance, std::uint32_t parts_per_million) const;

private:
    Population() = default;
    [[nodiscard]] std::uint64_t lightest(std::uint64_t items) const;  ///< weight of the lightest so many
    [[nodiscard]] std::uint64_t forged_weight(std::uint32_t parts_per_million) const;
    [[nodiscard]] double chance(std::uint64_t draws, std::uint64_t forged) const;

    std::uint64_t count_ = 0;
    std::uint64_t total_ = 0;
    std::uint64_t divisor_ = 1;        ///< of all weights, the greatest
    std::uint64_t least_ = 0;          ///< the lightest item's
    std::vector<std::uint64_t> sums_;  ///< of the lightest items; empty: all weigh 1
};

}  // namespace assay::node
