// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/identity/phases.hpp"
#include "contracts/rules/identity/tables.hpp"
#include "contracts/rules/state/tables.hpp"

namespace assay::contracts {

namespace {

Checked covers(Amount available, Amount wanted, Reason otherwise) {
    return available >= wanted ? Checked{} : failed(otherwise);
}

Checked balance_covers(const Case& c, Amount wanted) {
    return covers(read_account(c.state, c.owner).balance, wanted, Reason::kInsufficientBalance);
}

}  // namespace

Checked check_own_node(const StateView& state, const PublicKey& owner, const PublicKey& node) {
    const auto record = read_node_key(state, node);
    if (!record || record->owner != owner) return failed(Reason::kNotYours);
    if (record->revoked) return failed(Reason::kKeyRevoked);
    return {};
}

Checked check(const Case& c, const Transfer& tx) {
    // A node key never holds money: it is hot.
    if (read_node_key(c.state, tx.to)) return failed(Reason::kKeyTaken);
    return balance_covers(c, tx.amount);
}

Checked check(const Case& c, const NodeRegister& tx) {
    if (read_node_key(c.state, tx.node) || c.state.get(account_key(tx.node)))
        return failed(Reason::kKeyTaken);
    if (!base::verify(tx.node, tx.proof, kNodeKeyDomain, c.block.chain_id, c.owner.view())) {
        return failed(Reason::kBadKeyProof);
    }
    return {};
}

Checked check(const Case& c, const NodeRevoke& tx) { return check_own_node(c.state, c.owner, tx.node); }

Checked check(const Case& c, const MinerRegister& tx) {
    ASSAY_TRY(check_own_node(c.state, c.owner, tx.node));
    if (read_miner(c.state, tx.node)) return failed(Reason::kAlreadyRegistered);
    return balance_covers(c, read_current_params(c.state).miner_fee);
}

Checked check(const Case& c, const VerifierRegister& tx) {
    ASSAY_TRY(check_own_node(c.state, c.owner, tx.node));
    if (read_verifier(c.state, tx.node)) return failed(Reason::kAlreadyRegistered);
    return balance_covers(c, read_current_params(c.state).verifier_fee);
}

Checked check(const Case& c, const StakeDeposit& tx) {
    ASSAY_TRY(check_own_node(c.state, c.owner, tx.node));
    return balance_covers(c, tx.amount);
}

Checked check(const Case& c, const StakeWithdraw& tx) {
    // A revoked key's stake stays its owner's.
    const auto node = read_node_key(c.state, tx.node);
    if (!node || node->owner != c.owner) return failed(Reason::kNotYours);
    return covers(read_stake(c.state, tx.node).free, tx.amount, Reason::kInsufficientStake);
}

Checked check(const Case& c, const TeamGrant& tx) {
    // A node key is hot, and the sponsor's own key needs no grant.
    const bool taken = tx.member == c.owner || read_node_key(c.state, tx.member);
    return taken ? Checked(failed(Reason::kKeyTaken)) : Checked{};
}

Checked check(const Case& c, const TeamRevoke& tx) {
    const auto member = read_team_member(c.state, c.owner, tx.member);
    return member && !member->revoked ? Checked{} : Checked(failed(Reason::kNotMember));
}

}  // namespace assay::contracts
