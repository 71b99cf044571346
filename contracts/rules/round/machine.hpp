// SPDX-License-Identifier: Apache-2.0
// The state machine of a round over heights and messages, and its parts, for the rules
// (docs/concepts/round.md). Internal to the rules.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "contracts/rules/claim/tables.hpp"
#include "contracts/rules/job/tables.hpp"
#include "contracts/rules/round/draws.hpp"
#include "contracts/rules/round/tables.hpp"
#include "contracts/rules/state/deadlines.hpp"
#include "contracts/rules/state/supply.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

// advance.cpp
/// Carries out every change of phase that is due at this height. A change is due when the phase's last height
/// has passed, when all its messages are in, or when a waiting job has its gang. Writes the job.
void advance_job(Work& work, const Hash256& id);

// machine.cpp
/// Whether the running phase of the round ends now: its last height has passed, or all its messages are in.
bool is_phase_over(const Work& work, const Hash256& job, std::uint32_t number);
/// Like advance_job for the running round, but makes at most one change of phase. Returns false when none was
/// due.
bool advance_round(Work& work, Job& job);

// deal.cpp
/// Deals the slots of round job.round, or ends the job when it may not or cannot go on. When no member of the
/// roster can hold a slot, others may join first (JobPhase::kRefill). A job that leases deals to the miners
/// whose lots it has, and waits when fewer than its gang can hold a slot (JobPhase::kWaiting).
void start_round(Work& work, Job& job);
/// Takes the pay of one claim out of the job's escrow. REQUIRES an amount and enough escrow: the round began
/// only because its dearest course is covered.
Amount set_aside(Job& job, std::optional<Amount> pay);
/// The verifiers that may be drawn in a round that begins now. The weight is what each still has locked for
/// this job: only this stake can be taken for a wrong audit, so only this stake counts. A penalty lowers the
/// weight, and nothing raises it.
std::vector<EligibleVerifier> eligible_verifiers(const StateView& state, const Job& job);

/// A running round with its slots in memory; save() writes both back.
struct RunningRound {
    Work& work;
    Job& job;
    Params params;  ///< the job's
    Round round;
    std::vector<SlotRound> slots;
};
void save(RunningRound& running);

// draw.cpp
/// The entry of an enlisted verifier. REQUIRES that it enlisted for the job.
EnlistedVerifier& enlisted_verifier(Job& job, const PublicKey& node);
/// Ends the beacon phase: sets the beacon, the drawn units and the drawn verifiers.
void draw_beacon(RunningRound& running);
/// Draws one more verifier for `slot` in this stage; false when nobody is left.
bool draw_one_more(RunningRound& running, SlotRound& slot, Stage stage);

// verdict.cpp
/// What a drawn verifier posted, as far as it is about one slot.
struct SlotAudit {
    PublicKey verifier;
    bool sealed = false;    ///< it sealed something; only its opening shows whether for this slot
    bool left_out = false;  ///< it opened, and had sealed nothing for this slot
    bool opened = false;    ///< it opened something for this slot
    bool flagged = false;   ///< when it sealed, it stated that it replayed
    bool replayed = false;  ///< it opened a replay from the round's base
    std::map<std::uint32_t, Hash256> roots;  ///< by unit; empty when not opened
};
/// What the verifiers of a round posted, each read once: a posting is about all slots of its verifier, and
/// may have hundreds of kilobytes. Holds a reference to the state, in which no posting may change meanwhile.
class RoundPostings {
public:
    RoundPostings(const StateView& state, const Hash256& job, std::uint32_t round)
        : state_(state), job_(job), round_(round) {}
    /// Null where there is none. Stays valid.
    const AuditPosting* find(Stage stage, const PublicKey& verifier);

private:
    const StateView& state_;
    Hash256 job_;
    std::uint32_t round_;
    std::map<std::pair<Stage, PublicKey>, std::optional<AuditPosting>> read_;
};
RoundPostings postings_of(const RunningRound& running);

/// The audits of the drawn verifiers, in the order of the draw; none for a slot without drawn units.
std::vector<SlotAudit> audits_of(RoundPostings& postings, const SlotRound& slot);
/// The same for one slot alone.
std::vector<SlotAudit> audits_of(const StateView& state, const Hash256& job, std::uint32_t round,
                                 const SlotRound& slot);

/// Whether one of the audits opened a root of the unit.
bool is_heard(const std::vector<SlotAudit>& audits, std::uint32_t unit);
/// Makes empty postings for the verifiers drawn in `stage`.
void call_audits(RunningRound& running, Stage stage);
/// Draws one more verifier for each slot that needs_confirmation(); true when one was drawn. Nobody has
/// opened a root by then, so that a verifier must compute what it seals.
bool confirm_replays(RunningRound& running);
/// Draws one more verifier for each slot of which no verifier drawn before opened a drawn unit; true when one
/// was drawn. All verifiers of a slot report the same units, so that at this time no root of the slot is
/// known, and of its trace only the starts of the runs.
bool redraw_slots(RunningRound& running);
/// Sets for every slot whether it is stored, and its verdict.
void conclude(RunningRound& running);
/// Whether the slot's miner sent no commit although it could have. It could not if another miner holds the
/// carried state with which the slot goes on.
bool is_missed(const StateView& state, const Job& job, std::uint32_t round, const SlotRound& slot);

// loss.cpp
/// The training loss of a round with these merged slots, computed only from the ledger: the mean over the
/// steps of their drawn units that somebody recomputed. Bits as program::mean_loss gives them; both zero when
/// no step was drawn.
struct AuditedLoss {
    std::uint32_t bits = 0;
    std::uint32_t steps = 0;
};
AuditedLoss audited_loss(const StateView& state, const Hash256& id, const program::JobSpec& spec,
                         std::uint32_t round, const std::vector<std::uint32_t>& merged_slots);

// storage.cpp
/// Whether verifiers with more than half of the relevant stake name the slot in their bitmaps. The relevant
/// stake is that of the round's judges without those of the miner's owner.
bool is_stored(const StateView& state, const Job& job, const Round& round, const SlotRound& slot);
/// Whether no bitmap that can still come changes is_stored of any slot.
bool is_storage_settled(const StateView& state, const Hash256& job, std::uint32_t round);

// windows.cpp
/// Keeps a settled claim with a window open. Once the heights of its window have passed, its owner gets what
/// it still holds, and what it has locked becomes free. Its accusers have time until accuse_by.
void keep_open(Work& work, const ClaimId& id, const Claim& claim);
/// Archives a settled round (archive_round) once none of its claims is open: until then they can be
/// challenged.
void archive_if_closed(State& state, const Hash256& job, std::uint32_t round);
/// The height at which the window of a settled claim ends; nothing when its round is not settled.
std::optional<std::uint64_t> end_of_window(const StateView& state, const ClaimId& id, const Claim& claim);
/// Closes the claims of a job whose windows are over: pays what they held, and frees what they had locked.
/// The last claim of a job whose end is decided ends the job.
void close_windows(Work& work, const Deadline& deadline);

// settle.cpp
void add_line(RunningRound& running, SettlementLine line);
/// Pays, forfeits and penalises, and writes a line for everyone who was drawn or dealt something.
void settle(RunningRound& running);
/// Takes up to `penalty` from an enlisted verifier's bond. Drops the verifier when less is left than one
/// penalty can take, because it would not have enough to lose by its next wrong audit.
Amount take_from_bond(RunningRound& running, EnlistedVerifier& verifier, Amount penalty, Amount Supply::*to);

}  // namespace assay::contracts
