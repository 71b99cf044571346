// SPDX-License-Identifier: Apache-2.0
// Gives the payout audit what a work unit cost in each slot of a round, and the judgement of it: by the
// clearing price of a job's own auction, or, in a job that leases, by what was dealt. Internal to the audit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "contracts/rules/tables.hpp"

namespace assay::ledger {

/// As the records say, in base units. A slot that they do not know costs nothing.
struct PricesFound {
    contracts::Amount round;               ///< of fees, penalties and games
    std::vector<contracts::Amount> slots;  ///< of pay and bond
    [[nodiscard]] contracts::Amount of(std::uint32_t slot) const {
        return slot < slots.size() ? slots[slot] : contracts::Amount{};
    }
};
PricesFound find_prices(const contracts::StateView& state, const contracts::Job& job, std::uint32_t round);

/// Each miner has one price in a round, that of its lease where the state still has it, and none is above the
/// job's cap. What does not check, one sentence each that begins with the name of the rule.
std::vector<std::string> audit_prices(const contracts::StateView& state, const contracts::Job& job,
                                      const contracts::Round& round);

}  // namespace assay::ledger
