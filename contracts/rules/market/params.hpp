// SPDX-License-Identifier: Apache-2.0
// The parameters of the market between jobs, for rules, genesis and documentation. They belong to no job and
// have a record of their own (decision 86).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contracts/base/amount.hpp"
#include "contracts/base/codec.hpp"

namespace assay::contracts {

using base::Amount;

/// Windows in heights. An epoch keeps the windows that were current when it began.
struct MarketParams {
    std::uint64_t epoch = 3'600;
    std::uint64_t seal_window = 300;
    std::uint64_t open_window = 300;
    Amount lot_deposit = base::units(100'000);    ///< held from a node's free stake with a sealed lot
    Amount bid_deposit = base::units(1'000'000);  ///< held from a job's escrow with a sealed bid
    Amount least_base_price = base::units(1);     ///< per work unit, of every class
    std::uint32_t history_epochs = 24;            ///< epochs whose clearings are kept
    friend bool operator==(const MarketParams&, const MarketParams&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.epoch, self.seal_window, self.open_window, self.lot_deposit, self.bid_deposit,
              self.least_base_price, self.history_epochs);
    }
};

/// One row per parameter, as ParamRange of state/params.hpp.
struct MarketParamRange {
    std::string_view name;
    std::string_view meaning;  ///< for docs/reference/parameters.md
    std::uint64_t minimum;
    std::uint64_t maximum;  ///< included
    std::uint64_t (*get)(const MarketParams&);
    void (*set)(MarketParams&, std::uint64_t);  ///< REQUIRES a value inside the range
};
const std::vector<MarketParamRange>& market_param_ranges();

/// The name of the first parameter outside its range, or of an impossible combination; nothing when all is
/// well.
std::optional<std::string> check_market_params(const MarketParams& params);

}  // namespace assay::contracts
