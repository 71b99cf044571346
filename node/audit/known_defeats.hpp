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
    /// that the game was about: hiding them hides only what the certificate already calls false, unless that
    /// unit is found right.
    bool hides(const UnitPlace& place, const ClaimFinding& finding);
    bool hides(const TilePlace& place, const ClaimFinding& finding);
    /// The units of slots' defeats that hide something and were not reached.
    [[nodiscard]] std::vector<UnitPlace> unreached() const;
    /// Counts what each defeat hides, and returns what none does: every game about a unit before it was about
    /// one that is right, so that no state there was made up. Call it once, at the end.
    std::vector<MetFault> not_excused();

    /// In the order of rounds and games.
    [[nodiscard]] const std::vector<DefeatReport>& reports() const { return reports_; }

private:
    struct Hidden {
        UnitPlace place;
        MetFault fault;
    };
    bool note_hidden(const UnitPlace& place, const std::string& where, const ClaimFinding& finding);
    [[nodiscard]] bool comes_before(const DefeatReport& defeat, const UnitPlace& place) const;

    const program::JobSpec& spec_;
    std::vector<Hidden> hidden_;
    std::vector<DefeatReport> reports_;
};

}  // namespace assay::node
