// SPDX-License-Identifier: Apache-2.0
#include "node/roles/outward_peers.hpp"

#include <algorithm>

#include "contracts/rules/tables.hpp"

namespace assay::node {
namespace {

// Of rosters and panels alike. Whoever was dropped may still be asked for what it handed in before.
template <class Entries>
bool has(const Entries& entries, const base::PublicKey& node) {
    return std::any_of(entries.begin(), entries.end(), [&](const auto& entry) { return entry.node == node; });
}

}  // namespace

std::vector<OutwardPeer> outward_peers(const contracts::StateView& state, const base::PublicKey& me) {
    std::set<OutwardPeer> peers;
    for (const base::Hash256& id : contracts::list_active_jobs(state)) {
        const auto job = contracts::read_job(state, id);
        if (!job || !has(job->roster, me)) continue;
        for (const contracts::EnlistedVerifier& enlisted : job->verifiers) {
            const auto verifier = contracts::read_verifier(state, enlisted.node);
            if (verifier && !outward_node(verifier->endpoint))
                peers.insert({enlisted.node, verifier->endpoint});
        }
    }
    return {peers.begin(), peers.end()};
}

std::set<base::PublicKey> outward_miners(const contracts::StateView& state, const base::PublicKey& me) {
    std::set<base::PublicKey> miners;
    for (const base::Hash256& id : contracts::list_active_jobs(state)) {
        const auto job = contracts::read_job(state, id);
        if (!job || !has(job->verifiers, me)) continue;
        for (const auto& member : job->roster) {
            const auto miner = contracts::read_miner(state, member.node);
            if (miner && outward_node(miner->endpoint) == member.node) miners.insert(member.node);
        }
    }
    return miners;
}

}  // namespace assay::node
