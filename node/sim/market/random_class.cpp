// SPDX-License-Identifier: Apache-2.0
#include "node/sim/market/random_class.hpp"

#include <algorithm>
#include <random>

namespace assay::node::sim {

namespace {

using contracts::Amount;

/// Numbers of its own words, since the distributions of the standard differ between libraries.
class LotDraws {
public:
    explicit LotDraws(std::uint64_t seed) : words_(seed) {}
    std::uint64_t between(std::uint64_t low, std::uint64_t high) { return low + words_() % (high - low + 1); }

private:
    std::mt19937_64 words_;
};

std::uint64_t gang(LotDraws& draws) {
    std::uint64_t lots = 1;
    while (lots < 16 && draws.between(0, 1) == 0) lots *= 2;
    return lots;
}

std::uint64_t bid_price(LotDraws& draws, MarketFamily family) {
    if (family != MarketFamily::kHeavy) return draws.between(500, 3500);
    // Density falls with the square of the price, as far as a hundred times the least.
    return 500 * 1'000'000 / draws.between(10'000, 1'000'000);
}

template <class Name>
void set_name(Name& name, std::uint64_t number) {
    for (std::size_t i = 0; i < sizeof number; ++i)
        name.bytes[i] = static_cast<std::uint8_t>(number >> (8 * i));
}

}  // namespace

std::string_view to_text(MarketFamily family) {
    switch (family) {
        case MarketFamily::kOneLot: return "one lot";
        case MarketFamily::kGangs: return "gangs";
        case MarketFamily::kHeavy: return "heavy";
        case MarketFamily::kFloor: return "floor";
    }
    return "";
}

contracts::ClassMarket random_class(MarketFamily family, ClassSize size, std::uint64_t seed) {
    LotDraws draws(seed);
    contracts::ClassMarket market;
    set_name(market.seed, seed);
    if (family == MarketFamily::kFloor) market.base_price = base::units(2000);
    const std::uint64_t lots_per_bid =
        std::max<std::uint64_t>(1, size.asks / std::max<std::size_t>(1, size.bids));
    for (std::size_t i = 0; i < size.bids; ++i) {
        contracts::ClassBid bid;
        set_name(bid.job, i + 1);
        if (family != MarketFamily::kOneLot)
            bid.lots = static_cast<std::uint32_t>(gang(draws) * lots_per_bid);
        if (family == MarketFamily::kHeavy && draws.between(0, 9) == 0)
            bid.lots = static_cast<std::uint32_t>(draws.between(1, size.asks / 4 + 1));
        bid.price = Amount::of(bid_price(draws, family)).value();
        market.bids.push_back(bid);
    }
    for (std::size_t i = 0; i < size.asks; ++i) {
        contracts::ClassAsk ask;
        set_name(ask.node, i + 1);
        ask.price = Amount::of(draws.between(500, 2500)).value();
        market.asks.push_back(ask);
    }
    return market;
}

}  // namespace assay::node::sim
