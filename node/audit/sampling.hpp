// SPDX-License-Identifier: Apache-2.0
// Gives an audit by sample its draws and their value: which items come next, and the chance that they hit a
// forged item of a forger who did not know them. Pure: the same randomness gives the same draws.
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

/// Draws items one after another without replacement, each time in proportion to the weights that are left.
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

/// The same with equal weights, for numbers of items that are too large to list (Fisher-Yates, which here
/// stores only the places that changed).
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

inline constexpr std::uint32_t kWholeShare = 1'000'000;  ///< shares are in parts per million

/// The items from which an audit draws, and the chances of a hit. A forger chooses items with at least a
/// given share of the whole weight, before the draw is known. With equal weights the chances are exact
/// (hypergeometric); with different weights they are lower bounds over all such choices. They are doubles,
/// because they are only shown and no rule depends on them.
class Population {
public:
    explicit Population(std::vector<std::uint64_t> weights);
    static Population even(std::uint64_t count);

    [[nodiscard]] std::uint64_t count() const { return count_; }
    /// The chance that `draws` items include a forged one.
    [[nodiscard]] double chance_of_share(std::uint64_t draws, std::uint32_t parts_per_million) const;
    /// The same for a single forged item, the lightest: draws / count() when weights are equal.
    [[nodiscard]] double chance_of_one(std::uint64_t draws) const;
    /// The fewest draws with at least this chance. At most count(), which includes everything.
    [[nodiscard]] std::uint64_t draws_for(double chance, std::uint32_t parts_per_million) const;

private:
    Population() = default;
    [[nodiscard]] std::uint64_t lightest(std::uint64_t items) const;  ///< weight of the `items` lightest
                                                                      ///< items
    [[nodiscard]] std::uint64_t forged_weight(std::uint32_t parts_per_million) const;
    [[nodiscard]] double chance(std::uint64_t draws, std::uint64_t forged) const;

    std::uint64_t count_ = 0;
    std::uint64_t total_ = 0;
    std::uint64_t divisor_ = 1;        ///< greatest common divisor of all weights
    std::uint64_t least_ = 0;          ///< the lightest item's
    std::vector<std::uint64_t> sums_;  ///< sums of the lightest items' weights; empty: all weigh 1
};

}  // namespace assay::node
