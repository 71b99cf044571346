// SPDX-License-Identifier: Apache-2.0
// Gives rules and readers of the state the keys and readers of accounts, node keys, stake, miners and
// verifiers. A reader returns nothing when there is no such record; bytes that do not decode are damage to
// the ledger's own store and end the process.
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

/// An account that was never touched is an empty one.
Account read_account(const StateView& state, const PublicKey& owner);
std::optional<NodeKey> read_node_key(const StateView& state, const PublicKey& node);
/// No record: nothing staked.
Stake read_stake(const StateView& state, const PublicKey& node);
std::optional<Miner> read_miner(const StateView& state, const PublicKey& node);
std::optional<Verifier> read_verifier(const StateView& state, const PublicKey& node);
std::optional<Standing> read_standing(const StateView& state, const PublicKey& node, const WorkClass& kind);
std::optional<TeamMember> read_team_member(const StateView& state, const PublicKey& sponsor,
                                           const PublicKey& member);

// Listing, ascending by key.
/// The members of one sponsor's team, with those that are revoked.
std::vector<std::pair<PublicKey, TeamMember>> list_team(const StateView& state, const PublicKey& sponsor);
std::vector<std::pair<PublicKey, Account>> list_accounts(const StateView& state);
std::vector<std::pair<PublicKey, Miner>> list_miners(const StateView& state);
std::vector<std::pair<PublicKey, Verifier>> list_verifiers(const StateView& state);
/// Every class in which the miner earned something that still counts, with the work.
std::vector<std::pair<WorkClass, std::uint64_t>> list_standing(const StateView& state, const PublicKey& node);
std::vector<std::pair<PublicKey, Stake>> list_stakes(const StateView& state);
std::vector<std::pair<PublicKey, NodeKey>> list_node_keys(const StateView& state);

/// The nonce that the next transaction of `key`, an owner or a node key, must carry.
std::uint64_t next_nonce(const StateView& state, const PublicKey& key);

}  // namespace assay::contracts
