// SPDX-License-Identifier: Apache-2.0
#include "node/roles/beacon_keeper.hpp"

#include <algorithm>

#include "node/roles/following_role.hpp"

namespace assay::node {

base::Hash256 beacon_secret(const base::SecretKey& key, base::ByteView job_name) {
    return base::Hasher("assay/beacon-secret").add(key.seed()).add(job_name).finish();
}

void keep_beacon(const contracts::StateView& state, const contracts::Job& job, const base::PublicKey& node,
                 const base::Hash256& secret, const OfferHandler& offer) {
    if (job.phase != contracts::JobPhase::kRounds) return;
    const auto round = contracts::read_round(state, job.id, job.round);
    if (!round || round->phase != contracts::RoundPhase::kBeacon) return;
    const auto mine = std::find_if(round->links.begin(), round->links.end(),
                                   [&](const contracts::BeaconLink& link) { return link.node == node; });
    if (mine == round->links.end() || mine->opened || mine->withheld) return;
    offer("beacon link " + std::to_string(mine->index) + " of " + round_name(job.id, job.round),
          contracts::BeaconOpen{.job = job.id,
                                .round = job.round,
                                .link = contracts::chain_link(secret, job.spec.rounds, mine->index),
                                .index = mine->index});
}

}  // namespace assay::node
