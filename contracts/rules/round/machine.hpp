// SPDX-License-Identifier: Apache-2.0
// Gives the rules the round's state machine over heights and messages, and its pieces
// (docs/concepts/round.md). Internal to the rules.
#pragma once

#include <map>
#include <optional>
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
/// Carries out every change of phase that is due at this height: because the phase's last height has
/// passed, because all its messages are in, or because a job that waits for its gang has it. Writes the job.
void advance_job(Work& work, const Hash256& id);

// machine.cpp
/// True when the running phase of the round ends now: its last height has passed, or all its messages are in.
bool is_phase_over(const Work& work, const Hash256& job, std::uint32_t number);
/// Like advance_job for the running round: one change of phase if one is due. False: none was.
bool advance_round(Work& work, Job& job);

// deal.cpp
/// Deals the slots of round job.round, or ends the job when it may not or cannot go on. When no member of the
/// roster can hold a slot, others may join first (JobPhase::kRefill); a job that leases deals to those whose
/// lots it has, and waits when fewer than its gang can hold a slot (JobPhase::kWaiting).
void start_round(Work& work, Job& job);
/// Owners of the verifiers that may be drawn, ascending.
std::vector<PublicKey> owners_of_judges(const StateView& state, const Job& job);
/// Takes the pay of one claim out of what the job may spend. REQUIRES an amount: the round began because its
/// dearest course is covered.
Amount set_aside(Job& job, std::optional<Amount> pay);
/// Verifiers that may be drawn in a round that begins now. The weight is what each still has locked for this
/// job: no other stake can be taken from it for a wrong word, so no other stake speaks for it. A penalty
/// lowers the weight, and nothing raises it.
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
/// REQUIRES that it enlisted for the job.
EnlistedVerifier& enlisted_verifier(Job& job, const PublicKey& node);
/// Ends the beacon phase: the beacon, the drawn units and verifiers.
void draw_beacon(RunningRound& running);
/// Draws one more verifier for `slot`, for this stage; false when nobody is left.
bool draw_one_more(RunningRound& running, SlotRound& slot, Stage stage);

// verdict.cpp
/// What a drawn verifier posted, as far as it is about one slot.
struct SlotAudit {
    PublicKey verifier;
    bool sealed = false;    ///< it sealed something: whether of this slot too, its opening says
    bool left_out = false;  ///< it opened, and sealed nothing of this slot
    bool opened = false;    ///< something of this slot
    bool flagged = false;   ///< as it sealed it said that it replayed
    bool replayed = false;  ///< it opened a replay from the round's base
    std::map<std::uint32_t, Hash256> roots;  ///< of units; empty when not opened
};
/// Of the drawn verifiers, in their order; none of a slot without drawn units.
std::vector<SlotAudit> audits_of(const StateView& state, const Hash256& job, std::uint32_t round,
                                 const SlotRound& slot);

/// Whether one of the audits opened a root of the unit.
bool is_heard(const std::vector<SlotAudit>& audits, std::uint32_t unit);
/// Makes empty postings for the verifiers drawn in `stage`.
void call_audits(RunningRound& running, Stage stage);
/// Draws one more verifier for each slot that needs_confirmation(); true when one was drawn. Nobody has
/// opened a root by then: what a verifier seals it has computed.
bool confirm_replays(RunningRound& running);
/// Draws one more verifier for each slot of which nobody drawn before opened a drawn unit; true when one was
/// drawn. All who are drawn for a slot say something of the same units, so that nobody's roots of it are
/// known, and of the trace nothing but the starts of the runs.
bool redraw_slots(RunningRound& running);
/// Says of every slot whether it is stored, and sets its verdict.
void conclude(RunningRound& running);
/// Whether the slot's miner sent no commit though it could have: nobody else withheld what the slot goes on
/// with.
bool is_missed(const StateView& state, const Job& job, std::uint32_t round, const SlotRound& slot);

// loss.cpp
/// The training loss of a round with these merged slots, from the ledger alone: over the steps inside their
/// drawn units that somebody recomputed. Bits as program::mean_loss gives them; both
/// zero when no step was drawn.
struct AuditedLoss {
    std::uint32_t bits = 0;
    std::uint32_t steps = 0;
};
AuditedLoss audited_loss(const StateView& state, const Hash256& id, const program::JobSpec& spec,
                         std::uint32_t round, const std::vector<std::uint32_t>& merged_slots);

// storage.cpp
/// Whether the bitmaps name a slot by more than half of the stake that has a say about it: of the round's
/// judges, but for those of the miner's owner.
bool is_stored(const StateView& state, const Job& job, const Round& round, const SlotRound& slot);
/// Whether no bitmap that can still come changes what is_stored says of any slot.
bool is_storage_settled(const StateView& state, const Hash256& job, std::uint32_t round);

// windows.cpp
/// A settled claim with a window stays: what it still holds is due to its owner, and what it has locked is
/// free, once the heights of its window have passed. Those who accuse it have until accuse_by.
void keep_open(Work& work, const ClaimId& id, const Claim& claim);
/// What a settled round leaves to the block log leaves the state once no claim of it is open: until then it
/// can be challenged.
void archive_if_closed(State& state, const Hash256& job, std::uint32_t round);
/// The height at which the window of a settled claim is over; nothing when its round is not settled.
std::optional<std::uint64_t> end_of_window(const StateView& state, const ClaimId& id, const Claim& claim);
/// Closes the claims of a job whose windows are over: pays what they held, frees what they had locked. The
/// last one of a job whose end is decided ends it.
void close_windows(Work& work, const Deadline& deadline);

// settle.cpp
void add_line(RunningRound& running, SettlementLine line);
/// Pays, forfeits, penalises, and writes a line for everyone who was drawn or dealt something.
void settle(RunningRound& running);
/// Takes up to `penalty` from an enlisted verifier's bond; drops it when less is left than one penalty for a
/// wrong word can take: it would have nothing to lose by the next one.
Amount take_from_bond(RunningRound& running, EnlistedVerifier& verifier, Amount penalty, Amount Supply::*to);

}  // namespace assay::contracts
