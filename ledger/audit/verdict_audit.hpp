// SPDX-License-Identifier: Apache-2.0
// Gives the audit of payments its check of verdicts: what the opened recomputations of a slot prove,
// counted again by code of its own, and the draw of what had to be recomputed (docs/concepts/round.md). A
// payment is right only when both are.
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

/// One verifier drawn for a slot and what it opened about it, in the stage for which it was drawn. What
/// anybody else posted is no evidence and is not read.
struct DrawnAudit {
    contracts::PublicKey verifier;
    bool sealed = false;    ///< it sealed something: whether of this slot too, its opening says
    bool left_out = false;  ///< it opened, and sealed nothing of this slot
    bool opened = false;    ///< something of this slot
    bool flagged = false;   ///< it said as it sealed that it replayed this slot
    std::optional<contracts::SlotClaim> claim;  ///< about this slot
    /// Unit by unit; empty when the claim is not about the units that it must be about.
    std::map<std::uint32_t, contracts::Hash256> roots;

    [[nodiscard]] bool replayed() const { return claim && claim->replayed; }
};

/// All that the ledger holds about one slot of one round.
struct SlotEvidence {
    contracts::SlotRound slot;
    std::optional<contracts::Reveal> reveal;
    /// The same slot's record and reveal in the round before, in jobs that carry.
    std::optional<contracts::SlotRound> before;
    std::optional<contracts::Reveal> reveal_before;
    bool merged_before = false;      ///< the merge of that round took the slot
    std::vector<DrawnAudit> audits;  ///< in the order of the draws; none where no unit was drawn
    bool held = false;               ///< by a majority of the judges' stake but for the miner's owner's
    /// Whether its miner has not made up for an absence, or for having just joined (Attendance).
    bool absent_before = false;

    [[nodiscard]] const DrawnAudit* by(const contracts::PublicKey& verifier) const;
    /// Whether a drawn verifier opened a root of the unit.
    [[nodiscard]] bool is_heard(std::uint32_t unit) const;
    /// Whether the revealed trace has any work in the unit.
    [[nodiscard]] bool has_work(const contracts::Job& job, std::uint32_t unit) const;
    /// The first unit, of those with work, of which this audit gives another root than the revealed trace.
    /// REQUIRES a reveal.
    [[nodiscard]] std::optional<std::uint32_t> accused(const contracts::Job& job,
                                                       const DrawnAudit& audit) const;
    /// Whether at least two drawn verifiers opened this root of the unit.
    [[nodiscard]] bool is_confirmed(std::uint32_t unit, const contracts::Hash256& root) const;
    [[nodiscard]] bool is_drawn(std::uint32_t unit) const;
    /// No commit came, and nobody but the miner withheld what the slot had to go on with.
    [[nodiscard]] bool missed() const;
};

/// Who missed what, round by round in their order.
class Attendance {
public:
    Attendance(const contracts::Job& job, const contracts::Params& params);
    /// Two rounds with a commit make up for an absence; a joiner begins with one, and so does a member that
    /// was dropped and is back.
    [[nodiscard]] bool absent_before(const contracts::PublicKey& miner) const {
        return absent_.contains(miner);
    }
    /// Of a round that was dealt: who had been dropped, and holds a slot again, is back.
    void begin(const std::map<std::uint32_t, SlotEvidence>& slots);
    /// Of a settled round. A miner was absent when one of its slots was missed.
    void note(const std::map<std::uint32_t, SlotEvidence>& slots);
    /// Whoever loses a slot in a game that it did not concede is dropped. Counts each game once.
    void note(const contracts::Game& game);

private:
    std::uint32_t most_;  ///< of rounds to attend: who owes as many is dropped
    std::map<contracts::PublicKey, std::uint32_t> absent_;  ///< rounds that it still has to attend
    std::set<contracts::PublicKey> dropped_;
    std::set<std::uint32_t> games_;  ///< that were noted
};

SlotEvidence gather_evidence(const contracts::StateView& state, const contracts::Job& job,
                             const contracts::Round& round, const contracts::SlotRound& slot);

// Each of the following returns what does not check, one sentence each that begins with the name of the
// rule; nothing when all is right.

/// Revealed trace against its seal and against what was served, claims against the drawn units, recorded
/// storage against the bitmaps, recorded verdict and fault against the opened audits. For slots of settled
/// rounds.
std::vector<std::string> audit_verdict(const std::string& chain, const contracts::Job& job,
                                       const contracts::Round& round, const SlotEvidence& evidence);

/// Drawn units against the round's beacon, and the drawn verifiers: enlisted, of owners that differ from each
/// other and from the miner's, and those that locked stake draws. For rounds whose beacon is drawn.
std::vector<std::string> audit_draw(const contracts::Job& job, const contracts::Round& round,
                                    const SlotEvidence& evidence);

}  // namespace assay::ledger
