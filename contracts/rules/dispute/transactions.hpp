// SPDX-License-Identifier: Apache-2.0
// Transactions of a game, for the code that builds, checks or carries them out.
#pragma once

#include <cstdint>
#include <vector>

#include "contracts/dispute/way.hpp"
#include "contracts/rules/claim/records.hpp"
#include "contracts/rules/dispute/records.hpp"
#include "contracts/rules/state/transaction_type.hpp"

namespace assay::contracts {

using base::Bytes;

/// node (with free stake for the bond; a drawn verifier that accuses the claim needs none), while the claim's
/// window is open. Challenges one unit of a claim.
struct DisputeOpen {
    static constexpr TxType kType = TxType::kDisputeOpen;
    Hash256 job;
    std::uint32_t round = 0;
    ClaimKind kind = ClaimKind::kSlot;
    std::uint32_t number = 0;  ///< of the claim: ClaimId
    dispute::UnitKind unit = dispute::UnitKind::kSegment;
    std::uint32_t part = 0;  ///< of a segment its number, of a clip its slot, else 0
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.round, self.kind, self.number, self.unit, self.part);
    }
};

/// node (the claimant), on its turn. Posts what the way asks for next.
struct DisputePost {
    static constexpr TxType kType = TxType::kDisputePost;
    Hash256 job;
    std::uint32_t game = 0;
    std::vector<Hash256> hashes;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.game, self.hashes);
    }
};

/// node (the challenger), on its turn. Names the first of the posted items that it rejects.
struct DisputePick {
    static constexpr TxType kType = TxType::kDisputePick;
    Hash256 job;
    std::uint32_t game = 0;
    dispute::Pick pick;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.game, self.pick);
    }
};

/// node (the claimant), once nothing is left to pick. The ledger computes the result, and the game ends.
struct DisputeProve {
    static constexpr TxType kType = TxType::kDisputeProve;
    Hash256 job;
    std::uint32_t game = 0;
    Bytes witness;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.game, self.witness);
    }
};

/// node (either player of an open game). The sender loses. A miner that concedes becomes a newcomer again,
/// but stays on the job.
struct DisputeConcede {
    static constexpr TxType kType = TxType::kDisputeConcede;
    Hash256 job;
    std::uint32_t game = 0;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.game);
    }
};

/// node (of another owner than the verifier's, with free stake for the bond), while a dead claim is open for
/// calls. Calls a verifier that vouched for a unit of the claim. The verifier defends the root of that unit
/// that it opened, or loses its bond. The bond is that of a challenge; the winner of the game needs none for
/// that game's unit.
struct DisputeCall {
    static constexpr TxType kType = TxType::kDisputeCall;
    Hash256 job;
    std::uint32_t game = 0;  ///< in which the claim died
    dispute::UnitKind unit = dispute::UnitKind::kSegment;
    std::uint32_t part = 0;  ///< like DisputeOpen::part
    PublicKey verifier;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.job, self.game, self.unit, self.part, self.verifier);
    }
};

}  // namespace assay::contracts
