// SPDX-License-Identifier: Apache-2.0
#include "node/audit/sampling.hpp"

#include <algorithm>
#include <numeric>

#include "contracts/base/check.hpp"
#include "contracts/base/codec.hpp"

namespace assay::node {

using base::Uint128;

DrawStream::DrawStream(const base::Hash256& randomness, std::string_view label)
    : randomness_(randomness), label_(label) {}

std::uint64_t DrawStream::below(std::uint64_t bound) {
    ASSAY_CHECK(bound > 0);
    base::Encoder encoder;
    encoder(randomness_, label_, next_++);
    const base::Hash256 drawn = base::hash("assay/audit/draw", std::move(encoder).take());
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < 8; ++i) number |= std::uint64_t{drawn.bytes[i]} << (8 * i);
    return static_cast<std::uint64_t>((Uint128{number} * bound) >> 64U);
}

WeightedDraw::WeightedDraw(std::vector<std::uint64_t> weights, DrawStream stream)
    : weights_(std::move(weights)), sums_(weights_.size() + 1, 0), stream_(std::move(stream)) {
    for (std::size_t i = 0; i < weights_.size(); ++i) {
        left_ += weights_[i];
        ASSAY_CHECK(left_ >= weights_[i]);
        for (std::size_t node = i + 1; node < sums_.size(); node += node & (~node + 1))
            sums_[node] += weights_[i];
    }
}

std::optional<std::size_t> WeightedDraw::next() {
    if (left_ == 0) return std::nullopt;
    std::uint64_t rest = stream_.below(left_);
    std::size_t at = 0;
    std::size_t step = 1;
    while (step * 2 < sums_.size()) step *= 2;
    for (; step > 0; step /= 2) {
        if (at + step >= sums_.size() || sums_[at + step] > rest) continue;
        at += step;
        rest -= sums_[at];
    }
    const std::uint64_t weight = std::exchange(weights_[at], 0);
    left_ -= weight;
    for (std::size_t node = at + 1; node < sums_.size(); node += node & (~node + 1)) sums_[node] -= weight;
    return at;
}

EvenDraw::EvenDraw(std::uint64_t count, DrawStream stream) : count_(count), stream_(std::move(stream)) {}

std::optional<std::uint64_t> EvenDraw::next() {
    if (drawn_ == count_) return std::nullopt;
    const auto at = [&](std::uint64_t place) {
        const auto found = moved_.find(place);
        return found == moved_.end() ? place : found->second;
    };
    const std::uint64_t place = drawn_ + stream_.below(count_ - drawn_);
    const std::uint64_t item = at(place);
    // What stood first stands now where the drawn one was; nobody looks at the first place again.
    moved_[place] = at(drawn_);
    moved_.erase(drawn_);
    ++drawn_;
    return item;
}

Population::Population(std::vector<std::uint64_t> weights) : count_(weights.size()) {
    std::sort(weights.begin(), weights.end());
    ASSAY_CHECK(weights.empty() || weights.front() > 0);
    divisor_ = std::accumulate(weights.begin(), weights.end(), std::uint64_t{0},
                               [](std::uint64_t a, std::uint64_t b) { return std::gcd(a, b); });
    least_ = weights.empty() ? 0 : weights.front();
    sums_.push_back(0);
    for (const std::uint64_t weight : weights) sums_.push_back(sums_.back() + weight);
    total_ = sums_.back();
}

Population Population::even(std::uint64_t count) {
    Population items;
    items.count_ = items.total_ = count;
    items.least_ = count > 0 ? 1 : 0;
    return items;
}

std::uint64_t Population::lightest(std::uint64_t items) const { return sums_.empty() ? items : sums_[items]; }

// The least weight that a set with such a share can have.
std::uint64_t Population::forged_weight(std::uint32_t parts_per_million) const {
    const Uint128 parts = Uint128{total_} * parts_per_million;
    const Uint128 unit = Uint128{divisor_} * kWholeShare;
    const auto weight = static_cast<std::uint64_t>((parts + unit - 1) / unit * divisor_);
    return std::min(std::max(weight, least_), total_);
}

// Drawing i items of the others leaves at most the whole without the i lightest; the less is left, the
// likelier the next draw meets a forged one.
double Population::chance(std::uint64_t draws, std::uint64_t forged) const {
    double missed = 1.0;
    for (std::uint64_t i = 0; i < std::min(draws, count_) && missed > 0; ++i) {
        const std::uint64_t left = total_ - lightest(i);
        missed =
            left <= forged ? 0.0 : missed * (static_cast<double>(left - forged) / static_cast<double>(left));
    }
    // Whoever draws everything meets everything, whatever the weights.
    return draws >= count_ && count_ > 0 ? 1.0 : 1.0 - missed;
}

double Population::chance_of_share(std::uint64_t draws, std::uint32_t parts_per_million) const {
    return chance(draws, forged_weight(parts_per_million));
}

double Population::chance_of_one(std::uint64_t draws) const { return chance(draws, least_); }

std::uint64_t Population::draws_for(double wanted, std::uint32_t parts_per_million) const {
    const std::uint64_t forged = forged_weight(parts_per_million);
    double missed = 1.0;
    std::uint64_t draws = 0;
    for (; draws < count_ && 1.0 - missed < wanted; ++draws) {
        const std::uint64_t left = total_ - lightest(draws);
        if (left <= forged) return draws + 1;
        missed *= static_cast<double>(left - forged) / static_cast<double>(left);
    }
    return draws;
}

}  // namespace assay::node
