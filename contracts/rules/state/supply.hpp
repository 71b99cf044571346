// SPDX-License-Identifier: Apache-2.0
// The totals of where the money is, for rules and views, and the arithmetic on amounts that the rules may
// use. Checks have passed before, so a missing amount is our bug. Internal to the rules, except Supply.
#pragma once

#include <concepts>
#include <limits>
#include <type_traits>

#include "contracts/base/amount.hpp"
#include "contracts/base/codec.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::contracts {

using base::Amount;

/// Running totals of where the money is. Invariant after every transaction and after every beginning of a
/// block: balances + escrow + stake + bonds + unbonding + deposits + prepaid + treasury + burned = minted.
struct Supply {
    Amount minted;
    Amount balances;
    Amount escrow;  ///< of all jobs, and held for open claims
    Amount stake;   ///< free stake
    Amount bonds;   ///< bonded stake
    Amount unbonding;
    Amount deposits;  ///< of sealed asks, lots and bids, and behind classes of lots
    Amount prepaid;   ///< miners' fees not yet used
    Amount treasury;
    Amount burned;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.minted, self.balances, self.escrow, self.stake, self.bonds, self.unbonding, self.deposits,
              self.prepaid, self.treasury, self.burned);
    }
    friend bool operator==(const Supply&, const Supply&) = default;
};

/// Sum and difference. REQUIRES a representable result, which earlier checks ensure.
Amount sum(Amount first, Amount second);
Amount difference(Amount first, Amount second);
Amount smaller(Amount first, Amount second);

/// Only for lifetime statistics (all that was ever earned, units ever audited), never for money: the sum
/// stops at the largest amount or number instead of ending the ledger.
Amount saturating_sum(Amount first, Amount second);
template <std::unsigned_integral T>
T saturating_sum(T first, std::type_identity_t<T> second) {
    return second > std::numeric_limits<T>::max() - first ? std::numeric_limits<T>::max()
                                                          : static_cast<T>(first + second);
}

using Bucket = Amount Supply::*;
/// Moves `amount` in the running totals only; the caller changes the records.
void move_total(State& state, Bucket from, Bucket to, Amount amount);

}  // namespace assay::contracts
