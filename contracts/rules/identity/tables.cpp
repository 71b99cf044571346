// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/identity/tables.hpp"

#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

Bytes account_key(const PublicKey& owner) { return KeyBuilder(Table::kAccount).add(owner.view()).take(); }
Bytes node_key(const PublicKey& node) { return KeyBuilder(Table::kNodeKey).add(node.view()).take(); }
Bytes stake_key(const PublicKey& node) { return KeyBuilder(Table::kStake).add(node.view()).take(); }
Bytes unbonding_key(std::uint64_t release_height, std::uint64_t number) {
    return KeyBuilder(Table::kUnbonding).add_number(release_height, 8).add_number(number, 8).take();
}
Bytes miner_key(const PublicKey& node) { return KeyBuilder(Table::kMiner).add(node.view()).take(); }
Bytes verifier_key(const PublicKey& node) { return KeyBuilder(Table::kVerifier).add(node.view()).take(); }
Bytes standing_key(const PublicKey& node, const WorkClass& kind) {
    return KeyBuilder(Table::kStanding)
        .add(node.view())
        .add_number(static_cast<std::uint64_t>(kind.family), 1)
        .add_number(static_cast<std::uint64_t>(kind.profile), 1)
        .add_number(kind.scale, 1)
        .take();
}
Bytes team_member_key(const PublicKey& sponsor, const PublicKey& member) {
    return KeyBuilder(Table::kTeamMember).add(sponsor.view()).add(member.view()).take();
}

Account read_account(const StateView& state, const PublicKey& owner) {
    return load<Account>(state, account_key(owner)).value_or(Account{});
}
std::optional<NodeKey> read_node_key(const StateView& state, const PublicKey& node) {
    return load<NodeKey>(state, node_key(node));
}
Stake read_stake(const StateView& state, const PublicKey& node) {
    return load<Stake>(state, stake_key(node)).value_or(Stake{});
}
std::optional<Miner> read_miner(const StateView& state, const PublicKey& node) {
    return load<Miner>(state, miner_key(node));
}
std::optional<Verifier> read_verifier(const StateView& state, const PublicKey& node) {
    return load<Verifier>(state, verifier_key(node));
}
std::optional<Standing> read_standing(const StateView& state, const PublicKey& node, const WorkClass& kind) {
    return load<Standing>(state, standing_key(node, kind));
}
std::optional<TeamMember> read_team_member(const StateView& state, const PublicKey& sponsor,
                                           const PublicKey& member) {
    return load<TeamMember>(state, team_member_key(sponsor, member));
}

std::vector<std::pair<PublicKey, TeamMember>> list_team(const StateView& state, const PublicKey& sponsor) {
    std::vector<std::pair<PublicKey, TeamMember>> found;
    const Bytes prefix = KeyBuilder(Table::kTeamMember).add(sponsor.view()).take();
    state.for_each(prefix, prefix, [&](ByteView key, ByteView value) {
        ASSAY_CHECK(key.size() == prefix.size() + 32);
        PublicKey member;
        std::copy(key.end() - 32, key.end(), member.bytes.begin());
        found.emplace_back(member, stored<TeamMember>(value));
        return true;
    });
    return found;
}

std::vector<std::pair<PublicKey, Account>> list_accounts(const StateView& state) {
    return list_by_key<Account>(state, Table::kAccount);
}
std::vector<std::pair<PublicKey, Miner>> list_miners(const StateView& state) {
    return list_by_key<Miner>(state, Table::kMiner);
}
std::vector<std::pair<PublicKey, Verifier>> list_verifiers(const StateView& state) {
    return list_by_key<Verifier>(state, Table::kVerifier);
}
std::vector<std::pair<WorkClass, std::uint64_t>> list_standing(const StateView& state,
                                                               const PublicKey& node) {
    std::vector<std::pair<WorkClass, std::uint64_t>> found;
    const auto miner = read_miner(state, node);
    if (!miner) return found;
    const Bytes prefix = KeyBuilder(Table::kStanding).add(node.view()).take();
    for (const auto& [key, value] : state.scan(prefix)) {
        ASSAY_CHECK(key.size() == prefix.size() + 3);
        const auto standing = stored<Standing>(value);
        if (standing.losses != miner->losses) continue;
        const auto last = key.end();
        found.emplace_back(WorkClass{static_cast<program::Family>(*(last - 3)),
                                     static_cast<program::Profile>(*(last - 2)), *(last - 1)},
                           standing.work);
    }
    return found;
}
std::vector<std::pair<PublicKey, Stake>> list_stakes(const StateView& state) {
    return list_by_key<Stake>(state, Table::kStake);
}
std::vector<std::pair<PublicKey, NodeKey>> list_node_keys(const StateView& state) {
    return list_by_key<NodeKey>(state, Table::kNodeKey);
}

std::uint64_t next_nonce(const StateView& state, const PublicKey& key) {
    if (const auto node = read_node_key(state, key)) return node->nonce;
    return read_account(state, key).nonce;
}

}  // namespace assay::contracts
