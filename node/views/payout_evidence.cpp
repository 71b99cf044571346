// SPDX-License-Identifier: Apache-2.0
#include "node/views/payout_evidence.hpp"

#include <algorithm>

#include "contracts/rules/round/panel_rule.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::node {

namespace {

using contracts::LineKind;

std::string unit_name(const contracts::Job& job, std::uint32_t unit) {
    return program::RoundPlan(job.spec).is_finalise(unit) ? "finalise" : "segment " + std::to_string(unit);
}

std::optional<LogEntry> entry_at(const contracts::StateView& state, const contracts::Bytes& key) {
    const auto place = contracts::load<contracts::LogPlace>(state, key);
    if (!place) return std::nullopt;
    return LogEntry{place->height, place->transaction};
}

PayoutEvidence of_slot(const contracts::Job& job, const contracts::SlotRound& slot) {
    PayoutEvidence found;
    for (const std::uint32_t unit : slot.drawn_units) found.drawn.push_back(unit_name(job, unit));
    found.verifiers = slot.verifiers;
    if (!slot.committed) return found;
    found.committed_at = slot.committed_at;
    if (!slot.drawn_units.empty()) found.served = slot.served;
    if (slot.revealed && !slot.diverged) found.stored = slot.stored;
    if (!slot.fault_claimed.is_zero() || !slot.fault_found.is_zero()) {
        found.roots = RootPair{unit_name(job, slot.fault_unit), slot.fault_claimed, slot.fault_found};
    }
    return found;
}

/// A seal that stays closed tells nobody what it leaves out: its slots are all unopened, and none is silent.
std::optional<SealFacts> sealing_of(const contracts::StateView& state, const contracts::SettlementLine& line,
                                    contracts::Stage stage) {
    const auto posting = contracts::read_audit(state, line.job, line.round, stage, line.node);
    if (!posting) return std::nullopt;
    SealFacts facts{.called_at = posting->called_at};
    if (!posting->sealed) return facts;
    facts.sealed_at = posting->sealed_at;
    facts.seal = posting->seal;
    facts.opened = posting->opened;
    facts.left_out = posting->opened && line.reason == contracts::Reason::kAuditSilent;
    return facts;
}

PayoutEvidence of_audit(const contracts::StateView& state, const contracts::Job& job,
                        const contracts::SettlementLine& line, const contracts::SlotRound& slot) {
    PayoutEvidence found = of_slot(job, slot);
    found.committed_at.reset();
    found.stored.reset();
    const auto place = static_cast<std::size_t>(
        std::find(slot.verifiers.begin(), slot.verifiers.end(), line.node) - slot.verifiers.begin());
    const contracts::Stage stage = contracts::stage_of(place, slot);
    found.sealing = sealing_of(state, line, stage);
    found.opened = entry_at(state, contracts::audit_place_key(job.id, line.round, stage, line.node));
    return found;
}

PayoutEvidence of_merge(const contracts::Round& round, const contracts::MergePosting& posting) {
    MergeSupport support;
    support.slots = contracts::slots_in(posting.claim.slots).size();
    support.standing_slots = contracts::slots_in(round.result.slots).size();
    const auto add = [](base::Amount& to, base::Amount more) { to = to.plus(more).value_or(to); };
    for (const contracts::Judge& judge : round.judges) {
        add(support.locked, judge.weight);
        const bool alike =
            std::any_of(round.merges.begin(), round.merges.end(), [&](const contracts::MergePosting& other) {
                return other.verifier == judge.node && other.opened &&
                       other.claim.slots == posting.claim.slots &&
                       other.claim.base_root == posting.claim.base_root;
            });
        if (alike) add(support.attested, judge.weight);
    }
    PayoutEvidence found;
    found.merge = support;
    if (support.standing_slots > 0 && posting.claim.slots == round.result.slots &&
        posting.claim.base_root != round.result.base_root) {
        found.roots = RootPair{"the merged state", posting.claim.base_root, round.result.base_root};
    }
    return found;
}

std::string sentence(const SealFacts& facts) {
    if (!facts.sealed_at || !facts.seal)
        return "Sealed nothing, from height " + std::to_string(facts.called_at) +
               " until the seals of its stage closed.";
    const std::string sealed =
        "Sealed at height " + std::to_string(*facts.sealed_at) + " as " + facts.seal->hex();
    if (facts.left_out) return sealed + ": its opening names others of its slots, and not this one.";
    return sealed + (facts.opened ? "." : ", and never opened.");
}

}  // namespace

PayoutEvidence payout_evidence(const contracts::StateView& state, const contracts::Job& job,
                               const contracts::SettlementLine& line) {
    if (line.kind == LineKind::kSlot || line.kind == LineKind::kAudit) {
        const auto slot = contracts::read_slot(state, job.id, line.round, line.slot);
        if (!slot) return {};
        if (line.kind == LineKind::kAudit) return of_audit(state, job, line, *slot);
        PayoutEvidence found = of_slot(job, *slot);
        found.opened = entry_at(state, contracts::reveal_place_key(job.id, line.round, line.slot));
        return found;
    }
    const auto round = contracts::read_round(state, job.id, line.round);
    if (!round) return {};
    if (line.kind == LineKind::kLink) {
        PayoutEvidence found;
        for (const contracts::BeaconLink& link : round->links) {
            if (link.node == line.node) found.link = link.index;
        }
        return found;
    }
    for (const contracts::MergePosting& posting : round->merges) {
        if (posting.verifier != line.node || !posting.opened) continue;
        PayoutEvidence found = of_merge(*round, posting);
        found.opened = entry_at(state, contracts::merge_place_key(job.id, line.round, line.node));
        return found;
    }
    return {};
}

std::vector<std::string> sentences(const PayoutEvidence& evidence) {
    std::vector<std::string> said;
    if (evidence.committed_at) {
        said.push_back("Committed at height " + std::to_string(*evidence.committed_at) + ".");
    }
    if (!evidence.drawn.empty()) {
        std::string text = "Drawn:";
        for (const std::string& unit : evidence.drawn) {
            text += (&unit == evidence.drawn.data() ? " " : ", ") + unit;
        }
        for (const base::PublicKey& verifier : evidence.verifiers) {
            text += (&verifier == evidence.verifiers.data() ? "; verifiers " : ", ") + verifier.brief();
        }
        said.push_back(text + ".");
    }
    if (evidence.served) said.push_back(*evidence.served ? "Starts were served." : "No start was served.");
    if (evidence.sealing) said.push_back(sentence(*evidence.sealing));
    if (evidence.roots) {
        said.push_back("Root of " + evidence.roots->what + ": claimed " + evidence.roots->claimed.hex() +
                       ", found " + evidence.roots->found.hex() + ".");
    }
    if (evidence.stored) {
        said.push_back(*evidence.stored ? "More than half of the stake stored its bytes."
                                        : "Its bytes were not stored by more than half of the stake.");
    }
    if (evidence.merge) {
        said.push_back("The merge named " + std::to_string(evidence.merge->slots) +
                       " slots, the one that stands " + std::to_string(evidence.merge->standing_slots) +
                       "; " + base::to_text(evidence.merge->attested) + " of " +
                       base::to_text(evidence.merge->locked) + " locked stake opened it.");
    }
    if (evidence.link)
        said.push_back("Link " + std::to_string(*evidence.link) + " of its chain was not opened.");
    if (evidence.opened) {
        said.push_back("Opened at height " + std::to_string(evidence.opened->height) + " in transaction " +
                       evidence.opened->transaction.hex() + ".");
    }
    return said;
}

}  // namespace assay::node
