// SPDX-License-Identifier: Apache-2.0
// Checks the verdicts, for the audit of payments: what the opened recomputations of a slot prove, counted
// again by separate code, and the draw of what had to be recomputed (docs/concepts/round.md). A payment is
// right only when both are.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "contracts/rules/job/records.hpp"
#include "contracts/rules/round/records.hpp"
#include "contracts/rules/state/state.hpp"
#include "contracts/rules/tables.hpp"

namespace assay::ledger {

/// One verifier drawn for a slot, and what it opened about the slot in the stage for which it was drawn. What
/// anybody else posted is no evidence and is not read.
struct DrawnAudit {
    contracts::PublicKey verifier;
    bool sealed = false;    ///< it sealed something; only its opening shows whether for this slot
    bool left_out = false;  ///< it opened, and had sealed nothing for this slot
    bool opened = false;    ///< it opened something for this slot
    bool flagged = false;   ///< when it sealed, it stated that it replayed this slot
    std::optional<contracts::SlotClaim> claim;  ///< about this slot
    /// By unit; empty when the claim is not about the required units.
    std::map<std::uint32_t, contracts::Hash256> roots;

    [[nodiscard]] bool replayed() const { return claim && claim->replayed; }
};

/// Everything that the ledger holds about one slot of one round.
struct SlotEvidence {
    contracts::SlotRound slot;
    std::optional<contracts::Reveal> reveal;
    /// The same slot's record and reveal in the round before, in jobs that carry.
    std::optional<contracts::SlotRound> before;
    std::optional<contracts::Reveal> reveal_before;
    bool merged_before = false;      ///< the merge of that round took the slot
    std::vector<DrawnAudit> audits;  ///< in the order of the draws; none when no unit was drawn
    bool held = false;               ///< by a majority of the judges' stake without that of the miner's owner
    /// Whether its miner has not made up for an absence, or for having just joined (Attendance).
    bool absent_before = false;

    [[nodiscard]] const DrawnAudit* by(const contracts::PublicKey& verifier) const;
    /// Whether a drawn verifier opened a root of the unit.
    [[nodiscard]] bool is_heard(std::uint32_t unit) const;
    /// Whether the revealed trace has any work in the unit.
    [[nodiscard]] bool has_work(const contracts::Job& job, std::uint32_t unit) const;
    /// The first unit with work for which this audit gives another root than the revealed trace. REQUIRES a
    /// reveal.
    [[nodiscard]] std::optional<std::uint32_t> accused(const contracts::Job& job,
                                                       const DrawnAudit& audit) const;
    /// Whether at least two drawn verifiers opened this root of the unit.
    [[nodiscard]] bool is_confirmed(std::uint32_t unit, const contracts::Hash256& root) const;
    [[nodiscard]] bool is_drawn(std::uint32_t unit) const;
    /// Whether no commit came although nobody but the miner withheld what the slot had to go on with.
    [[nodiscard]] bool missed() const;
};

/// Who missed what, round by round in their order.
class Attendance {
public:
    Attendance(const contracts::Job& job, const contracts::Params& params);
    /// Two rounds with a commit make up for an absence. A joiner begins with one absence, and so does a
    /// member that was dropped and is back.
    [[nodiscard]] bool absent_before(const contracts::PublicKey& miner) const {
        return absent_.contains(miner);
    }
    /// Notes a round that was dealt: a dropped member that holds a slot again is back.
    void begin(const std::map<std::uint32_t, SlotEvidence>& slots);
    /// Notes a settled round. A miner was absent when one of its slots was missed.
    void note(const std::map<std::uint32_t, SlotEvidence>& slots);
    /// Notes a game: a miner that loses a slot in a game that it did not concede is dropped. Counts each game
    /// once.
    void note(const contracts::Game& game);

private:
    std::uint32_t most_;  ///< of rounds to attend: a miner that owes as many is dropped
    std::map<contracts::PublicKey, std::uint32_t> absent_;  ///< rounds that it still has to attend
    std::set<contracts::PublicKey> dropped_;
    std::set<std::uint32_t> games_;  ///< the games that were noted
};

SlotEvidence gather_evidence(const contracts::StateView& state, const contracts::Job& job,
                             const contracts::Round& round, const contracts::SlotRound& slot);

// Each of the following returns one sentence for each failed check, which begins with the name of the rule;
// none when all is right.

/// Checks the revealed trace against its seal and against what was served, claims against the drawn units,
/// recorded storage against the bitmaps, and recorded verdict and fault against the opened audits. For slots
/// of settled rounds.
std::vector<std::string> audit_verdict(const std::string& chain, const contracts::Job& job,
                                       const contracts::Round& round, const SlotEvidence& evidence);

/// Checks the drawn units against the round's beacon, and the drawn verifiers: they must be enlisted, have
/// owners that differ from each other and from the miner's, and be those that the draw by locked stake gives.
/// For rounds whose beacon is drawn.
std::vector<std::string> audit_draw(const contracts::Job& job, const contracts::Round& round,
                                    const SlotEvidence& evidence);

}  // namespace assay::ledger
