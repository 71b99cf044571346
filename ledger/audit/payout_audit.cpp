// SPDX-License-Identifier: Apache-2.0
// On purpose nothing of contracts/rules' costs, verdicts or settlement is called here: a second opinion that
// shares the code of the first is none. The pure functions of draws, seals and auction are the rules' text.
#include "ledger/audit/payout_audit.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "contracts/rules/round/panel_rule.hpp"
#include "contracts/rules/tables.hpp"
#include "ledger/audit/draw_audit.hpp"
#include "ledger/audit/game_audit.hpp"
#include "ledger/audit/judge_audit.hpp"
#include "ledger/audit/payout_amounts.hpp"
#include "ledger/audit/price_audit.hpp"
#include "ledger/audit/settlement_audit.hpp"
#include "ledger/audit/storage_audit.hpp"
#include "ledger/audit/verdict_audit.hpp"

namespace assay::ledger {

namespace {

using contracts::Job;
using contracts::LineKind;
using contracts::Reason;
using contracts::SettlementLine;
using contracts::SlotRound;

std::string place_of(const Job& job, std::uint32_t round) {
    return "job " + job.id.brief() + " round " + std::to_string(round);
}

std::string place_of(const Job& job, std::uint32_t round, std::uint32_t slot) {
    return place_of(job, round) + " slot " + std::to_string(slot);
}

class RoundAudit {
public:
    RoundAudit(const contracts::StateView& state, const Job& job, const contracts::Params& params,
               const contracts::Round& round, LockedStake& locked, Attendance& attendance, JobPayouts& sums,
               PayoutReport& report)
        : state_(state),
          job_(job),
          round_(round),
          params_(params),
          locked_(locked),
          attendance_(attendance),
          sums_(sums),
          report_(report),
          lines_(contracts::list_settlement(state, job.id, round.number)),
          prices_(find_prices(state, job, round.number)) {
        for (const SlotRound& slot : contracts::list_slots(state, job.id, round.number))
            slots_.emplace(slot.slot, gather_evidence(state, job, round, slot));
        attendance.begin(slots_);
        for (auto& [number, evidence] : slots_)
            evidence.absent_before = attendance.absent_before(evidence.slot.miner);
    }

    /// Before anything is taken for what happened in the round.
    void check_judges() {
        report(place_of(job_, round_.number), audit_judges(state_, job_, round_, locked_));
    }

    void run() {
        const bool settled = round_.phase == contracts::RoundPhase::kSettled;
        const bool drawn = round_.phase > contracts::RoundPhase::kBeacon;
        const std::string chain = contracts::read_meta(state_).chain_id;
        const std::string whole = place_of(job_, round_.number);
        report(whole, audit_prices(state_, job_, round_));
        if (round_.phase >= contracts::RoundPhase::kStore) report(whole, audit_bitmaps(state_, job_, round_));
        for (const auto& [number, slot] : slots_) {
            const std::string place = place_of(job_, round_.number, number);
            if (drawn) report(place, audit_draw(job_, round_, slot));
            if (settled) report(place, audit_verdict(chain, job_, round_, slot));
        }
        for (std::size_t at = 0; at < lines_.size(); ++at) check(at, lines_[at]);
        if (settled) {
            report(audit_completeness(round_, slots_, lines_));
            report(audit_mergers(round_, slots_));
            report(audit_merge(job_, round_, slots_, is_unmerged_before(state_, job_, round_.number)));
        }
        attendance_.note(slots_);
        sums_.lines += lines_.size();
        report_.lines += lines_.size();
    }

private:
    void report(const std::string& place, const std::vector<std::string>& failures) {
        for (const std::string& what : failures) report_.failures.push_back({place, what, 0, job_.id});
    }
    void report(const std::vector<SlotFailure>& failures) {
        for (const SlotFailure& one : failures) {
            report(one.slot ? place_of(job_, round_.number, *one.slot) : place_of(job_, round_.number),
                   std::vector{one.what});
        }
    }
    // About a line. The rule is the kind of its line.
    void wrong(std::size_t at, const std::string& what) {
        const SettlementLine& line = lines_[at];
        const bool of_slot = line.kind == LineKind::kSlot || line.kind == LineKind::kAudit;
        const std::string place =
            of_slot ? place_of(job_, round_.number, line.slot) : place_of(job_, round_.number);
        report(place + " line " + std::to_string(at),
               std::vector{std::string(contracts::to_text(line.kind)) + " payment: " + what});
    }
    void expect(std::size_t at, const char* what, std::uint64_t found, std::uint64_t expected) {
        if (found == expected) return;
        wrong(at, std::string(what) + " is " + std::to_string(found) + ", the rule gives " +
                      std::to_string(expected));
    }
    void expect_reason(std::size_t at, Reason found, Reason expected) {
        if (found == expected) return;
        wrong(at, "its reason is " + std::string(contracts::to_text(found)) + ", the records show " +
                      std::string(contracts::to_text(expected)));
    }

    void check(std::size_t at, const SettlementLine& line) {
        if (line.job != job_.id || line.round != round_.number) wrong(at, "belongs to another round");
        expect(at, "what was paid", line.paid.units(),
               line.from_escrow.units() + line.from_prepaid.units() + line.from_slot.units());
        if (line.kind != LineKind::kAudit)
            expect(at, "the part from a slot's pay", line.from_slot.units(), 0);
        if (line.kind != LineKind::kSlot) expect(at, "what replays cost", line.replays.units(), 0);
        expect(at, "what was lost", line.lost.units(),
               line.lost_to_buyer.units() + line.lost_to_escrow.units() + line.lost_burned.units());
        const contracts::Amount price = line.kind == LineKind::kSlot ? prices_.of(line.slot) : prices_.round;
        if (line.kind != LineKind::kLink) expect(at, "the price", line.price.units(), price.units());
        switch (line.kind) {
            case LineKind::kSlot: check_slot(at, line); break;
            case LineKind::kAudit: check_audit(at, line); break;
            case LineKind::kMerge: check_merge(at, line); break;
            case LineKind::kLink: check_link(at, line); break;
        }
        sums_.returned += line.lost_to_escrow.units();
        sums_.prepaid += line.from_prepaid.units();
        sums_.forfeited += line.lost.units();
        (line.kind == LineKind::kSlot ? sums_.to_miners : sums_.to_verifiers) +=
            line.from_escrow.units() + line.from_slot.units();
    }

    void check_slot(std::size_t at, const SettlementLine& line) {
        const auto found = slots_.find(line.slot);
        if (found == slots_.end()) return wrong(at, "there is no such slot");
        const SlotRound& slot = found->second.slot;
        if (line.node != slot.miner || line.owner != slot.owner) wrong(at, "is not the slot's miner's");
        // That the verdict itself is right: audit_verdict.
        expect_reason(at, line.reason, slot.verdict);
        expect(at, "the work units", line.work_units, job_.slot_work);
        const auto consequence = contracts::consequence(line.reason);
        const bool paid = slot.assigned && consequence == contracts::Consequence::kPaid;
        const bool forfeit = slot.assigned && consequence == contracts::Consequence::kForfeit;
        std::uint64_t replays = 0;
        for (const Worth& worth : worths_of(found->second)) replays += worth.from_slot;
        expect(at, "what replays cost", line.replays.units(), replays);
        expect(at, "the slot's pay", line.paid.units(), paid ? pay_at(prices_.of(line.slot)) - replays : 0);
        expect(at, "the part from the registration fee", line.from_prepaid.units(), 0);
        expect(at, "the bond", slot.bond.units(),
               slot.assigned ? bond_of(params_, job_, prices_.of(line.slot), slot) : 0);
        const bool again = slot.assigned && line.reason == Reason::kNoCommitAgain;
        expect(at, "the lost bond", line.lost.units(),
               forfeit ? slot.bond.units()
               : again ? part_up(slot.bond.units(), params_.no_commit_ppm)
                       : 0);
        // What absence costs goes to nobody.
        expect(at, "the buyer's part", line.lost_to_buyer.units(),
               again ? 0 : share(line.lost.units(), params_.forfeit_buyer_ppm, kMillion));
        expect(at, "the part to the escrow", line.lost_to_escrow.units(), 0);
    }

    struct Worth {
        Reason reason = Reason::kAuditUndecided;
        std::uint64_t work = 0;
        std::uint64_t replay = 0;  // of units that were not drawn
        std::uint64_t from_slot = 0;
    };
    // Against the revealed trace; where there is none, units that a second verifier computed alike.
    [[nodiscard]] Worth worth_of(const SlotEvidence& evidence, const DrawnAudit& mine) const {
        if (!mine.opened)
            return {mine.sealed && !mine.left_out ? Reason::kAuditUnopened : Reason::kAuditSilent};
        Worth worth;
        if (evidence.reveal) {
            // Whether its word was right a game says.
            for (const auto& [unit, root] : mine.roots)
                (evidence.is_drawn(unit) ? worth.work : worth.replay) += work_of(job_, unit);
            worth.reason = evidence.accused(job_, mine) ? Reason::kAuditAccuses : Reason::kPaidAudit;
            return worth;
        }
        for (const auto& [unit, root] : mine.roots) {
            if (!evidence.is_confirmed(unit, root)) continue;
            (evidence.is_drawn(unit) ? worth.work : worth.replay) += work_of(job_, unit);
            worth.reason = Reason::kPaidAudit;
        }
        return worth;
    }
    [[nodiscard]] std::uint64_t pay_at(contracts::Amount price) const {
        return share(price.units(), job_.slot_work, 1);
    }
    // In the order of the audits: the slot's pay goes to the first replays first, at cost, and only where
    // everybody who opened had to replay; if the miner opened its starts, everybody who was drawn.
    [[nodiscard]] std::vector<Worth> worths_of(const SlotEvidence& evidence) const {
        std::vector<Worth> worths;
        bool nobody_served = true;
        std::size_t openers = 0;
        for (const DrawnAudit& audit : evidence.audits) {
            worths.push_back(worth_of(evidence, audit));
            if (!audit.opened) continue;
            ++openers;
            if (!audit.replayed()) nobody_served = false;
        }
        if (evidence.slot.served && openers < evidence.audits.size()) nobody_served = false;
        const contracts::Amount price = prices_.of(evidence.slot.slot);
        std::uint64_t left = pay_at(price);
        for (Worth& worth : worths) {
            if (!nobody_served || worth.reason != Reason::kPaidAudit) continue;
            worth.from_slot = std::min(left, share(price.units(), worth.replay, 1));
            left -= worth.from_slot;
        }
        return worths;
    }

    void check_audit(std::size_t at, const SettlementLine& line) {
        const auto found = slots_.find(line.slot);
        if (found == slots_.end()) return wrong(at, "there is no such slot");
        const SlotEvidence& evidence = found->second;
        const DrawnAudit* mine = evidence.by(line.node);
        if (mine == nullptr) return wrong(at, "names a verifier that had nothing to audit");
        check_receiver(at, line);
        const Worth worth = worths_of(evidence)[static_cast<std::size_t>(mine - evidence.audits.data())];
        expect_reason(at, line.reason, worth.reason);
        expect(at, "the work units", line.work_units, worth.work);
        expect(at, "the part from the slot's pay", line.from_slot.units(), worth.from_slot);
        const bool right = worth.reason == Reason::kPaidAudit;
        expect(at, "the audit fee", line.paid.units(),
               right ? audit_fee_of(params_, prices_.round, worth.work) + worth.from_slot : 0);
        const std::uint64_t own = audit_fee_of(params_, prices_.of(line.slot), worth.work);
        const std::uint64_t most = right && evidence.slot.newcomer ? own : 0;
        if (line.from_prepaid.units() > most)
            expect(at, "the part from a newcomer's fee", line.from_prepaid.units(), most);
        check_penalty(at, line, accusation_of(params_, job_, prices_.round));
        expect(at, "the burned penalty", line.lost_burned.units(), line.lost.units());
    }

    // A missing audit, and an audit or merge that was not opened, costs the penalty, as far as stake is left.
    void check_penalty(std::size_t at, const SettlementLine& line, std::uint64_t penalty) {
        const bool penalised = contracts::consequence(line.reason) == contracts::Consequence::kPenalty;
        expect(at, "the penalty", line.lost.units(), penalised ? locked_.take(line.node, penalty) : 0);
    }

    // A verifier's fee goes to the owner under which it enlisted.
    void check_receiver(std::size_t at, const SettlementLine& line) {
        const auto enlisted = std::find_if(job_.verifiers.begin(), job_.verifiers.end(),
                                           [&](const auto& verifier) { return verifier.node == line.node; });
        if (enlisted == job_.verifiers.end() || enlisted->owner != line.owner)
            wrong(at, "its receiver is not the enlisted verifier's owner");
    }

    void check_merge(std::size_t at, const SettlementLine& line) {
        const auto posting = std::find_if(round_.merges.begin(), round_.merges.end(),
                                          [&](const auto& one) { return one.verifier == line.node; });
        if (posting == round_.merges.end()) return wrong(at, "is of nobody who could merge");
        check_receiver(at, line);
        const Reason reason = judge_merges(round_).reason_of(*posting);
        const bool right = reason == Reason::kPaidMerge;
        expect_reason(at, line.reason, reason);
        expect(at, "the merge fee", line.paid.units(),
               right ? share(pay_at(prices_.round), params_.merge_fee_ppm, kMillion) : 0);
        expect(at, "the part from a registration fee", line.from_prepaid.units(), 0);
        std::uint64_t dearest = 0;
        for (const auto& [number, evidence] : slots_) dearest = std::max(dearest, evidence.slot.bond.units());
        check_penalty(at, line, penalty_of(params_, dearest));
        expect(at, "the burned penalty", line.lost_burned.units(), line.lost.units());
    }

    void check_link(std::size_t at, const SettlementLine& line) {
        expect(at, "what a withheld link is paid", line.paid.units(), 0);
        if (line.reason != Reason::kLinkWithheld) wrong(at, "its reason is not a withheld link");
        expect(at, "the link bond", line.lost.units(), link_bond_of(params_, job_));
        if (!rate_one_left_)
            rate_one_left_ = cost_of_rate_one(params_, job_, round_, prices_.round, slots_, lines_);
        const std::uint64_t paid = std::min(*rate_one_left_, line.lost.units());
        *rate_one_left_ -= paid;
        expect(at, "the part to the escrow", line.lost_to_escrow.units(), paid);
        expect(at, "the burned part", line.lost_burned.units(), line.lost.units() - paid);
        const auto link = std::find_if(round_.links.begin(), round_.links.end(),
                                       [&](const auto& one) { return one.node == line.node; });
        if (link == round_.links.end() || !link->withheld) wrong(at, "names a party that withheld nothing");
    }

    const contracts::StateView& state_;
    const Job& job_;
    const contracts::Round& round_;
    const contracts::Params& params_;  // of the job
    LockedStake& locked_;
    Attendance& attendance_;
    JobPayouts& sums_;
    PayoutReport& report_;
    std::vector<SettlementLine> lines_;
    PricesFound prices_;
    SlotsEvidence slots_;
    std::optional<std::uint64_t> rate_one_left_;  // of what audits at rate 1 cost more, which link bonds pay
};

/// What the state says of a job whose records left it, against the records. Empty: the same.
std::string difference(const Job& job, const contracts::EndedJob& ended) {
    if (ended.buyer != job.buyer || ended.buyer_node != job.buyer_node) return "buyer";
    if (ended.name != job.spec.name || ended.rounds != job.spec.rounds ||
        ended.spec != base::hash("assay/spec/v1", base::encode(job.spec)))
        return "specification";
    if (ended.submitted_at != job.submitted_at || ended.ended_at != job.ended_at) return "heights";
    if (ended.reason != job.end_reason || ended.rounds_done != job.rounds_done) return "end";
    if (ended.base_root != job.base_root || ended.base_blob != job.base_blob) return "model";
    const bool money =
        ended.budget == job.whole_budget() && ended.spent == job.spent && ended.refunded == job.refunded;
    return money ? "" : "money";
}

// What verifiers lost in games before this height weighs nothing from then on. Takes each game once.
void take_lost_in_games(std::vector<contracts::Game>& games, std::uint64_t height, LockedStake& locked) {
    for (contracts::Game& game : games) {
        const contracts::PublicKey* loser = verifier_that_lost(game);
        if (loser == nullptr || game.ended_at >= height) continue;
        locked.take(*loser, game.lost.units());
        game.lost = {};
    }
}

// What games changed of what the lines say: the pay of a dead claim went back, the fees of those who accused
// it were paid, and whoever lost a game lost what it says.
void add_games(const contracts::StateView& state, const Job& job, JobPayouts& sums) {
    for (const contracts::Game& game : contracts::list_games(state, job.id)) {
        (game.kind == contracts::ClaimKind::kSlot ? sums.to_miners : sums.to_verifiers) -=
            game.returned.units();
        sums.to_verifiers += game.fees.units();
        sums.forfeited += game.lost.units();
    }
    // What waits for its game is set aside, and counts as spent.
    for (const auto& [id, claim] : contracts::list_claims(state, job.id))
        sums.to_verifiers += claim.fees().units();
}

JobPayouts audit_job(const contracts::StateView& state, const Job& job, PayoutReport& report) {
    JobPayouts sums;
    sums.job = job.id;
    sums.budget = job.whole_budget().units();
    sums.refunded = job.refunded.units();
    sums.escrow = job.escrow.units();
    for (const auto& [id, claim] : contracts::list_claims(state, job.id)) {
        // What a settled claim still holds in its window was spent with its line.
        const auto round = contracts::read_round_progress(state, id.job, id.round);
        if (!round || round->phase != contracts::RoundPhase::kSettled) sums.escrow += claim.held.units();
    }
    const std::string place = "job " + job.id.brief();
    const auto wrong = [&](const std::string& what) { report.failures.push_back({place, what, 0, job.id}); };

    const std::string chain = contracts::read_meta(state).chain_id;
    for (const std::string& what : audit_auction(chain, job, contracts::list_asks(state, job.id)))
        wrong(what);
    const auto params = contracts::read_param_set(state, job.params);
    if (!params || contracts::params_hash(*params) != job.params) {
        wrong("terms: its parameters are not stored under the hash that it names");
        return sums;
    }
    for (const std::string& what : audit_enlistments(job, *params)) wrong(what);
    LockedStake locked(job);
    Attendance attendance(job, *params);
    std::vector<contracts::Round> rounds;
    while (auto round = contracts::read_round(state, job.id, static_cast<std::uint32_t>(rounds.size())))
        rounds.push_back(std::move(*round));
    for (const RoundFailure& failure : audit_beacons(state, job, rounds))
        report.failures.push_back({place_of(job, failure.round), failure.what, 0, job.id});
    std::vector<contracts::Game> games = contracts::list_games(state, job.id);
    for (const contracts::Round& round : rounds) {
        take_lost_in_games(games, round.started_at, locked);
        for (const contracts::Game& game : games)
            if (!game.is_open() && game.ended_at < round.started_at) attendance.note(game);
        RoundAudit audit(state, job, *params, round, locked, attendance, sums, report);
        audit.check_judges();
        // Who loses its stake while a round runs has nothing left for its penalties. A game that ends at the
        // height of the settlement is taken to end after it.
        if (round.phase == contracts::RoundPhase::kSettled)
            take_lost_in_games(games, round.settled_at, locked);
        audit.run();
    }
    sums.rounds = rounds.size();
    for (const std::string& what : audit_games(state, job, *params, rounds)) wrong(what);
    for (const std::string& what : audit_accusers(state, job, rounds)) wrong(what);

    add_games(state, job, sums);
    const std::uint64_t paid = sums.to_miners + sums.to_verifiers;
    // What a sealed bid of the market holds, or cost, counts as spent.
    const std::uint64_t sealed = contracts::read_seal_cost(state, job.id).units();
    sums.delta = static_cast<std::int64_t>(sums.budget + sums.returned) -
                 static_cast<std::int64_t>(paid + sealed + sums.refunded + sums.escrow);
    if (sums.delta != 0) wrong("escrow: it is off by " + std::to_string(sums.delta) + " base units");
    if (std::min(paid + sealed, base::kAmountMax) != job.spent.units())
        wrong("escrow: the record of what was spent is not the sum of the lines");
    if (job.phase == contracts::JobPhase::kEnded && sums.escrow != 0)
        wrong("escrow: the job ended with money in it");
    if (const auto ended = contracts::read_ended_job(state, job.id)) {
        if (const std::string what = difference(job, *ended); !what.empty())
            wrong("ended job: what the state says of its " + what + " is not what its records say");
    }
    return sums;
}

}  // namespace

namespace {

/// How many records of a table the state has of a job.
std::uint64_t count_records(const contracts::StateView& state, const base::Hash256& job,
                            const contracts::RecordGroup& group) {
    base::Bytes prefix{group.table};
    prefix.insert(prefix.end(), job.bytes.begin(), job.bytes.end());
    std::uint64_t count = 0;
    state.for_each(prefix, prefix, [&](base::ByteView, base::ByteView) {
        ++count;
        return true;
    });
    return count;
}

/// An ended job is judged by its records or not at all: those that left must have been put back.
bool is_whole(const contracts::StateView& state, const base::Hash256& job, const contracts::EndedJob& ended) {
    return contracts::read_job(state, job).has_value() &&
           std::all_of(ended.groups.begin(), ended.groups.end(), [&](const contracts::RecordGroup& group) {
               return count_records(state, job, group) >= group.records;
           });
}

}  // namespace

PayoutReport audit_payouts(const contracts::StateView& state) {
    PayoutReport report;
    for (const base::Hash256& id : contracts::list_job_ids(state)) {
        const auto ended = contracts::read_ended_job(state, id);
        const auto job = contracts::read_job(state, id);
        if (!job || (ended && !is_whole(state, id, *ended))) {
            report.failures.push_back({"job " + id.brief(),
                                       "ended job: its records are not there, so that none of its payments "
                                       "was judged",
                                       0, id});
            continue;
        }
        report.jobs.push_back(audit_job(state, *job, report));
    }
    return report;
}

}  // namespace assay::ledger
