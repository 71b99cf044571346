// SPDX-License-Identifier: Apache-2.0
// Gives roles what has to stay of a round while a claim of it is open: a replay and a game need it, and both
// can begin at the last height of the claim's window. It follows from the ledger's state alone.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "contracts/rules/tables.hpp"
#include "node/seams/blob_files.hpp"

namespace assay::node {

/// The job's rounds with an open claim that concerns the node, ascending: for whoever is enlisted any claim,
/// since each is a judge of the round and serves what it stored; for others a claim of their own.
std::vector<std::uint32_t> open_rounds(const contracts::StateView& state, const contracts::Job& job,
                                       const base::PublicKey& node);

/// Blobs of one round that have to stay.
struct KeptRound {
    BlobId base;  ///< by the name in the round's record
    /// Of whoever is enlisted: the starts that were served, what slots go on with, and of those that are
    /// merged the update and what they hand on. Of a miner: all of that of its own slots but the starts.
    /// Arrays that heads name are in it, as far as the heads are here.
    std::set<BlobId> blobs;
};

/// Keeps what it has read of settled rounds: their records stay as they are while a claim is open.
class OpenRounds {
public:
    explicit OpenRounds(BlobFiles& files) : files_(files) {}

    /// REQUIRES that open_rounds() names the round.
    KeptRound kept(const contracts::StateView& state, const contracts::Job& job, std::uint32_t round,
                   const base::PublicKey& node);
    /// Forgets what it has read of other rounds than these.
    using Rounds = std::vector<std::pair<base::Hash256, std::vector<std::uint32_t>>>;
    void forget_all_but(const Rounds& rounds);

private:
    BlobFiles& files_;
    std::map<std::pair<base::Hash256, std::uint32_t>, KeptRound> read_;
};

}  // namespace assay::node
