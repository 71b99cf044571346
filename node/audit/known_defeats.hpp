// SPDX-License-Identifier: Apache-2.0
// Gives the audit of a model KnownDefeats, the false claims that its certificate admits: a false unit is no
// new finding if the ledger has already decided so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "node/audit/model_replay.hpp"

namespace assay::node {

/// A claim in the model that died according to the certificate, and what this audit found of it.
struct DefeatReport {
    std::uint32_t round = 0;
    DefeatedClaim claim;
    /// Result of recomputing the unit that the game was about. Nothing: the audit did not reach it.
    std::optional<ClaimState> found;
    std::string why;  ///< how it differs, if it is false
    /// Number of drawn units and tiles of the same slot that cannot be recomputed, because they come after
    /// the unit and nobody has the states that its claimant made up.
    std::uint64_t behind = 0;
};

/// The certificate's defeats, and which of them an audit reaches.
class KnownDefeats {
public:
    explicit KnownDefeats(const BirthCertificate& certificate);

    /// Notes the finding. Returns whether it is false and the certificate admits it: its claim lost a game
    /// about this very unit, or about the unit that the tile belongs to.
    bool admits(const UnitPlace& place, const ClaimFinding& finding);
    bool admits(const TilePlace& place, const ClaimFinding& finding);
    /// The same for a false result that was found on the way (ClaimJudge::met).
    bool admits(const MetFault& fault);

    /// Notes that the bytes are gone. Returns whether they belong to a slot whose claim died, after the unit
    /// that the game was about: hiding them hides only what the certificate already calls false.
    bool hides(const UnitPlace& place, const ClaimFinding& finding);
    bool hides(const TilePlace& place, const ClaimFinding& finding);

    /// In the order of rounds and games.
    [[nodiscard]] const std::vector<DefeatReport>& reports() const { return reports_; }

private:
    const program::JobSpec& spec_;
    std::vector<DefeatReport> reports_;
};

}  // namespace assay::node
