// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/round/worth.hpp"

#include <algorithm>

#include "contracts/rules/identity/money.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/round/panel_rule.hpp"

namespace assay::contracts {

namespace {

AuditWorth weigh(const Job& job, const SlotAudit& audit, const std::vector<UnitFinding>& findings) {
    AuditWorth worth;
    if (!audit.opened) {
        worth.reason = audit.sealed ? Reason::kAuditUnopened : Reason::kAuditSilent;
        return worth;
    }
    for (const UnitFinding& finding : findings) {
        const auto root = audit.roots.find(finding.unit);
        if (!finding.decided || root == audit.roots.end()) continue;
        if (root->second != finding.root) {
            const bool same_start = audit.replayed ? finding.by_replay : finding.by_served;
            if (same_start) return {Reason::kAuditWrong};
            continue;
        }
        const std::uint64_t work = unit_work(job.spec, job.slot_work, finding.unit);
        (finding.drawn ? worth.work : worth.replay) += work;
        ++worth.units;
    }
    if (worth.units > 0) worth.reason = Reason::kPaidAudit;
    return worth;
}

}  // namespace

std::vector<AuditWorth> weigh_audits(const RunningRound& running, const SlotRound& slot,
                                     const std::vector<SlotAudit>& audits,
                                     const std::vector<UnitFinding>& findings, Amount held) {
    std::vector<AuditWorth> worths;
    for (const SlotAudit& audit : audits) worths.push_back(weigh(running.job, audit, findings));
    std::size_t openers = 0;
    std::size_t replayed = 0;
    for (const SlotAudit& audit : audits) {
        openers += audit.opened ? 1 : 0;
        replayed += audit.replayed ? 1 : 0;
    }
    if (!replays_are_paid(slot.served, audits.size(), openers, replayed)) return worths;
    for (AuditWorth& worth : worths) {
        if (worth.reason != Reason::kPaidAudit) continue;
        const auto cost = replay_fee(running.job.auction.clearing_price, worth.replay);
        ASSAY_CHECK(cost.has_value());  // the round began because auditing everything has a cost
        worth.from_slot = smaller(*cost, held);
        held = difference(held, worth.from_slot);
    }
    return worths;
}

}  // namespace assay::contracts
