// SPDX-License-Identifier: Apache-2.0
#include "ledger/audit/verdict_audit.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "contracts/program/round_law.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/rules/round/draws.hpp"
#include "contracts/rules/round/panel_rule.hpp"
#include "contracts/rules/tables.hpp"
#include "ledger/audit/judge_audit.hpp"
#include "ledger/audit/storage_audit.hpp"

namespace assay::ledger {

using contracts::Hash256;
using contracts::PublicKey;
using contracts::Reason;
using contracts::SlotRound;

namespace {

struct Verdict {
    Reason reason = Reason::kNone;
    std::uint32_t unit = 0;
    Hash256 claimed;
    Hash256 found;
};

// The unit in which the miner's trace says that its work ended.
std::optional<std::uint32_t> divergence_unit(const contracts::Job& job, const SlotEvidence& evidence) {
    if (!evidence.reveal || !evidence.reveal->trace.divergence) return std::nullopt;
    return program::RoundPlan(job.spec).unit_of(evidence.reveal->trace.divergence->step);
}

// The accusation of the lowest unit, of equal ones the first drawn.
std::optional<Verdict> accuse_again(const contracts::Job& job, const SlotEvidence& evidence) {
    const bool kept_out = evidence.slot.diverged || evidence.held;
    std::optional<Verdict> first;
    for (const DrawnAudit& audit : evidence.audits) {
        const auto unit = evidence.accused(job, audit);
        if (!unit || (first && first->unit <= *unit)) continue;
        first = Verdict{kept_out ? Reason::kPaidAccused : Reason::kNotStored, *unit,
                        program::unit_root(evidence.reveal->trace, job.spec, *unit), audit.roots.at(*unit)};
    }
    return first;
}

// REQUIRES a well-formed reveal.
Verdict judge_again(const contracts::Job& job, const SlotEvidence& evidence) {
    if (const auto accused = accuse_again(job, evidence)) return *accused;
    const auto& drawn = evidence.slot.drawn_units;
    const bool open =
        std::any_of(drawn.begin(), drawn.end(), [&](std::uint32_t unit) { return !evidence.is_heard(unit); });
    if (const auto ended = divergence_unit(job, evidence))
        return {evidence.is_heard(*ended) ? Reason::kPaidDiverged : Reason::kUnresolved, 0, {}, {}};
    if (!evidence.held) return {Reason::kNotStored, 0, {}, {}};
    return {open ? Reason::kPaidUndecided : Reason::kPaid, 0, {}, {}};
}

std::string quoted(Reason reason) { return std::string(contracts::to_text(reason)); }

// What the slot's round before left it to go on with; zero: nothing.
Hash256 handed_on(const SlotEvidence& evidence) {
    const bool known = evidence.merged_before && evidence.reveal_before;
    if (!known || !evidence.reveal_before->trace.carried) return {};
    return evidence.reveal_before->trace.carried->out;
}

// Empty: the reveal is what was sealed.
std::string check_reveal(const std::string& chain, const contracts::Job& job, const contracts::Round& round,
                         const SlotEvidence& evidence) {
    const SlotRound& slot = evidence.slot;
    if (!evidence.reveal) return "reveal: the slot counts as revealed and no reveal is stored";
    const contracts::Reveal& reveal = *evidence.reveal;
    if (!program::is_well_formed(reveal.trace, job.spec)) return "reveal: its trace does not fit the job";
    contracts::CommitStatement statement;
    statement.job = job.id;
    statement.round = round.number;
    statement.slot = slot.slot;
    statement.miner = slot.miner;
    statement.base_root = round.base_root;
    statement.trace_root = program::trace_root(reveal.trace, job.spec, reveal.salt);
    statement.salt = contracts::commit_salt(reveal.salt);
    if (reveal.trace.carried && reveal.trace.carried->in != handed_on(evidence))
        return "reveal: the slot goes on with another state than its last accepted round handed on";
    if (contracts::commit_seal(chain, statement) != slot.seal)
        return "reveal: the trace is not the one that was sealed";
    if (slot.diverged != reveal.trace.divergence.has_value())
        return "reveal: the slot's divergence is not the trace's";
    if (slot.served && slot.diverged_unit != divergence_unit(job, evidence))
        return "reveal: the trace ends in another unit than its miner said when it served";
    return {};
}

void check_claims(const SlotEvidence& evidence, std::vector<std::string>& wrong) {
    const auto runs = program::runs_of(evidence.slot.drawn_units);
    const bool needs_start =
        std::any_of(runs.begin(), runs.end(), [](const program::UnitRun& run) { return run.first != 0; });
    for (const DrawnAudit& audit : evidence.audits) {
        if (!audit.opened) continue;
        const std::string who = "audit: " + audit.verifier.brief();
        if (audit.roots.empty()) {
            wrong.push_back(who + " claims other units than those drawn");
        } else if (audit.replayed() != audit.flagged) {
            wrong.push_back(who +
                            " opened a replay where its seal said otherwise, or none where it said one");
        } else if (audit.replayed() ? !needs_start : needs_start && !evidence.slot.served) {
            wrong.push_back(who + (audit.replayed() ? " replayed a slot whose runs begin at the base"
                                                    : " begins at a start that nobody opened"));
        }
    }
}

void check_fault(const SlotRound& slot, const Verdict& verdict, std::vector<std::string>& wrong) {
    if (slot.fault_unit != verdict.unit)
        wrong.push_back("verdict: the fault is recorded in unit " + std::to_string(slot.fault_unit) +
                        ", a verifier's roots show it in unit " + std::to_string(verdict.unit));
    if (slot.fault_claimed != verdict.claimed)
        wrong.push_back("verdict: the claimed root of the fault is recorded as " +
                        slot.fault_claimed.brief() + ", the revealed trace gives " + verdict.claimed.brief());
    if (slot.fault_found != verdict.found)
        wrong.push_back("verdict: the found root of the fault is recorded as " + slot.fault_found.brief() +
                        ", that verifier's audit gives " + verdict.found.brief());
}

// What a slot without a reveal comes to.
Reason unrevealed(const SlotEvidence& evidence) {
    if (!evidence.slot.assigned) return Reason::kNotAssigned;
    if (evidence.slot.committed) return Reason::kSilentAfterDraw;
    return evidence.missed() && evidence.absent_before ? Reason::kNoCommitAgain : Reason::kNoCommit;
}

std::string listed(const std::vector<std::uint32_t>& units) {
    std::string text;
    for (const std::uint32_t unit : units) text += (text.empty() ? "" : " ") + std::to_string(unit);
    return "[" + text + "]";
}

// No party judges work of its own owner, nor twice.
void check_judges(const contracts::Job& job, const SlotRound& slot, std::vector<std::string>& wrong) {
    std::set<PublicKey> owners = {slot.owner};
    for (const PublicKey& node : slot.verifiers) {
        const auto enlisted = std::find_if(job.verifiers.begin(), job.verifiers.end(),
                                           [&](const auto& verifier) { return verifier.node == node; });
        if (enlisted == job.verifiers.end()) {
            wrong.push_back("draw: verifier " + node.brief() + " is not enlisted for the job");
        } else if (!owners.insert(enlisted->owner).second) {
            wrong.push_back("draw: verifier " + node.brief() +
                            " has the owner of the miner or of another drawn verifier");
        }
    }
}

// Which verifiers had to be drawn behind the panel. Flags and openings of those who were drawn before say it:
// all who sealed said that open starts were not served, and they were fewer than three; nobody opened a unit.
LaterDraws later_draws(const contracts::Round& round, const SlotEvidence& evidence) {
    const SlotRound& slot = evidence.slot;
    const std::vector<DrawnAudit>& audits = evidence.audits;
    const auto panel_end = audits.begin() + std::min<std::ptrdiff_t>(slot.panel, std::ssize(audits));
    const auto sealed = std::count_if(audits.begin(), panel_end, [](const auto& one) { return one.sealed; });
    const auto flagged =
        std::count_if(audits.begin(), panel_end, [](const auto& one) { return one.flagged; });
    LaterDraws due;
    due.confirmer = round.phase > contracts::RoundPhase::kAuditSeal && slot.served && slot.panel < 3 &&
                    sealed > 0 && sealed == flagged;
    const auto before = std::min<std::ptrdiff_t>(slot.panel + slot.confirmers, std::ssize(audits));
    const auto nobody_opened = [&](std::uint32_t unit) {
        return std::none_of(audits.begin(), audits.begin() + before,
                            [&](const DrawnAudit& one) { return one.roots.contains(unit); });
    };
    due.another = round.phase > contracts::RoundPhase::kAuditOpen &&
                  std::any_of(slot.drawn_units.begin(), slot.drawn_units.end(), nobody_opened);
    return due;
}

}  // namespace

const DrawnAudit* SlotEvidence::by(const PublicKey& verifier) const {
    const auto found = std::find_if(audits.begin(), audits.end(),
                                    [&](const DrawnAudit& audit) { return audit.verifier == verifier; });
    return found == audits.end() ? nullptr : &*found;
}

bool SlotEvidence::is_heard(std::uint32_t unit) const {
    return std::any_of(audits.begin(), audits.end(),
                       [&](const DrawnAudit& audit) { return audit.roots.contains(unit); });
}

bool SlotEvidence::has_work(const contracts::Job& job, std::uint32_t unit) const {
    const program::TraceRecord& trace = reveal->trace;
    const program::RoundPlan plan(job.spec);
    const std::size_t completed = trace.fingerprints.size();
    if (plan.is_finalise(unit)) return completed == job.spec.train.inner_steps;
    const std::size_t first = plan.steps(unit).first;
    return completed > first || (completed == first && trace.divergence && trace.divergence->step >= first);
}

std::optional<std::uint32_t> SlotEvidence::accused(const contracts::Job& job, const DrawnAudit& audit) const {
    for (const auto& [unit, root] : audit.roots) {
        if (has_work(job, unit) && root != program::unit_root(reveal->trace, job.spec, unit)) return unit;
    }
    return std::nullopt;
}

bool SlotEvidence::is_confirmed(std::uint32_t unit, const Hash256& root) const {
    const auto equal = std::count_if(audits.begin(), audits.end(), [&](const DrawnAudit& audit) {
        const auto found = audit.roots.find(unit);
        return found != audit.roots.end() && found->second == root;
    });
    return equal >= 2;
}

bool SlotEvidence::missed() const {
    if (!slot.assigned || slot.committed) return false;
    return handed_on(*this).is_zero() || before->miner == slot.miner;
}

Attendance::Attendance(const contracts::Job& job, const contracts::Params& params)
    : most_(contracts::kAbsenceWeight * params.max_missed) {
    if (job.spec.market.terms.gang > 0) return;  // nobody joins
    for (std::size_t i = job.auction.winners; i < job.roster.size(); ++i)
        absent_[job.roster[i].node] = contracts::kAbsenceWeight;
}

void Attendance::begin(const std::map<std::uint32_t, SlotEvidence>& slots) {
    for (const auto& [number, evidence] : slots) {
        if (evidence.slot.assigned && dropped_.erase(evidence.slot.miner) > 0)
            absent_[evidence.slot.miner] = contracts::kAbsenceWeight;
    }
}

void Attendance::note(const std::map<std::uint32_t, SlotEvidence>& slots) {
    std::map<PublicKey, bool> absent;
    for (const auto& [number, evidence] : slots) {
        if (!evidence.slot.assigned) continue;
        bool& one = absent[evidence.slot.miner];
        one = one || evidence.missed();
        if (contracts::consequence(evidence.slot.verdict) == contracts::Consequence::kForfeit)
            dropped_.insert(evidence.slot.miner);
    }
    for (const auto& [miner, was] : absent) {
        if (was) {
            absent_[miner] += contracts::kAbsenceWeight;
            if (absent_[miner] >= most_) dropped_.insert(miner);
        } else if (const auto owes = absent_.find(miner); owes != absent_.end() && --owes->second == 0) {
            absent_.erase(owes);
        }
    }
}

void Attendance::note(const contracts::Game& game) {
    if (!games_.insert(game.number).second) return;
    const bool lost = game.kind == contracts::ClaimKind::kSlot && !game.called && game.claimant_lost;
    if (lost && game.end != contracts::GameEnd::kConceded) dropped_.insert(game.claimant);
}

bool SlotEvidence::is_drawn(std::uint32_t unit) const {
    return std::find(slot.drawn_units.begin(), slot.drawn_units.end(), unit) != slot.drawn_units.end();
}

static DrawnAudit drawn_audit(const contracts::StateView& state, const contracts::Job& job,
                              const contracts::Round& round, const SlotRound& slot, contracts::Stage stage,
                              const PublicKey& verifier) {
    DrawnAudit audit;
    audit.verifier = verifier;
    const auto posting = contracts::read_audit(state, job.id, round.number, stage, verifier);
    audit.sealed = posting && posting->sealed;
    audit.flagged = posting && contracts::has_bit(posting->replayed, slot.slot);
    if (!posting || !posting->opened) return audit;
    const auto claim = std::find_if(posting->claims.begin(), posting->claims.end(),
                                    [&](const contracts::SlotClaim& c) { return c.slot == slot.slot; });
    audit.opened = claim != posting->claims.end();
    audit.left_out = !audit.opened;
    if (audit.left_out) return audit;
    audit.claim = *claim;
    const auto units = contracts::claimed_units(slot.drawn_units, claim->replayed);
    if (units.size() != claim->roots.size()) return audit;
    for (std::size_t u = 0; u < units.size(); ++u) audit.roots.emplace(units[u], claim->roots[u]);
    return audit;
}

SlotEvidence gather_evidence(const contracts::StateView& state, const contracts::Job& job,
                             const contracts::Round& round, const SlotRound& slot) {
    SlotEvidence evidence;
    evidence.slot = slot;
    if (slot.revealed) evidence.reveal = contracts::read_reveal(state, job.id, round.number, slot.slot);
    if (program::carries_state(job.spec) && round.number > 0) {
        evidence.before = contracts::read_slot(state, job.id, round.number - 1, slot.slot);
        evidence.reveal_before = contracts::read_reveal(state, job.id, round.number - 1, slot.slot);
        const auto merged = contracts::read_round_progress(state, job.id, round.number - 1);
        evidence.merged_before = merged && std::find(merged->merged_slots.begin(), merged->merged_slots.end(),
                                                     slot.slot) != merged->merged_slots.end();
    }
    evidence.held = slot.revealed && !slot.diverged && is_held(state, job, round, slot);
    for (std::size_t i = 0; !slot.drawn_units.empty() && i < slot.verifiers.size(); ++i) {
        evidence.audits.push_back(
            drawn_audit(state, job, round, slot, contracts::stage_of(i, slot), slot.verifiers[i]));
    }
    return evidence;
}

std::vector<std::string> audit_verdict(const std::string& chain, const contracts::Job& job,
                                       const contracts::Round& round, const SlotEvidence& evidence) {
    std::vector<std::string> wrong;
    const SlotRound& slot = evidence.slot;
    Verdict verdict;
    if (slot.assigned && slot.committed && slot.revealed) {
        const std::string bad = check_reveal(chain, job, round, evidence);
        if (!bad.empty()) return {bad};
        if (slot.stored != evidence.held)
            wrong.emplace_back("storage: the slot is recorded otherwise than the bitmaps show");
        check_claims(evidence, wrong);
        verdict = judge_again(job, evidence);
    } else {
        verdict.reason = unrevealed(evidence);
    }
    if (slot.verdict != verdict.reason)
        wrong.push_back("verdict: recorded as " + quoted(slot.verdict) + ", the records show " +
                        quoted(verdict.reason));
    check_fault(slot, verdict, wrong);
    return wrong;
}

std::vector<std::string> audit_draw(const contracts::Job& job, const contracts::Round& round,
                                    const SlotEvidence& evidence) {
    std::vector<std::string> wrong;
    const SlotRound& slot = evidence.slot;
    if (!slot.committed) {
        if (!slot.drawn_units.empty() || !slot.verifiers.empty())
            wrong.emplace_back("draw: something is drawn for a slot that committed to nothing");
        return wrong;
    }
    const bool all = slot.newcomer || round.link_missing;
    const program::RoundPlan plan(job.spec);
    auto drawn =
        contracts::draw_units(round.beacon, slot.slot, plan, contracts::unit_rates(job.spec.security, all));
    // A claim that ends the work early and is paid in full is never left to the draw.
    if (slot.diverged_unit && !slot.served)
        wrong.emplace_back("draw: a divergence is recorded of a miner that served nothing");
    if (slot.diverged_unit) drawn = contracts::with_divergence(drawn, *slot.diverged_unit);
    if (slot.drawn_units != drawn)
        wrong.push_back("draw: the drawn units are " + listed(slot.drawn_units) + ", the rule gives " +
                        listed(drawn));
    check_judges(job, slot, wrong);
    for (std::string& what : audit_drawn_judges(job, round, slot, later_draws(round, evidence)))
        wrong.push_back(std::move(what));
    return wrong;
}

}  // namespace assay::ledger
