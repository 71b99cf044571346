// SPDX-License-Identifier: Apache-2.0
// Gives birth certificates and audits of models DefeatedClaim, a claim that died after it was merged into the
// model. Nothing is rolled back (docs/concepts/dispute.md): what such a claim put into the model stays in it,
// and the certificate says so.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "contracts/program/job_spec.hpp"
#include "contracts/rules/tables.hpp"

namespace assay::node {

struct CertifiedRound;

/// A claim whose claimant lost a game about it.
struct DefeatedClaim {
    std::uint32_t game = 0;  ///< number among the job's games
    contracts::ClaimKind claim = contracts::ClaimKind::kSlot;
    std::uint32_t number = 0;  ///< for a slot its number, for a merge its place among the round's merges
    base::PublicKey claimant;
    dispute::UnitKind unit = dispute::UnitKind::kSegment;  ///< the unit that the game was about
    std::uint32_t part = 0;                                ///< for a segment its number, for a clip its slot
    contracts::Reason reason = contracts::Reason::kNone;   ///< why the claimant lost
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.game, self.claim, self.number, self.claimant, self.unit, self.part, self.reason);
    }
    friend bool operator==(const DefeatedClaim&, const DefeatedClaim&) = default;
};

/// Whether the claim went into the round's resulting state: a merged slot, or the merge that stands, which
/// each verifier that opened it claims for itself.
bool is_in_model(const CertifiedRound& round, contracts::ClaimKind kind, std::uint32_t number,
                 const base::PublicKey& node);

/// The defeats, in the order of the job's games, of claims of this round that are in the model.
std::vector<DefeatedClaim> defeats_in(const CertifiedRound& round, std::span<const contracts::Game> games);

/// Whether the game can have been about this unit of the job, and its claimant can have lost it for this
/// reason.
bool is_possible(const DefeatedClaim& defeat, const CertifiedRound& round, const program::JobSpec& spec);

/// "round 3 slot 1", "round 3 merge".
std::string claim_name(const DefeatedClaim& defeat, std::uint32_t round);
/// "segment 2", "update", "clip of slot 1".
std::string unit_name(const DefeatedClaim& defeat);

}  // namespace assay::node
