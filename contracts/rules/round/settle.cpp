// SPDX-License-Identifier: Apache-2.0
// The end of a round: every payment, every loss, and a line for each with its reason.
#include <algorithm>
#include <map>
#include <set>

#include "contracts/rules/claim/claims.hpp"
#include "contracts/rules/identity/money.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/job/roster.hpp"
#include "contracts/rules/job/standing.hpp"
#include "contracts/rules/market/measure.hpp"
#include "contracts/rules/round/clocks.hpp"
#include "contracts/rules/round/credit.hpp"
#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/round/merge.hpp"
#include "contracts/rules/round/prices.hpp"
#include "contracts/rules/round/seal_window.hpp"
#include "contracts/rules/round/words.hpp"
#include "contracts/rules/round/worth.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

using base::Rounding;

void add_line(RunningRound& running, SettlementLine line) {
    line.job = running.job.id;
    line.round = running.round.number;
    running.work.tell({.kind = EventKind::kSettled,
                       .job = line.job,
                       .round = line.round,
                       .slot = line.slot,
                       .node = line.node,
                       .reason = line.reason,
                       .amount = line.paid,
                       .number = static_cast<std::uint64_t>(line.kind)});
    if (!line.lost.is_zero()) {
        running.work.tell({.kind = EventKind::kLost,
                           .job = line.job,
                           .round = line.round,
                           .slot = line.slot,
                           .node = line.node,
                           .reason = line.reason,
                           .amount = line.lost});
    }
    store(running.work.state, settlement_key(line.job, line.round, running.round.lines++), line);
}

Amount take_from_bond(RunningRound& running, EnlistedVerifier& verifier, Amount penalty, Amount Supply::*to) {
    State& state = running.work.state;
    const Amount taken = smaller(penalty, verifier.bond);
    if (!taken.is_zero()) take_bonded(state, verifier.node, taken, to);
    verifier.bond = difference(verifier.bond, taken);
    const Job& job = running.job;
    const auto next = dearest_penalty(running.params, job.spec, price_at_most(job), job.slot_work);
    ASSAY_CHECK(next.has_value());  // its bond was checked at the cap
    verifier.dropped = verifier.dropped || verifier.bond < *next;
    Verifier record = *read_verifier(state, verifier.node);
    record.penalised = saturating_sum(record.penalised, taken);
    store(state, verifier_key(verifier.node), record);
    return taken;
}

namespace {

struct Settlement {
    RunningRound& running;
    RoundPrices prices;
    RoundPostings postings;
    /// Each verifier of which something was awaited: whether it is missing.
    std::map<PublicKey, bool> absences;
    /// Each drawn verifier's work units that were found right; nothing once one of its audits was not.
    std::map<PublicKey, std::optional<std::uint64_t>> audited;
    std::map<PublicKey, std::uint64_t> accusations;  ///< how many each verifier has in the round so far
    std::set<PublicKey> disgraced;                   ///< miners that this round makes newcomers again
    std::set<PublicKey> credited;     ///< miners with a slot found right that keep their standing
    std::vector<Claim> merge_claims;  ///< of each of Round::merges, closed and without a bond

    State& state() { return running.work.state; }
    Job& job() { return running.job; }
    Amount price() const { return prices.highest; }
    Amount price_of(const SlotRound& slot) const { return prices.slots.at(slot.slot); }
};

EnlistedVerifier& enlisted(Settlement& s, const PublicKey& node) { return enlisted_verifier(s.job(), node); }

void pay_from_escrow(Settlement& s, const PublicKey& owner, Amount amount) {
    s.job().escrow = difference(s.job().escrow, amount);
    s.job().spent = saturating_sum(s.job().spent, amount);
    pay_balance(s.state(), owner, amount, &Supply::escrow);
}

/// What a claim held goes back into the escrow.
void return_held(Settlement& s, Claim& claim) {
    s.job().escrow = sum(s.job().escrow, claim.held);
    claim.held = {};
}

/// What is left of a closed claim is its owner's: at once, or when its window is over. One that says
/// something stays for its window whatever it holds.
void fulfil(Settlement& s, ClaimKind kind, std::uint32_t number, const Claim& claim, bool stands = false) {
    s.job().spent = saturating_sum(s.job().spent, claim.held);
    const bool nothing = !stands && claim.held.is_zero() && claim.bond.is_zero() && claim.accusations.empty();
    if (claim.window > 0 && !nothing)
        return keep_open(s.running.work, {s.job().id, s.running.round.number, kind, number}, claim);
    if (!claim.bond.is_zero()) unlock_stake(s.state(), claim.node, claim.bond);
    pay_balance(s.state(), claim.owner, claim.held, &Supply::escrow);
}

/// A verifier's fee: first from the audited newcomer's own registration fee, then from escrow. The newcomer
/// pays by the price of its own slot: another's dear one would use up what it has paid in.
void pay_fee(Settlement& s, const SlotRound& slot, SettlementLine& line, Amount fee) {
    if (slot.newcomer) {
        Miner miner = *read_miner(s.state(), slot.miner);
        const Amount own = required(audit_fee(s.running.params, s.price_of(slot), line.work_units));
        line.from_prepaid = smaller(smaller(own, fee), miner.prepaid);
        miner.prepaid = difference(miner.prepaid, line.from_prepaid);
        store(s.state(), miner_key(slot.miner), miner);
        pay_balance(s.state(), line.owner, line.from_prepaid, &Supply::prepaid);
    }
    line.from_escrow = difference(fee, line.from_prepaid);
    pay_from_escrow(s, line.owner, line.from_escrow);
    line.paid = fee;
}

void record_earning(Settlement& s, const PublicKey& node, std::uint64_t units, Amount amount) {
    Verifier record = *read_verifier(s.state(), node);
    record.audited_units = saturating_sum(record.audited_units, units);
    record.earned = saturating_sum(record.earned, amount);
    store(s.state(), verifier_key(node), record);
}

/// Takes what the verdict costs out of the slot's bond.
void forfeit(Settlement& s, const SlotRound& slot, SettlementLine& line) {
    const BondLoss loss = bond_loss(s.running.params, slot.verdict, slot.bond);
    line.lost = loss.lost;
    line.lost_to_buyer = loss.to_buyer;
    line.lost_burned = difference(loss.lost, loss.to_buyer);
    if (loss.lost.is_zero()) return;
    take_bonded(s.state(), slot.miner, line.lost_burned, &Supply::burned);
    if (!loss.to_buyer.is_zero()) {
        take_bonded(s.state(), slot.miner, loss.to_buyer, &Supply::balances);
        pay_balance(s.state(), s.job().buyer, loss.to_buyer, &Supply::balances);
    }
    Miner miner = *read_miner(s.state(), slot.miner);
    miner.forfeited = saturating_sum(miner.forfeited, loss.lost);
    store(s.state(), miner_key(slot.miner), miner);
}

/// Before anything is credited: no other slot of the same round carries a miner over what it lost here.
void take_standing(Settlement& s) {
    for (const SlotRound& slot : s.running.slots) {
        if (!slot.assigned || consequence(slot.verdict) != Consequence::kForfeit) continue;
        if (!s.disgraced.insert(slot.miner).second) continue;
        lose_standing(s.state(), slot.miner);
    }
}

/// A slot found right is work towards the end of probation, unless another slot of this round lost the miner
/// its standing.
void credit_miner(Settlement& s, const SlotRound& slot, Claim& claim) {
    if (slot.verdict == Reason::kPaidAccused) {  // it is work found right once all who accuse it have lost
        if (!s.disgraced.contains(slot.miner) && !slot.diverged)
            claim.standing_at = required(read_miner(s.state(), slot.miner)).losses;
        return;
    }
    note_earned(s.state(), slot.miner, claim.held);
    // A divergence ends the work early: it is paid, and proves little.
    if (s.disgraced.contains(slot.miner) || slot.verdict != Reason::kPaid) return;
    credit_work(s.state(), slot.miner, s.job());
    s.credited.insert(slot.miner);
}

/// What is left of a miner's fee comes back at the end of a probation, after the audits of its last round
/// were paid from it.
void refund_fees(Settlement& s) {
    for (const PublicKey& node : s.credited) refund_fee(s.state(), s.running.params, node, s.job());
}

/// The miner's line.
void settle_slot(Settlement& s, const SlotRound& slot, Claim claim, Amount replays) {
    SettlementLine line;
    line.kind = LineKind::kSlot;
    line.slot = slot.slot;
    line.node = slot.miner;
    line.owner = slot.owner;
    line.reason = slot.verdict;
    line.work_units = s.job().slot_work;
    line.price = s.price_of(slot);
    line.replays = replays;
    claim.held = difference(claim.held, replays);
    forfeit(s, slot, line);
    claim.bond = difference(claim.bond, line.lost);
    if (consequence(slot.verdict) == Consequence::kForfeit) {
        drop(s.running.work, s.job(), roster_entry(s.job(), slot.miner), slot.verdict,
             s.running.round.number);
    }
    if (consequence(slot.verdict) == Consequence::kPaid) {
        line.paid = line.from_escrow = claim.held;
        credit_miner(s, slot, claim);
    } else {
        return_held(s, claim);
    }
    if (slot.verdict == Reason::kPaidAccused && !slot.diverged) claim.kept_out = claim.held;
    // Without a commit it says nothing that could be challenged.
    if (!slot.committed) claim.window = 0;
    fulfil(s, ClaimKind::kSlot, slot.slot, claim);
    add_line(s.running, std::move(line));
}

/// The line of a slot that nobody held.
void pass_over(Settlement& s, const SlotRound& slot) {
    SettlementLine line;
    line.kind = LineKind::kSlot;
    line.slot = slot.slot;
    line.reason = slot.verdict;
    line.work_units = s.job().slot_work;
    line.price = s.price_of(slot);
    add_line(s.running, std::move(line));
}

/// Burns a penalty for a word that is missing or was kept back. It pays nobody: silence can be brought about
/// by whoever orders blocks.
void penalise(Settlement& s, SettlementLine& line, Amount penalty) {
    line.lost = take_from_bond(s.running, enlisted(s, line.node), penalty, &Supply::burned);
    line.lost_burned = line.lost;
}

/// What an accuser's audit costs, if its word is right.
Amount fee_of(const Settlement& s, const AuditWorth& worth) {
    return required(audit_fee(s.running.params, s.price(), worth.work));
}

void settle_audit(Settlement& s, const SlotRound& slot, const SlotAudit& audit, const AuditWorth& worth) {
    bool& absent = s.absences[audit.verifier];
    absent = absent || !audit.opened;
    auto& audited = s.audited.try_emplace(audit.verifier, 0).first->second;
    if (worth.reason != Reason::kPaidAudit) audited.reset();
    if (audited) *audited = saturating_sum(*audited, saturating_sum(worth.work, worth.replay));
    SettlementLine line;
    line.kind = LineKind::kAudit;
    line.slot = slot.slot;
    line.node = audit.verifier;
    line.owner = enlisted(s, audit.verifier).owner;
    line.reason = worth.reason;
    line.work_units = worth.work;
    line.price = s.price();
    if (worth.reason == Reason::kPaidAudit) {
        pay_fee(s, slot, line, fee_of(s, worth));
        line.from_slot = worth.from_slot;
        s.job().spent = saturating_sum(s.job().spent, line.from_slot);
        pay_balance(s.state(), line.owner, line.from_slot, &Supply::escrow);
        line.paid = sum(line.paid, line.from_slot);
        record_earning(s, audit.verifier, worth.units, line.paid);
    } else if (consequence(worth.reason) == Consequence::kPenalty) {
        // As much as an accusation that is lost: a word that was not computed is no cheaper kept closed.
        penalise(s, line, required(accusation_stake(s.running.params, s.price(), s.job().slot_work)));
    }
    add_line(s.running, std::move(line));
}

/// What the drawn verifiers of a slot say against it, each with what its audit costs.
std::vector<Accusation> slot_accusations(const Settlement& s, const SlotRound& slot,
                                         const std::vector<SlotAudit>& audits,
                                         const std::vector<AuditWorth>& worths) {
    if (!slot.revealed) return {};
    const RunningRound& running = s.running;
    const auto reveal = read_reveal(running.work.state, running.job.id, running.round.number, slot.slot);
    auto accusations = accusations_of(required(reveal).trace, running.job.spec, audits);
    for (Accusation& accusation : accusations) {
        for (std::size_t i = 0; i < audits.size(); ++i)
            if (audits[i].verifier == accusation.verifier) accusation.fee = fee_of(s, worths[i]);
    }
    return accusations;
}

/// Whether no loss of an accusation could cost the verifier what it has to cover.
bool has_nothing_to_lose(Settlement& s, const PublicKey& verifier) {
    const auto next =
        dearest_penalty(s.running.params, s.job().spec, price_at_most(s.job()), s.job().slot_work);
    return enlisted(s, verifier).bond < *next;
}

/// Whoever accuses the claim has time to open its game, and as much more for each slot that it accuses before
/// this one; what its audit costs is due if the claim dies. All accusations of one that has nothing to lose
/// share a clock: they would keep slots waiting for nothing.
void note_accusations(Settlement& s, std::vector<Accusation> accusations, Claim& claim) {
    claim.accusations = std::move(accusations);
    if (claim.accusations.empty()) return;
    std::uint64_t place = 1;
    for (const Accusation& accusation : claim.accusations)
        if (!has_nothing_to_lose(s, accusation.verifier))
            place = std::max(place, ++s.accusations[accusation.verifier]);
    const std::uint64_t window =
        accusing_window(s.running.params, s.job(), s.running.round, s.running.slots, place);
    claim.accuse_by = later(s.running.work.block.height, window);
    claim.window = std::max(claim.window, window);
    for (Accusation& accusation : claim.accusations) {
        accusation.fee = set_aside(s.job(), accusation.fee);
        s.job().spent = saturating_sum(s.job().spent, accusation.fee);
    }
}

/// The lines of a slot and of its audits.
void settle_claim(Settlement& s, const SlotRound& slot) {
    if (!slot.assigned) return pass_over(s, slot);
    Claim claim = close_claim(s.state(), {s.job().id, s.running.round.number, ClaimKind::kSlot, slot.slot});
    const auto audits = audits_of(s.postings, slot);
    const auto worths = weigh_audits(s.running, slot, audits, claim.held);
    note_accusations(s, slot_accusations(s, slot, audits, worths), claim);
    Amount replays;
    for (const AuditWorth& worth : worths) replays = sum(replays, worth.from_slot);
    settle_slot(s, slot, claim, replays);
    for (std::size_t i = 0; i < audits.size(); ++i) settle_audit(s, slot, audits[i], worths[i]);
}

/// Whoever has a say about a slot that is not stored, and posted no bitmap, is missing. Nobody has one about
/// work of its own owner.
void note_storage(Settlement& s) {
    const Round& round = s.running.round;
    for (const Judge& judge : round.judges) {
        const bool waited_for =
            std::any_of(s.running.slots.begin(), s.running.slots.end(), [&](const SlotRound& slot) {
                return slot.revealed && !slot.diverged && !slot.stored &&
                       slot.owner != enlisted(s, judge.node).owner;
            });
        if (!waited_for) continue;
        bool& absent = s.absences[judge.node];
        absent = absent || !read_storage(s.state(), round.job, round.number, judge.node);
    }
}

/// The bonds of the merge stand behind every word of the round again before any penalty is taken.
void close_merge_claims(Settlement& s) {
    const Round& round = s.running.round;
    for (std::uint32_t place = 0; place < round.merges.size(); ++place) {
        Claim claim = close_claim(s.state(), {s.job().id, round.number, ClaimKind::kMerge, place});
        EnlistedVerifier& verifier = enlisted(s, claim.node);
        verifier.bond = sum(verifier.bond, claim.bond);
        claim.bond = {};
        s.merge_claims.push_back(claim);
    }
}

// Only where moments are carried: what each merged slot goes on with in the next round. One whose update no
// merge took starts from zero: its moments belong to parameters that the job does not have.
void hand_on(Settlement& s) {
    const Round& round = s.running.round;
    for (const std::uint32_t number : round.merged_slots) {
        const auto reveal = read_reveal(s.state(), round.job, round.number, number);
        if (!reveal || !reveal->trace.carried) continue;
        const CarriedIn handed{reveal->trace.carried->out, reveal->carried_blob,
                               s.running.slots[number].miner};
        store(s.running.work.state, handed_on_key(round.job, round.number, number), handed);
    }
}

void settle_merge(Settlement& s) {
    Round& round = s.running.round;
    const auto standing = standing_merge(round);
    for (std::uint32_t place = 0; place < round.merges.size(); ++place) {
        const MergePosting& posting = round.merges[place];
        Claim& claim = s.merge_claims[place];
        bool& absent = s.absences[posting.verifier];
        absent = absent || !posting.opened;
        SettlementLine line;
        line.kind = LineKind::kMerge;
        line.node = posting.verifier;
        line.owner = enlisted(s, posting.verifier).owner;
        line.price = s.price();
        line.reason = merge_reason(round, standing, posting);
        if (line.reason == Reason::kPaidMerge) {
            claim.held = set_aside(s.job(), merge_fee(s.running.params, s.price(), s.job().slot_work));
            line.paid = line.from_escrow = claim.held;
            record_earning(s, posting.verifier, 0, line.paid);
            note_accusations(s, merge_accusations(round, *standing), claim);
        }
        fulfil(s, ClaimKind::kMerge, place, claim, line.reason == Reason::kPaidMerge);
        if (consequence(line.reason) == Consequence::kPenalty) {
            penalise(s, line, word_penalty(s.running.params, largest_bond(s.running.slots)));
        }
        add_line(s.running, std::move(line));
    }
    if (!standing) return;
    round.result = *standing;
    if (standing->diverged()) return;
    round.merged = true;
    round.merged_slots = slots_in(standing->slots);
    hand_on(s);
    const AuditedLoss loss =
        audited_loss(s.state(), s.job().id, s.job().spec, round.number, round.merged_slots);
    round.train_loss = loss.bits;
    round.train_steps = loss.steps;
    s.job().base_root = standing->base_root;
    s.job().base_blob = standing->base_blob;
    ++s.job().rounds_done;
    s.running.work.tell({.kind = EventKind::kMerged,
                         .job = s.job().id,
                         .round = round.number,
                         .number = round.merged_slots.size()});
}

/// An absence weighs as much as two rounds of attendance: whoever stays away every second round, and has all
/// others wait for a window to end, pays for it and is dropped as well.
void note_round(std::uint32_t& missed, bool absent) {
    if (absent) {
        missed += kAbsenceWeight;
    } else if (missed > 0) {
        --missed;
    }
}
bool is_gone(std::uint32_t missed, const Params& params) {
    return missed >= kAbsenceWeight * params.max_missed;
}

/// Measured speed of each verifier whose audits of the round were all found right.
void measure_verifiers(Settlement& s) {
    const Round& round = s.running.round;
    std::map<PublicKey, std::uint64_t> heights;
    for (const AuditPosting& posting : list_audits(s.state(), round.job, round.number)) {
        if (posting.opened) heights[posting.verifier] += posting.sealed_at - posting.called_at;
    }
    for (const auto& [node, work] : s.audited) {
        if (!work) continue;
        remember_speed(enlisted(s, node).speeds, s.running.params, measured_speed(*work, heights[node]));
    }
}

/// Measured speed and attendance of each miner that held a slot.
void measure(Settlement& s) {
    struct Tally {
        std::uint32_t held = 0;
        std::uint32_t right = 0;
        bool missed = false;
        std::uint64_t last_commit = 0;
    };
    std::map<PublicKey, Tally> tallies;
    for (const SlotRound& slot : s.running.slots) {
        if (!slot.assigned) continue;
        Tally& tally = tallies[slot.miner];
        ++tally.held;
        if (slot.verdict == Reason::kPaid || slot.verdict == Reason::kPaidDiverged) ++tally.right;
        tally.missed = tally.missed || is_missed(s.state(), s.job(), s.running.round.number, slot);
        tally.last_commit = std::max(tally.last_commit, slot.committed_at);
    }
    const Params& params = s.running.params;
    for (const auto& [node, tally] : tallies) {
        RosterEntry& entry = roster_entry(s.job(), node);
        note_round(entry.missed, tally.missed);
        if (is_gone(entry.missed, params))
            drop(s.running.work, s.job(), entry, Reason::kDropped, s.running.round.number);
        if (tally.right < tally.held) continue;
        // Only work found right counts, and only for the time that heights show.
        const base::Uint128 work = base::Uint128{s.job().slot_work} * tally.right;
        const std::uint64_t heights = tally.last_commit - s.running.round.started_at;
        remember_speed(entry.speeds, params, measured_speed(work, heights));
        // Nobody's own job measures its machines: its buyer knows the work before it is dealt.
        if (!is_of_buyer(s.state(), s.job(), entry.owner))
            note_speed(s.state(), node, s.job().spec.profile, work, heights);
    }
}

void note_attendance(Settlement& s) {
    for (const auto& [node, absent] : s.absences) {
        EnlistedVerifier& verifier = enlisted(s, node);
        note_round(verifier.missed, absent);
        if (!is_gone(verifier.missed, s.running.params) || verifier.dropped) continue;
        verifier.dropped = true;
        s.running.work.tell({.kind = EventKind::kDropped,
                             .job = s.job().id,
                             .round = s.running.round.number,
                             .node = node,
                             .reason = Reason::kDropped});
    }
}

}  // namespace

void settle(RunningRound& running) {
    Settlement s{.running = running,
                 .prices = prices_of_round(running.work.state, running.job, running.round.number),
                 .postings = postings_of(running)};
    close_merge_claims(s);
    take_standing(s);
    for (const SlotRound& slot : running.slots) settle_claim(s, slot);
    note_storage(s);
    refund_fees(s);
    settle_merge(s);
    measure(s);
    measure_verifiers(s);
    note_attendance(s);
}

}  // namespace assay::contracts
