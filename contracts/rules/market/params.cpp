// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/market/params.hpp"

namespace assay::contracts {

namespace {

constexpr std::uint64_t kHeightsMax = 10'000'000;
constexpr std::uint64_t kDepositMax = 1'000'000'000'000'000ULL;

std::uint64_t plain(std::uint64_t value) { return value; }
std::uint64_t plain(Amount value) { return value.units(); }
void assign(std::uint64_t& field, std::uint64_t value) { field = value; }
void assign(std::uint32_t& field, std::uint64_t value) { field = static_cast<std::uint32_t>(value); }
void assign(Amount& field, std::uint64_t value) { field = *Amount::of(value); }

template <auto kMember>
MarketParamRange range(std::string_view name, std::uint64_t minimum, std::uint64_t maximum,
                       std::string_view meaning) {
    return {name,
            meaning,
            minimum,
            maximum,
            [](const MarketParams& params) { return plain(params.*kMember); },
            [](MarketParams& params, std::uint64_t value) { assign(params.*kMember, value); }};
}

std::vector<MarketParamRange> make_ranges() {
    using P = MarketParams;
    return {
        range<&P::epoch>("epoch", 3, kHeightsMax,
                         "how long a lease holds; what both windows leave of it is the notice"),
        range<&P::seal_window>("seal_window", 1, kHeightsMax,
                               "from an epoch's beginning: sealing lots and bids of the next one"),
        range<&P::open_window>("open_window", 1, kHeightsMax, "opening them"),
        range<&P::lot_deposit>(
            "lot_deposit", 0, kDepositMax,
            "held from free stake until a sealed lot is opened, else burned; of a node whose speed is not "
            "measured until its lease ends, and burned where it is slower than its class by two bits"),
        range<&P::bid_deposit>("bid_deposit", 0, kDepositMax,
                               "held from the job's escrow until a sealed bid is opened, else burned"),
        range<&P::least_base_price>("least_base_price", 1, kDepositMax,
                                    "per work unit: no base price falls below it"),
        range<&P::history_epochs>("history_epochs", 2, 10'000,
                                  "whose clearings the state keeps of each class"),
    };
}

}  // namespace

const std::vector<MarketParamRange>& market_param_ranges() {
    static const std::vector<MarketParamRange> ranges = make_ranges();
    return ranges;
}

std::optional<std::string> check_market_params(const MarketParams& params) {
    for (const MarketParamRange& range : market_param_ranges()) {
        const std::uint64_t value = range.get(params);
        if (value < range.minimum || value > range.maximum) return std::string(range.name);
    }
    if (params.seal_window + params.open_window >= params.epoch) return "epoch not above both windows";
    return std::nullopt;
}

}  // namespace assay::contracts
