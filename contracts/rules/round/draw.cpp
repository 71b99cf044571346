// SPDX-License-Identifier: Apache-2.0
// The end of the beacon phase: what is audited, and by whom.
#include <algorithm>

#include "contracts/program/round_plan.hpp"
#include "contracts/rules/round/beacon.hpp"
#include "contracts/rules/round/draws.hpp"
#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/round/panel_rule.hpp"

namespace assay::contracts {

namespace {

const PublicKey& owner_of(Job& job, const PublicKey& verifier) {
    return enlisted_verifier(job, verifier).owner;
}

/// The round's judges, without those of these owners.
std::vector<EligibleVerifier> judges_but(const RunningRound& running,
                                         const std::vector<PublicKey>& excluded) {
    std::vector<EligibleVerifier> candidates;
    for (const Judge& judge : running.round.judges) {
        const PublicKey& owner = owner_of(running.job, judge.node);
        if (std::find(excluded.begin(), excluded.end(), owner) != excluded.end()) continue;
        candidates.push_back({judge.node, owner, judge.weight.units()});
    }
    return candidates;
}

/// Candidates for a slot: nobody judges work of its own owner, nor twice.
std::vector<EligibleVerifier> judges_of(const RunningRound& running, const SlotRound& slot) {
    std::vector<PublicKey> excluded = withholders(running);
    excluded.push_back(slot.owner);
    for (const PublicKey& drawn : slot.verifiers) excluded.push_back(owner_of(running.job, drawn));
    return judges_but(running, excluded);
}

}  // namespace

EnlistedVerifier& enlisted_verifier(Job& job, const PublicKey& node) {
    const auto found = std::find_if(job.verifiers.begin(), job.verifiers.end(),
                                    [&](const EnlistedVerifier& v) { return v.node == node; });
    ASSAY_CHECK(found != job.verifiers.end());
    return *found;
}

void draw_beacon(RunningRound& running) {
    close_links(running);
    const program::RoundPlan plan(running.job.spec);
    std::uint64_t drawn = 0;
    for (SlotRound& slot : running.slots) {
        if (!slot.committed) continue;
        const bool all = slot.newcomer || running.round.link_missing;
        slot.drawn_units =
            draw_units(running.round.beacon, slot.slot, plan, unit_rates(running.job.spec.security, all));
        drawn += slot.drawn_units.size();
        slot.verifiers = draw_weighted(running.round.beacon, draw_label(Stage::kPanel), slot.slot,
                                       judges_of(running, slot), panel_drawn(running.round, slot.slot));
        slot.panel = static_cast<std::uint32_t>(slot.verifiers.size());
    }
    running.work.tell({.kind = EventKind::kBeaconDrawn,
                       .job = running.job.id,
                       .round = running.round.number,
                       .number = drawn});
}

bool draw_one_more(RunningRound& running, SlotRound& slot, Stage stage) {
    const auto more =
        draw_weighted(running.round.beacon, draw_label(stage), slot.slot, judges_of(running, slot), 1);
    if (more.empty()) return false;
    slot.verifiers.push_back(more.front());
    if (stage == Stage::kConfirm) ++slot.confirmers;
    running.work.tell({.kind = EventKind::kRedrawn,
                       .job = running.job.id,
                       .round = running.round.number,
                       .slot = slot.slot,
                       .node = more.front(),
                       .number = static_cast<std::uint64_t>(stage)});
    return true;
}

}  // namespace assay::contracts
