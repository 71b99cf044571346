// SPDX-License-Identifier: Apache-2.0
// The keys and readers of accounts, node keys, stake, miners and verifiers, for rules and readers of the
// state. A reader returns nothing when there is no such record. Bytes that do not decode mean that the
// ledger's own store is damaged; they end the process.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "contracts/rules/identity/records.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::contracts {

Bytes account_key(const PublicKey& owner);
Bytes node_key(const PublicKey& node);
Bytes stake_key(const PublicKey& node);
Bytes unbonding_key(std::uint64_t release_height, std::uint64_t number);
Bytes miner_key(const PublicKey& node);
Bytes verifier_key(const PublicKey& node);
Bytes standing_key(const PublicKey& node, const WorkClass& kind);
Bytes team_member_key(const PublicKey& sponsor, const PublicKey& member);

/// An account without a record is returned empty.
Account read_account(const StateView& state, const PublicKey& owner);
std::optional<NodeKey> read_node_key(const StateView& state, const PublicKey& node);
/// A node without a record has nothing staked.
Stake read_stake(const StateView& state, const PublicKey& node);
std::optional<Miner> read_miner(const StateView& state, const PublicKey& node);
std::optional<Verifier> read_verifier(const StateView& state, const PublicKey& node);
std::optional<Standing> read_standing(const StateView& state, const PublicKey& node, const WorkClass& kind);
std::optional<TeamMember> read_team_member(const StateView& state, const PublicKey& sponsor,
                                           const PublicKey& member);

// Listing, ascending by key.
/// The members of one sponsor's team, including the revoked ones.
std::vector<std::pair<PublicKey, TeamMember>> list_team(const StateView& state, const PublicKey& sponsor);
std::vector<std::pair<PublicKey, Account>> list_accounts(const StateView& state);
std::vector<std::pair<PublicKey, Miner>> list_miners(const StateView& state);
std::vector<std::pair<PublicKey, Verifier>> list_verifiers(const StateView& state);
/// Every class in which the miner's verified work still counts, with that work.
std::vector<std::pair<WorkClass, std::uint64_t>> list_standing(const StateView& state, const PublicKey& node);
std::vector<std::pair<PublicKey, Stake>> list_stakes(const StateView& state);
std::vector<std::pair<PublicKey, NodeKey>> list_node_keys(const StateView& state);

/// The nonce that the next transaction of `key`, an owner or a node key, must carry.
std::uint64_t next_nonce(const StateView& state, const PublicKey& key);

}  // namespace assay::contracts
