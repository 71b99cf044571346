// SPDX-License-Identifier: Apache-2.0
// Gives roles what they have to keep of a round while a claim of it is open: a replay and a game need it, and
// both can begin at the last height of the claim's window. It follows from the ledger's state alone.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "contracts/rules/tables.hpp"
#include "node/seams/blob_files.hpp"

namespace assay::node {

/// The job's rounds with an open claim that concerns the node, ascending. Every claim concerns an enlisted
/// node, because it judges the round and serves what it stored. Other nodes are concerned only by their own
/// claims.
std::vector<std::uint32_t> open_rounds(const contracts::StateView& state, const contracts::Job& job,
                                       const base::PublicKey& node);

/// Blobs of one round that a node has to keep.
struct KeptRound {
    BlobId base;  ///< by the name in the round's record
    /// For an enlisted node: the starts that were served and the states that slots go on with; for slots that
    /// are merged, or may still be, also the update and the state that they hand on. For a miner: all of
    /// that, except the starts, for its own slots. Includes the arrays that heads name, as far as the heads
    /// are here.
    std::set<BlobId> blobs;
};

/// Caches what it has read of settled rounds, because their records do not change while a claim is open.
class OpenRounds {
public:
    explicit OpenRounds(BlobFiles& files) : files_(files) {}

    /// REQUIRES that open_rounds() names the round.
    KeptRound kept(const contracts::StateView& state, const contracts::Job& job, std::uint32_t round,
                   const base::PublicKey& node);
    /// Forgets what it has read of all rounds except these.
    using Rounds = std::vector<std::pair<base::Hash256, std::vector<std::uint32_t>>>;
    void forget_all_but(const Rounds& rounds);

private:
    BlobFiles& files_;
    std::map<std::pair<base::Hash256, std::uint32_t>, KeptRound> read_;
};

}  // namespace assay::node
