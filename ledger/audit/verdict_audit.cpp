// SPDX-License-Identifier: Apache-2.0
#include "ledger/audit/verdict_audit.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "contracts/program/round_law.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/rules/round/draws.hpp"
#include "contracts/rules/tables.hpp"
#include "ledger/audit/judge_audit.hpp"

namespace assay::ledger {

using contracts::Hash256;
using contracts::PublicKey;
using contracts::Reason;
using contracts::SlotRound;
using contracts::UnitClaim;

namespace {

const UnitClaim* claim_of(const DrawnAudit& audit, std::uint32_t unit) {
    const auto found = std::find_if(audit.claims.begin(), audit.claims.end(),
                                    [&](const UnitClaim& claim) { return claim.unit == unit; });
    return found == audit.claims.end() ? nullptr : &*found;
}

struct Verdict {
    Reason reason = Reason::kNone;
    std::uint32_t unit = 0;
    Hash256 claimed;
    Hash256 found;
};

// REQUIRES a well-formed reveal.
Verdict judge_again(const contracts::Job& job, const SlotEvidence& evidence) {
    bool open = false;
    bool computed = false;
    for (const std::uint32_t unit : evidence.slot.drawn_units) {
        const Hash256 claimed = program::unit_root(evidence.reveal->trace, job.spec, unit);
        const auto decided = evidence.decided(unit);
        if (decided && *decided != claimed) return {Reason::kMismatch, unit, claimed, *decided};
        if (decided) continue;
        open = true;
        // Whoever stayed silent did not say that it was served no bytes.
        computed = computed || evidence.audits.empty() ||
                   std::any_of(evidence.audits.begin(), evidence.audits.end(), [&](const DrawnAudit& audit) {
                       const UnitClaim* claim = claim_of(audit, unit);
                       return claim == nullptr || !claim->unavailable;
                   });
    }
    if (open) return {computed ? Reason::kUnresolved : Reason::kUnavailable, 0, {}, {}};
    const bool diverged = evidence.reveal->trace.divergence.has_value();
    return {diverged ? Reason::kPaidDiverged : Reason::kPaid, 0, {}, {}};
}

std::string quoted(Reason reason) { return std::string(contracts::to_text(reason)); }

// What the slot's round before left it to go on with; zero: nothing.
Hash256 handed_on(const SlotEvidence& evidence) {
    const bool accepted = evidence.before && evidence.before->verdict == Reason::kPaid;
    if (!accepted || !evidence.reveal_before || !evidence.reveal_before->trace.carried) return {};
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
    statement.segments = program::RoundPlan(job.spec).segments();
    statement.trace_root = program::trace_root(reveal.trace);
    statement.update_root = reveal.trace.update;
    statement.salt = reveal.salt;
    statement.carried = reveal.trace.carried;
    if (reveal.trace.carried && reveal.trace.carried->in != handed_on(evidence))
        return "reveal: the slot goes on with another state than its last accepted round handed on";
    if (contracts::commit_seal(chain, statement) != slot.seal)
        return "reveal: the trace is not the one that was sealed";
    if (slot.diverged != reveal.trace.divergence.has_value())
        return "reveal: the slot's divergence is not the trace's";
    return {};
}

void check_claims(const SlotEvidence& evidence, std::vector<std::string>& wrong) {
    for (const DrawnAudit& audit : evidence.audits) {
        if (!audit.opened) continue;
        const auto& units = evidence.slot.drawn_units;
        const bool same =
            std::equal(audit.claims.begin(), audit.claims.end(), units.begin(), units.end(),
                       [](const UnitClaim& claim, std::uint32_t unit) { return claim.unit == unit; });
        if (!same)
            wrong.push_back("audit: " + audit.verifier.brief() + " claims other units than those drawn");
    }
}

void check_fault(const SlotRound& slot, const Verdict& verdict, std::vector<std::string>& wrong) {
    if (slot.fault_unit != verdict.unit)
        wrong.push_back("verdict: the fault is recorded in unit " + std::to_string(slot.fault_unit) +
                        ", two recomputations show it in unit " + std::to_string(verdict.unit));
    if (slot.fault_claimed != verdict.claimed)
        wrong.push_back("verdict: the claimed root of the fault is recorded as " +
                        slot.fault_claimed.brief() + ", the revealed trace gives " + verdict.claimed.brief());
    if (slot.fault_found != verdict.found)
        wrong.push_back("verdict: the found root of the fault is recorded as " + slot.fault_found.brief() +
                        ", two recomputations give " + verdict.found.brief());
}

// What a slot without a reveal comes to.
Reason unrevealed(const SlotRound& slot) {
    if (!slot.assigned) return Reason::kNotAssigned;
    return slot.committed ? Reason::kSilentAfterDraw : Reason::kNoCommit;
}

// The unit in which the miner says its work ended; nothing for a trace that did not diverge.
std::optional<std::uint32_t> divergence_unit(const contracts::Job& job, const SlotEvidence& evidence) {
    if (!evidence.reveal || !evidence.reveal->trace.divergence) return std::nullopt;
    return program::RoundPlan(job.spec).unit_of(evidence.reveal->trace.divergence->step);
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

}  // namespace

const DrawnAudit* SlotEvidence::by(const PublicKey& verifier) const {
    const auto found = std::find_if(audits.begin(), audits.end(),
                                    [&](const DrawnAudit& audit) { return audit.verifier == verifier; });
    return found == audits.end() ? nullptr : &*found;
}

std::optional<Hash256> SlotEvidence::decided(std::uint32_t unit) const {
    std::map<Hash256, int> votes;
    for (const DrawnAudit& audit : audits) {
        const UnitClaim* claim = claim_of(audit, unit);
        if (claim != nullptr && !claim->unavailable && ++votes[claim->root] >= 2) return claim->root;
    }
    return std::nullopt;
}

bool SlotEvidence::proves(const DrawnAudit& audit) const {
    const UnitClaim* claim = claim_of(audit, slot.fault_unit);
    return claim != nullptr && !claim->unavailable && claim->root == slot.fault_found;
}

std::uint64_t SlotEvidence::provers() const {
    return static_cast<std::uint64_t>(
        std::count_if(audits.begin(), audits.end(), [&](const DrawnAudit& audit) { return proves(audit); }));
}

SlotEvidence gather_evidence(const contracts::StateView& state, const contracts::Job& job,
                             const contracts::Round& round, const SlotRound& slot) {
    SlotEvidence evidence;
    evidence.slot = slot;
    if (slot.revealed) evidence.reveal = contracts::read_reveal(state, job.id, round.number, slot.slot);
    if (program::carries_state(job.spec) && round.number > 0) {
        evidence.before = contracts::read_slot(state, job.id, round.number - 1, slot.slot);
        evidence.reveal_before = contracts::read_reveal(state, job.id, round.number - 1, slot.slot);
    }
    for (std::size_t i = 0; i < slot.verifiers.size(); ++i) {
        const auto stage = i < 2 ? contracts::Stage::kPair : contracts::Stage::kThird;
        DrawnAudit audit;
        audit.verifier = slot.verifiers[i];
        const auto posting = contracts::read_audit(state, job.id, round.number, stage, audit.verifier);
        audit.sealed = posting && posting->sealed;
        if (posting && posting->opened) {
            audit.opened = true;
            std::copy_if(posting->claims.begin(), posting->claims.end(), std::back_inserter(audit.claims),
                         [&](const UnitClaim& claim) { return claim.slot == slot.slot; });
        }
        evidence.audits.push_back(std::move(audit));
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
        check_claims(evidence, wrong);
        verdict = judge_again(job, evidence);
    } else {
        verdict.reason = unrevealed(slot);
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
    const auto claimed_end = divergence_unit(job, evidence);
    if (claimed_end && round.phase > contracts::RoundPhase::kReveal) {
        contracts::draw_divergence(drawn, plan, *claimed_end);
    }
    if (slot.drawn_units != drawn)
        wrong.push_back("draw: the drawn units are " + listed(slot.drawn_units) + ", the rule gives " +
                        listed(drawn));
    check_judges(job, slot, wrong);
    for (std::string& what : audit_drawn_judges(job, round, slot)) wrong.push_back(std::move(what));
    return wrong;
}

}  // namespace assay::ledger
