// SPDX-License-Identifier: Apache-2.0
// Replay: what a miner claimed for a round, recomputed here from blobs and compared bit for bit, with the
// ledger's verdict checked against the result. Needs no process but a worker.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "contracts/rules/tables.hpp"
#include "node/blob/blob_store.hpp"
#include "node/worker/worker_client.hpp"

namespace assay::node {

struct ReplayRequest {
    base::Hash256 job;
    std::uint32_t round = 0;
    std::optional<base::PublicKey> miner;  ///< nothing: every miner of the round
    std::optional<std::uint32_t> segment;  ///< nothing: all, and finalise
};

/// One slot's round, recomputed from the base state on.
struct SlotReplay {
    std::uint32_t slot = 0;
    base::PublicKey miner;
    std::uint32_t units = 0;                   ///< recomputed
    std::optional<std::uint32_t> first_wrong;  ///< the first unit whose bits differ from the claim
    base::Hash256 claimed;                     ///< its root, claimed and recomputed
    base::Hash256 recomputed;
    contracts::Reason verdict = contracts::Reason::kNone;  ///< the ledger's
    /// The ledger paid what checks and forfeited what does not.
    bool agrees = false;
};

/// Recomputes every revealed slot that the request names. kNotFound: no such job, round or miner, or a blob
/// that is needed is not in the store (its id and what it holds are named). kVerification: a base state that
/// is not the one the ledger names. Slots whose miner revealed nothing are left out.
base::Outcome<std::vector<SlotReplay>> replay_round(WorkerClient& worker, const contracts::StateView& state,
                                                    const BlobStore& blobs, const ReplayRequest& request);

}  // namespace assay::node
