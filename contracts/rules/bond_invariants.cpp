// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/bond_invariants.hpp"

#include "contracts/rules/state/store.hpp"
#include "contracts/rules/tables.hpp"

namespace assay::contracts {

namespace {

void count_lock(Bonds& bonds, const PublicKey& node, Amount bond, int sign) {
    bonds[node] -= base::Int128{sign} * base::Int128{bond.units()};
}

}  // namespace

void count_stake(Bonds& bonds, const PublicKey& node, const Stake& stake, int sign) {
    bonds[node] += base::Int128{sign} * base::Int128{stake.bonded.units()};
}

void count_locked_by_job(Bonds& bonds, const StateView& state, const Hash256& id, int sign) {
    if (!state.get(active_job_key(id))) return;
    const auto job = read_job(state, id);
    if (!job) return;
    for (const RosterEntry& entry : job->roster) count_lock(bonds, entry.node, entry.locked, sign);
    for (const EnlistedVerifier& verifier : job->verifiers)
        count_lock(bonds, verifier.node, verifier.bond, sign);
    for (const BeaconMember& member : job->beacon)
        if (member.role != BeaconRole::kBuyer) count_lock(bonds, member.node, member.bond, sign);
}

void count_locked_by(Bonds& bonds, ByteView key, const std::optional<Bytes>& record, int sign) {
    if (!record) return;
    if (key.front() == static_cast<std::uint8_t>(Table::kClaim)) {
        const auto claim = stored<Claim>(*record);
        count_lock(bonds, claim.node, claim.bond, sign);
    }
    if (key.front() == static_cast<std::uint8_t>(Table::kGame)) {
        const auto game = stored<Game>(*record);
        if (game.is_open()) count_lock(bonds, game.challenger, game.bond, sign);
    }
}

InvariantResult check_bonds(const Bonds& bonds) {
    for (const auto& [node, difference] : bonds) {
        if (difference > 0) return broken("bonded stake of " + node.brief() + " is locked by nothing");
        if (difference < 0) return broken("a bond of " + node.brief() + " has no stake behind it");
    }
    return {};
}

}  // namespace assay::contracts
