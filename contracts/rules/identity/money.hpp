// SPDX-License-Identifier: Apache-2.0
// The movements of balances and stake, for the rules. Each function changes the record that holds the money
// and the running totals. Checks have passed before, so a missing amount is our bug. Internal to the rules.
#pragma once

#include "contracts/rules/identity/tables.hpp"
#include "contracts/rules/state/supply.hpp"

namespace assay::contracts {

/// Moves `amount` from `from`'s record, which the caller reduces, to an account's balance.
void pay_balance(State& state, const PublicKey& owner, Amount amount, Bucket from);
/// Moves `amount` from an account's balance to `to`'s record, which the caller increases.
void charge_balance(State& state, const PublicKey& owner, Amount amount, Bucket to);

void lock_stake(State& state, const PublicKey& node, Amount amount);    ///< free -> bonded
void unlock_stake(State& state, const PublicKey& node, Amount amount);  ///< bonded -> free
/// bonded -> `to`, whose record the caller increases.
void take_bonded(State& state, const PublicKey& node, Amount amount, Bucket to);
/// Free stake -> `to`, and back.
void take_free(State& state, const PublicKey& node, Amount amount, Bucket to);
void give_free(State& state, const PublicKey& node, Amount amount, Bucket from);

}  // namespace assay::contracts
