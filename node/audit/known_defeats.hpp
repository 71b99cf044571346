// SPDX-License-Identifier: Apache-2.0
// Gives the audit of a model what its certificate admits: units that are false are no news where the ledger
// has decided so before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "node/audit/model_replay.hpp"

namespace assay::node {

/// A claim in the model that the certificate itself says died, and what this audit met of it.
struct DefeatReport {
    std::uint32_t round = 0;
    DefeatedClaim claim;
    /// Of the unit that the game was about: what recomputing it came to. Nothing: it was not met.
    std::optional<ClaimState> found;
    std::string why;  ///< how it differs, where it is false
    /// Drawn things of the same slot that cannot be recomputed, since they lie behind the unit and nobody has
    /// the states that its claimant made up.
    std::uint64_t behind = 0;
};

/// The certificate's defeats, and which of them an audit meets.
class KnownDefeats {
public:
    explicit KnownDefeats(const BirthCertificate& certificate);

    /// Notes what was found there. Whether it is false, and the certificate says so: the game that its claim
    /// lost was about this very unit, of a tile that to which it belongs.
    bool admits(const UnitPlace& place, const ClaimFinding& finding);
    bool admits(const TilePlace& place, const ClaimFinding& finding);
    /// The same of something false that was met on the way (ClaimJudge::met).
    bool admits(const MetFault& fault);

    /// Notes that it is gone. Whether it is of a slot whose claim died, behind the unit that the game was
    /// about: whoever hides its bytes hides what the certificate calls false.
    bool hides(const UnitPlace& place, const ClaimFinding& finding);
    bool hides(const TilePlace& place, const ClaimFinding& finding);

    /// In the order of rounds and games.
    [[nodiscard]] const std::vector<DefeatReport>& reports() const { return reports_; }

private:
    const program::JobSpec& spec_;
    std::vector<DefeatReport> reports_;
};

}  // namespace assay::node
