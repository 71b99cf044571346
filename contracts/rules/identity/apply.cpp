// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/identity/money.hpp"
#include "contracts/rules/identity/phases.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

void carry_out(Work& work, const Sent& sent, const Transfer& tx) {
    charge_balance(work.state, sent.owner, tx.amount, &Supply::balances);
    pay_balance(work.state, tx.to, tx.amount, &Supply::balances);
    work.tell({.kind = EventKind::kTransfer, .node = sent.owner, .amount = tx.amount});
}

void carry_out(Work& work, const Sent& sent, const NodeRegister& tx) {
    NodeKey record;
    record.owner = sent.owner;
    store(work.state, node_key(tx.node), record);
    work.tell({.kind = EventKind::kRegistered, .node = tx.node});
}

void carry_out(Work& work, const Sent&, const NodeRevoke& tx) {
    NodeKey record = *read_node_key(work.state, tx.node);
    record.revoked = true;
    store(work.state, node_key(tx.node), record);
}

void carry_out(Work& work, const Sent& sent, const MinerRegister& tx) {
    Miner miner;
    miner.owner = sent.owner;
    miner.endpoint = tx.endpoint;
    miner.registered_at = work.block.height;
    miner.prepaid = read_current_params(work.state).miner_fee;
    charge_balance(work.state, sent.owner, miner.prepaid, &Supply::prepaid);
    store(work.state, miner_key(tx.node), miner);
    work.tell({.kind = EventKind::kRegistered, .node = tx.node});
}

void carry_out(Work& work, const Sent& sent, const VerifierRegister& tx) {
    Verifier verifier;
    verifier.owner = sent.owner;
    verifier.endpoint = tx.endpoint;
    verifier.registered_at = work.block.height;
    charge_balance(work.state, sent.owner, read_current_params(work.state).verifier_fee, &Supply::treasury);
    store(work.state, verifier_key(tx.node), verifier);
    work.tell({.kind = EventKind::kRegistered, .node = tx.node});
}

void carry_out(Work& work, const Sent& sent, const StakeDeposit& tx) {
    charge_balance(work.state, sent.owner, tx.amount, &Supply::balances);
    give_free(work.state, tx.node, tx.amount, &Supply::balances);
}

void carry_out(Work& work, const Sent& sent, const StakeWithdraw& tx) {
    take_free(work.state, tx.node, tx.amount, &Supply::unbonding);
    Meta meta = read_meta(work.state);
    const Unbonding unbonding{sent.owner, tx.node, tx.amount};
    const std::uint64_t release = later(work.block.height, read_current_params(work.state).unbonding_delay);
    store(work.state, unbonding_key(release, meta.unbondings++), unbonding);
    store(work.state, meta_key(), meta);
}

void carry_out(Work& work, const Sent& sent, const TeamGrant& tx) {
    // It signs as an owner, whose nonce is its account's.
    if (!work.state.get(account_key(tx.member))) store(work.state, account_key(tx.member), Account{});
    TeamMember member = read_team_member(work.state, sent.owner, tx.member).value_or(TeamMember{});
    member.caps = tx.caps;
    member.revoked = false;
    store(work.state, team_member_key(sent.owner, tx.member), member);
    work.tell({.kind = EventKind::kTeamChanged, .node = tx.member, .amount = tx.caps.total});
}

void carry_out(Work& work, const Sent& sent, const TeamRevoke& tx) {
    TeamMember member = required(read_team_member(work.state, sent.owner, tx.member));
    member.revoked = true;
    store(work.state, team_member_key(sent.owner, tx.member), member);
    work.tell({.kind = EventKind::kTeamChanged, .node = tx.member});
}

}  // namespace assay::contracts
