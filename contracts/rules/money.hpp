// SPDX-License-Identifier: Apache-2.0
// Every movement of money: one function per movement, each of which changes the record that holds the money
// and the running totals. Checks have passed before: an amount that is not there is a bug of ours. Internal.
#pragma once

#include <concepts>
#include <limits>
#include <type_traits>

#include "contracts/rules/store.hpp"

namespace assay::contracts {

/// Sum and difference that earlier checks have made certain.
Amount sum(Amount first, Amount second);
Amount difference(Amount first, Amount second);
Amount smaller(Amount first, Amount second);

/// For statistics of a lifetime (all that was ever earned, units ever audited), and never for money: stops at
/// the largest amount or number instead of ending the ledger.
Amount saturating_sum(Amount first, Amount second);
template <std::unsigned_integral T>
T saturating_sum(T first, std::type_identity_t<T> second) {
    return second > std::numeric_limits<T>::max() - first ? std::numeric_limits<T>::max()
                                                          : static_cast<T>(first + second);
}

using Bucket = Amount Supply::*;
/// The running totals alone; the caller moves the records.
void move_total(State& state, Bucket from, Bucket to, Amount amount);

/// From `from`'s record, which the caller reduces, to an account's balance.
void pay_balance(State& state, const PublicKey& owner, Amount amount, Bucket from);
/// From an account's balance to `to`'s record, which the caller increases.
void charge_balance(State& state, const PublicKey& owner, Amount amount, Bucket to);

void lock_stake(State& state, const PublicKey& node, Amount amount);    ///< free -> bonded
void unlock_stake(State& state, const PublicKey& node, Amount amount);  ///< bonded -> free
/// bonded -> `to`, whose record the caller increases.
void take_bonded(State& state, const PublicKey& node, Amount amount, Bucket to);
/// Free stake -> `to`, and back.
void take_free(State& state, const PublicKey& node, Amount amount, Bucket to);
void give_free(State& state, const PublicKey& node, Amount amount, Bucket from);

}  // namespace assay::contracts
