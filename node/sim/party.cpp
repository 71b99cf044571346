// SPDX-License-Identifier: Apache-2.0
#include "node/sim/party.hpp"

namespace assay::node::sim {

base::SecretKey key_of(std::uint64_t seed, const std::string& name) {
    const base::Hash256 bytes =
        base::Hasher("assay/sim/key").add_u64(seed).add(base::as_bytes(name)).finish();
    return base::SecretKey::from_seed(bytes.view());
}

Player::Player(std::string called, const std::string& owned_by, WorkRole role_kind, Conduct behaves,
               std::uint64_t seed, SimClock& clock, const ledger::Genesis& genesis,
               StandInWorker::Accomplice accomplice, SharedWork& shared)
    : name(std::move(called)),
      kind(role_kind),
      behaviour(std::move(behaves)),
      owner(key_of(seed, owned_by)),
      node(key_of(seed, name + "'s node")),
      random(base::Hasher("assay/sim/party").add_u64(seed).add(base::as_bytes(name)).finish()),
      worker(behaviour, std::move(accomplice), shared),
      blobs(shared.files()),
      parts{.seams = {clock, random, timers, mempool, network, notes, worker, log},
            .files = blobs,
            .genesis = genesis,
            .node_key = node,
            .endpoint = name + ":1",
            .start_height = 0,
            .finish =
                [this](std::optional<base::Error> why) {
                    ended = true;
                    error = std::move(why);
                },
            .state_store = role_kind == WorkRole::kBuyer ? &followed : nullptr} {}

}  // namespace assay::node::sim
