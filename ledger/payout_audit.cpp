// SPDX-License-Identifier: Apache-2.0
// On purpose nothing of contracts/rules' costs or settlement is called here: a second opinion that shares the
// code of the first is none.
#include "ledger/payout_audit.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "contracts/base/wide.hpp"
#include "contracts/rules/tables.hpp"

namespace assay::ledger {

namespace {

using base::Uint128;
using contracts::Job;
using contracts::LineKind;
using contracts::Reason;
using contracts::SettlementLine;
using contracts::SlotRound;
using contracts::UnitClaim;

constexpr std::uint64_t kMillion = 1'000'000;

// floor(a · b / c). Saturates, so that an absurd product shows as a wrong amount and not as a wrap.
std::uint64_t share(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    const Uint128 result = Uint128{a} * b / c;
    return result > ~std::uint64_t{0} ? ~std::uint64_t{0} : static_cast<std::uint64_t>(result);
}

// One opened audit of one slot.
struct Opened {
    PublicKey verifier;
    std::vector<UnitClaim> claims;
};

// What the opened audits of one slot prove, recounted.
struct Evidence {
    std::vector<Opened> opened;

    [[nodiscard]] const Opened* by(const PublicKey& verifier) const {
        const auto found = std::find_if(opened.begin(), opened.end(),
                                        [&](const Opened& one) { return one.verifier == verifier; });
        return found == opened.end() ? nullptr : &*found;
    }
    // The root that at least two verifiers computed for a unit.
    [[nodiscard]] std::optional<Hash256> decided(std::uint32_t unit) const {
        std::map<Hash256, int> votes;
        for (const Opened& one : opened) {
            for (const UnitClaim& claim : one.claims) {
                if (claim.unit == unit && !claim.unavailable && ++votes[claim.root] >= 2) return claim.root;
            }
        }
        return std::nullopt;
    }
    [[nodiscard]] bool proves(const Opened& one, const SlotRound& slot) const {
        return std::any_of(one.claims.begin(), one.claims.end(), [&](const UnitClaim& claim) {
            return claim.unit == slot.fault_unit && !claim.unavailable && claim.root == slot.fault_found;
        });
    }
    [[nodiscard]] std::uint64_t provers(const SlotRound& slot) const {
        return static_cast<std::uint64_t>(std::count_if(
            opened.begin(), opened.end(), [&](const Opened& one) { return proves(one, slot); }));
    }
};

class RoundAudit {
public:
    RoundAudit(const contracts::StateView& state, const Job& job, const contracts::Round& round,
               const contracts::Params& params, JobPayouts& sums, PayoutReport& report)
        : job_(job), round_(round), params_(params), sums_(sums), report_(report) {
        for (const SlotRound& slot : contracts::list_slots(state, job.id, round.number))
            slots_.emplace(slot.slot, slot);
        for (const auto& posting : contracts::list_audits(state, job.id, round.number)) {
            if (!posting.opened) continue;
            std::map<std::uint32_t, Opened> per_slot;
            for (const UnitClaim& claim : posting.claims) per_slot[claim.slot].claims.push_back(claim);
            for (auto& [slot, opened] : per_slot) {
                opened.verifier = posting.verifier;
                evidence_[slot].opened.push_back(std::move(opened));
            }
        }
        lines_ = contracts::list_settlement(state, job.id, round.number);
    }

    void run() {
        if (lines_.size() != round_.lines) {
            wrong(0, "the round counts " + std::to_string(round_.lines) + " lines, " +
                         std::to_string(lines_.size()) + " are stored");
        }
        for (std::size_t at = 0; at < lines_.size(); ++at) check(at, lines_[at]);
        if (round_.phase == contracts::RoundPhase::kSettled) check_complete();
        sums_.lines += lines_.size();
        report_.lines += lines_.size();
    }

private:
    void wrong(std::size_t line, const std::string& what) {
        report_.failures.push_back({"job " + job_.id.brief() + " round " + std::to_string(round_.number) +
                                        " line " + std::to_string(line),
                                    what, 0});
    }
    void expect(std::size_t line, const char* what, std::uint64_t found, std::uint64_t expected) {
        if (found == expected) return;
        wrong(line, std::string(what) + " is " + std::to_string(found) + ", the rule gives " +
                        std::to_string(expected));
    }

    // One line per slot, per audit opened or missed, per merge posting: nobody is forgotten or counted twice.
    void check_complete() {
        std::map<std::uint32_t, int> slot_lines;
        std::map<std::pair<std::uint32_t, PublicKey>, int> audit_lines;
        std::uint64_t merges = 0;
        for (const SettlementLine& line : lines_) {
            if (line.kind == LineKind::kSlot) ++slot_lines[line.slot];
            if (line.kind == LineKind::kAudit) ++audit_lines[{line.slot, line.node}];
            if (line.kind == LineKind::kMerge) ++merges;
        }
        for (const auto& [number, slot] : slots_) {
            if (slot_lines[number] != 1)
                wrong(0, "slot " + std::to_string(number) + " has " + std::to_string(slot_lines[number]) +
                             " lines");
        }
        for (const auto& [key, count] : audit_lines) {
            if (count != 1) wrong(0, "an audit of slot " + std::to_string(key.first) + " is counted twice");
        }
        for (const auto& [number, evidence] : evidence_) {
            for (const Opened& one : evidence.opened) {
                if (!audit_lines.contains({number, one.verifier}))
                    wrong(0, "the audit of slot " + std::to_string(number) + " by " + one.verifier.brief() +
                                 " has no line");
            }
        }
        expect(0, "the number of merge lines", merges, round_.merges.size());
    }

    void check(std::size_t at, const SettlementLine& line) {
        if (line.job != job_.id || line.round != round_.number) wrong(at, "belongs to another round");
        expect(at, "what was paid", line.paid.units(), line.from_escrow.units() + line.from_prepaid.units());
        expect(at, "what was lost", line.lost.units(),
               line.lost_to_buyer.units() + line.lost_to_escrow.units() + line.lost_to_verifiers.units() +
                   line.lost_burned.units());
        if (line.kind != LineKind::kLink)
            expect(at, "the price", line.price.units(), job_.auction.clearing_price.units());
        switch (line.kind) {
            case LineKind::kSlot: check_slot(at, line); break;
            case LineKind::kAudit: check_audit(at, line); break;
            case LineKind::kMerge: check_merge(at, line); break;
            case LineKind::kLink: check_link(at, line); break;
        }
        sums_.returned += line.lost_to_escrow.units();
        sums_.prepaid += line.from_prepaid.units();
        sums_.forfeited += line.lost.units();
        (line.kind == LineKind::kSlot ? sums_.to_miners : sums_.to_verifiers) += line.from_escrow.units();
    }

    void check_slot(std::size_t at, const SettlementLine& line) {
        const auto found = slots_.find(line.slot);
        if (found == slots_.end()) return wrong(at, "there is no such slot");
        const SlotRound& slot = found->second;
        if (line.node != slot.miner || line.owner != slot.owner) wrong(at, "is not the slot's miner's");
        if (line.reason != slot.verdict) wrong(at, "its reason is not the slot's verdict");
        expect(at, "the work units", line.work_units, job_.slot_work);
        const auto consequence = contracts::consequence(line.reason);
        const bool paid = slot.assigned && consequence == contracts::Consequence::kPaid;
        const bool forfeit = slot.assigned && consequence == contracts::Consequence::kForfeit;
        expect(at, "the slot's pay", line.paid.units(),
               paid ? share(job_.auction.clearing_price.units(), job_.slot_work, 1) : 0);
        expect(at, "the part from the registration fee", line.from_prepaid.units(), 0);
        expect(at, "the forfeited bond", line.lost.units(), forfeit ? slot.bond.units() : 0);
        if (paid && !slot.revealed) wrong(at, "pays a slot that was never revealed");
        if (forfeit) check_forfeit(at, line, slot);
    }

    void check_forfeit(std::size_t at, const SettlementLine& line, const SlotRound& slot) {
        const bool mismatch = line.reason == Reason::kMismatch;
        const std::uint64_t provers = mismatch ? evidence_[slot.slot].provers(slot) : 0;
        if (mismatch && (provers < 2 || slot.fault_found == slot.fault_claimed))
            wrong(at, "forfeits a bond that two recomputations do not stand against");
        const std::uint64_t pot = share(slot.bond.units(), params_.forfeit_verifier_ppm, kMillion);
        expect(at, "the buyer's part", line.lost_to_buyer.units(),
               share(slot.bond.units(), params_.forfeit_buyer_ppm, kMillion));
        expect(at, "the verifiers' part", line.lost_to_verifiers.units(),
               provers == 0 ? 0 : pot / provers * provers);
        expect(at, "the part to the escrow", line.lost_to_escrow.units(), 0);
    }

    // Work of one audit unit: the segment's share of the slot's work, rounded up; `finalise` is one unit.
    [[nodiscard]] std::uint64_t work_of(std::uint32_t unit) const {
        const std::uint64_t steps = job_.spec.train.inner_steps, length = job_.spec.security.segment_steps;
        const std::uint64_t first = unit * length;
        if (first >= steps) return 1;
        const std::uint64_t count = std::min(length, steps - first);
        return static_cast<std::uint64_t>((Uint128{job_.slot_work} * count + steps - 1) / steps);
    }

    // What an opened audit is worth: work units that a second verifier confirms; `contradicted` when two
    // others agree on another root.
    [[nodiscard]] std::uint64_t confirmed_work(const Evidence& evidence, const Opened& mine,
                                               bool& contradicted) const {
        std::uint64_t work = 0;
        for (const UnitClaim& claim : mine.claims) {
            if (claim.unavailable) continue;
            const auto root = evidence.decided(claim.unit);
            if (!root) continue;
            if (*root != claim.root) contradicted = true;
            work += work_of(claim.unit);
        }
        return work;
    }

    void check_audit(std::size_t at, const SettlementLine& line) {
        const auto slot = slots_.find(line.slot);
        if (slot == slots_.end()) return wrong(at, "there is no such slot");
        const Evidence& evidence = evidence_[line.slot];
        const Opened* mine = evidence.by(line.node);
        bool contradicted = false;
        std::uint64_t work = mine == nullptr ? 0 : confirmed_work(evidence, *mine, contradicted);
        if (contradicted) work = 0;
        if (contradicted != (line.reason == Reason::kAuditWrong))
            wrong(at, "its reason is not what the opened audits show");
        if ((work > 0) != (line.reason == Reason::kPaidAudit))
            wrong(at, "is paid without confirmed work, or not paid for it");
        expect(at, "the work units", line.work_units, work);
        const std::uint64_t whole = share(job_.auction.clearing_price.units(), work, 1);
        expect(at, "the audit fee", line.paid.units(), share(whole, params_.audit_fee_ppm, kMillion));
        if (!slot->second.newcomer)
            expect(at, "the part from a newcomer's fee", line.from_prepaid.units(), 0);
        if (line.lost.units() > (contradicted ? params_.verifier_penalty.units() : 0))
            wrong(at, "loses more than one penalty");
        expect(at, "the burned penalty", line.lost_burned.units(), line.lost.units());
        const bool proves = slot->second.verdict == Reason::kMismatch && mine != nullptr &&
                            evidence.proves(*mine, slot->second);
        const std::uint64_t pot = share(slot->second.bond.units(), params_.forfeit_verifier_ppm, kMillion);
        expect(at, "the share of the forfeited bond", line.share.units(),
               proves ? pot / evidence.provers(slot->second) : 0);
    }

    void check_merge(std::size_t at, const SettlementLine& line) {
        const auto posting = std::find_if(round_.merges.begin(), round_.merges.end(),
                                          [&](const auto& one) { return one.verifier == line.node; });
        if (posting == round_.merges.end()) return wrong(at, "was not drawn for the merge");
        const auto agreeing = std::count_if(round_.merges.begin(), round_.merges.end(), [&](const auto& one) {
            return one.opened && posting->opened && one.claim == posting->claim;
        });
        const bool right = agreeing >= 2;
        if (right != (line.reason == Reason::kPaidMerge)) wrong(at, "its reason is not what the merges show");
        const std::uint64_t pay = share(job_.auction.clearing_price.units(), job_.slot_work, 1);
        expect(at, "the merge fee", line.paid.units(),
               right ? share(pay, params_.merge_fee_ppm, kMillion) : 0);
        expect(at, "the part from a registration fee", line.from_prepaid.units(), 0);
        const std::uint64_t most = line.reason == Reason::kMergeWrong ? params_.verifier_penalty.units() : 0;
        if (line.lost.units() > most) wrong(at, "loses more than one penalty");
        expect(at, "the burned penalty", line.lost_burned.units(), line.lost.units());
    }

    void check_link(std::size_t at, const SettlementLine& line) {
        expect(at, "what a withheld link is paid", line.paid.units(), 0);
        if (line.reason != Reason::kLinkWithheld) wrong(at, "its reason is not a withheld link");
        if (line.lost.units() > params_.link_penalty.units()) wrong(at, "loses more than one penalty");
        expect(at, "the part to the escrow", line.lost_to_escrow.units(), line.lost.units());
        const auto link = std::find_if(round_.links.begin(), round_.links.end(),
                                       [&](const auto& one) { return one.node == line.node; });
        if (link == round_.links.end() || link->opened) wrong(at, "names a party that withheld nothing");
    }

    const Job& job_;
    const contracts::Round& round_;
    const contracts::Params& params_;
    JobPayouts& sums_;
    PayoutReport& report_;
    std::map<std::uint32_t, SlotRound> slots_;
    std::map<std::uint32_t, Evidence> evidence_;
    std::vector<SettlementLine> lines_;
};

}  // namespace

PayoutReport audit_payouts(const contracts::StateView& state) {
    PayoutReport report;
    const contracts::Params params = contracts::read_params(state);
    for (const Job& job : contracts::list_jobs(state)) {
        JobPayouts sums;
        sums.job = job.id;
        sums.budget = job.spec.market.budget.units();
        sums.refunded = job.refunded.units();
        sums.escrow = job.escrow.units();
        for (std::uint32_t number = 0;; ++number, ++sums.rounds) {
            const auto round = contracts::read_round(state, job.id, number);
            if (!round) break;
            RoundAudit(state, job, *round, params, sums, report).run();
        }
        const std::uint64_t paid = sums.to_miners + sums.to_verifiers;
        sums.delta = static_cast<std::int64_t>(sums.budget + sums.returned) -
                     static_cast<std::int64_t>(paid + sums.refunded + sums.escrow);
        const auto wrong = [&](const std::string& what) {
            report.failures.push_back({"job " + job.id.brief(), what, 0});
        };
        if (sums.delta != 0) wrong("its escrow is off by " + std::to_string(sums.delta) + " base units");
        if (paid != job.spent.units()) wrong("its record of what was spent is not the sum of its lines");
        if (job.phase == contracts::JobPhase::kEnded && sums.escrow != 0)
            wrong("it ended with money in escrow");
        report.jobs.push_back(sums);
    }
    return report;
}

}  // namespace assay::ledger
