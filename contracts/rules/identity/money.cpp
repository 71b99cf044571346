// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/identity/money.hpp"

#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

void pay_balance(State& state, const PublicKey& owner, Amount amount, Bucket from) {
    if (amount.is_zero()) return;
    Account account = read_account(state, owner);
    account.balance = sum(account.balance, amount);
    store(state, account_key(owner), account);
    move_total(state, from, &Supply::balances, amount);
}

void charge_balance(State& state, const PublicKey& owner, Amount amount, Bucket to) {
    if (amount.is_zero()) return;
    Account account = read_account(state, owner);
    account.balance = difference(account.balance, amount);
    store(state, account_key(owner), account);
    move_total(state, &Supply::balances, to, amount);
}

namespace {

template <class Change>
void change_stake(State& state, const PublicKey& node, Change change) {
    Stake stake = read_stake(state, node);
    change(stake);
    store(state, stake_key(node), stake);
}

}  // namespace

void lock_stake(State& state, const PublicKey& node, Amount amount) {
    change_stake(state, node, [&](Stake& stake) {
        stake.free = difference(stake.free, amount);
        stake.bonded = sum(stake.bonded, amount);
    });
    move_total(state, &Supply::stake, &Supply::bonds, amount);
}

void unlock_stake(State& state, const PublicKey& node, Amount amount) {
    change_stake(state, node, [&](Stake& stake) {
        stake.bonded = difference(stake.bonded, amount);
        stake.free = sum(stake.free, amount);
    });
    move_total(state, &Supply::bonds, &Supply::stake, amount);
}

void take_bonded(State& state, const PublicKey& node, Amount amount, Bucket to) {
    change_stake(state, node, [&](Stake& stake) { stake.bonded = difference(stake.bonded, amount); });
    move_total(state, &Supply::bonds, to, amount);
}

void take_free(State& state, const PublicKey& node, Amount amount, Bucket to) {
    change_stake(state, node, [&](Stake& stake) { stake.free = difference(stake.free, amount); });
    move_total(state, &Supply::stake, to, amount);
}

void give_free(State& state, const PublicKey& node, Amount amount, Bucket from) {
    change_stake(state, node, [&](Stake& stake) { stake.free = sum(stake.free, amount); });
    move_total(state, from, &Supply::stake, amount);
}

}  // namespace assay::contracts
