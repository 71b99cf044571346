// SPDX-License-Identifier: Apache-2.0
// Gives commands, pages and metrics the size of a network and where its money is.
#pragma once

#include <cstdint>

#include "contracts/rules/tables.hpp"

namespace assay::node {

/// All money of a ledger by where it is (contracts::Supply); `delta` is 0 unless some was made or lost.
struct SupplyView {
    contracts::Supply supply;
    std::int64_t delta = 0;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("minted", supply.minted);
        visit("balances", supply.balances);
        visit("escrow", supply.escrow);
        visit("stake", supply.stake);
        visit("bonds", supply.bonds);
        visit("unbonding", supply.unbonding);
        visit("deposits", supply.deposits);
        visit("prepaid", supply.prepaid);
        visit("treasury", supply.treasury);
        visit("burned", supply.burned);
        visit("supply_delta", delta);
    }
};

struct NetworkView {
    std::uint64_t miners = 0, verifiers = 0;
    std::uint64_t jobs = 0;         ///< submitted so far
    std::uint64_t jobs_active = 0;  ///< not ended
    SupplyView money;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("miners", miners);
        visit("verifiers", verifiers);
        visit("jobs", jobs);
        visit("jobs_active", jobs_active);
        visit("money", money);
    }
};

NetworkView network_view(const contracts::StateView& state);

}  // namespace assay::node
