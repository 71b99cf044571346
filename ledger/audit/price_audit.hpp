// SPDX-License-Identifier: Apache-2.0
// The price of a work unit in each slot of a round, and its check, for the payout audit: by the clearing
// price of a job's own auction, or in a job that leases by what was dealt. Internal to the audit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "contracts/rules/tables.hpp"

namespace assay::ledger {

/// The prices in the records, in base units. A slot that is not in them costs nothing.
struct PricesFound {
    contracts::Amount round;               ///< for fees, penalties and games
    std::vector<contracts::Amount> slots;  ///< for pay and bond
    [[nodiscard]] contracts::Amount of(std::uint32_t slot) const {
        return slot < slots.size() ? slots[slot] : contracts::Amount{};
    }
};
PricesFound find_prices(const contracts::StateView& state, const contracts::Job& job, std::uint32_t round);

/// Checks that each miner has one price in a round, that of its lease if the state still has it, and that
/// none is above the job's cap. Returns one sentence for each failure; it begins with the name of the rule.
std::vector<std::string> audit_prices(const contracts::StateView& state, const contracts::Job& job,
                                      const contracts::Round& round);

}  // namespace assay::ledger
