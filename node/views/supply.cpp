// SPDX-License-Identifier: Apache-2.0
#include "node/views/supply.hpp"

namespace assay::node {

std::int64_t supply_delta(const contracts::Supply& supply) {
    std::uint64_t total = 0;
    for (const base::Amount part :
         {supply.balances, supply.escrow, supply.stake, supply.bonds, supply.unbonding, supply.deposits,
          supply.prepaid, supply.treasury, supply.burned}) {
        total += part.units();
    }
    return static_cast<std::int64_t>(supply.minted.units()) - static_cast<std::int64_t>(total);
}

}  // namespace assay::node
