// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/round/worth.hpp"

#include <algorithm>

#include "contracts/rules/identity/money.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/round/panel_rule.hpp"
#include "contracts/rules/round/prices.hpp"
#include "contracts/rules/round/words.hpp"

namespace assay::contracts {

namespace {

Reason unopened(const SlotAudit& audit) {
    return audit.sealed && !audit.left_out ? Reason::kAuditUnopened : Reason::kAuditSilent;
}

void count_unit(AuditWorth& worth, const Job& job, const SlotRound& slot, std::uint32_t unit) {
    const bool drawn = std::binary_search(slot.drawn_units.begin(), slot.drawn_units.end(), unit);
    (drawn ? worth.work : worth.replay) += unit_work(job.spec, job.slot_work, unit);
    ++worth.units;
}

/// Of a slot whose trace nobody knows: units of which another verifier computed the same root.
AuditWorth weigh_without_trace(const Job& job, const SlotRound& slot, const SlotAudit& audit,
                               const std::vector<SlotAudit>& audits) {
    AuditWorth worth;
    for (const auto& [unit, root] : audit.roots) {
        const auto equal = std::count_if(audits.begin(), audits.end(),
                                         [&, unit = unit, root = root](const SlotAudit& other) {
                                             const auto found = other.roots.find(unit);
                                             return found != other.roots.end() && found->second == root;
                                         });
        if (confirm_each_other(static_cast<std::size_t>(equal))) count_unit(worth, job, slot, unit);
    }
    if (worth.units > 0) worth.reason = Reason::kPaidAudit;
    return worth;
}

/// Against the revealed trace.
AuditWorth weigh_by_trace(const Job& job, const SlotRound& slot, const SlotAudit& audit,
                          const program::TraceRecord& trace) {
    AuditWorth worth;
    for (const auto& [unit, root] : audit.roots) count_unit(worth, job, slot, unit);
    const bool agrees = !first_difference(trace, job.spec, audit);
    worth.reason = agrees ? Reason::kPaidAudit : Reason::kAuditAccuses;
    return worth;
}

std::vector<AuditWorth> weigh_each(const RunningRound& running, const SlotRound& slot,
                                   const std::vector<SlotAudit>& audits) {
    const auto reveal = read_reveal(running.work.state, running.job.id, running.round.number, slot.slot);
    std::vector<AuditWorth> worths;
    for (const SlotAudit& audit : audits) {
        if (!audit.opened) {
            worths.push_back({unopened(audit)});
        } else if (slot.revealed && reveal) {
            worths.push_back(weigh_by_trace(running.job, slot, audit, reveal->trace));
        } else {
            worths.push_back(weigh_without_trace(running.job, slot, audit, audits));
        }
    }
    return worths;
}

}  // namespace

std::vector<AuditWorth> weigh_audits(const RunningRound& running, const SlotRound& slot,
                                     const std::vector<SlotAudit>& audits, Amount held) {
    std::vector<AuditWorth> worths = weigh_each(running, slot, audits);
    std::size_t openers = 0;
    std::size_t replayed = 0;
    for (const SlotAudit& audit : audits) {
        openers += audit.opened ? 1 : 0;
        replayed += audit.replayed ? 1 : 0;
    }
    if (!replays_are_paid(slot.served, audits.size(), openers, replayed)) return worths;
    const Amount price = price_of_slot(running.work.state, running.job, running.round.number, slot.slot);
    for (AuditWorth& worth : worths) {
        if (worth.reason != Reason::kPaidAudit) continue;
        const auto cost = replay_fee(price, worth.replay);
        ASSAY_CHECK(cost.has_value());  // the round began because auditing everything has a cost
        worth.from_slot = smaller(*cost, held);
        held = difference(held, worth.from_slot);
    }
    return worths;
}

}  // namespace assay::contracts
