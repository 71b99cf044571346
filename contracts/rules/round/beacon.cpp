// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/round/beacon.hpp"

#include <algorithm>

#include "contracts/base/wide.hpp"
#include "contracts/program/round_plan.hpp"
#include "contracts/rules/identity/money.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/round/prices.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

BeaconMember& member_of(Job& job, const PublicKey& node) {
    const auto found = std::find_if(job.beacon.begin(), job.beacon.end(),
                                    [&](const BeaconMember& member) { return member.node == node; });
    ASSAY_CHECK(found != job.beacon.end());
    return *found;
}

/// The member's link bond waits for the settlement among the escrow: that of the buyer is there already.
void lose_membership(RunningRound& running, BeaconLink& link) {
    State& state = running.work.state;
    BeaconMember& member = member_of(running.job, link.node);
    link.withheld = true;
    link.held = member.bond;
    member.bond = {};
    member.dropped = true;
    if (member.role != BeaconRole::kBuyer) take_bonded(state, member.node, link.held, &Supply::escrow);
    if (auto verifier = read_verifier(state, member.node)) {
        verifier->penalised = saturating_sum(verifier->penalised, link.held);
        store(state, verifier_key(member.node), *verifier);
    }
    running.work.tell({.kind = EventKind::kDropped,
                       .job = running.job.id,
                       .round = running.round.number,
                       .node = member.node,
                       .reason = Reason::kLinkWithheld});
}

/// What the job's rates alone would have drawn of the slot, in work units.
std::uint64_t work_at_rate(const RunningRound& running, const program::RoundPlan& plan,
                           const SlotRound& slot) {
    const UnitRates rates = unit_rates(running.job.spec.security, slot.newcomer);
    std::uint64_t work = 0;
    for (const std::uint32_t unit : draw_units(running.round.beacon, slot.slot, plan, rates))
        work += plan.work(unit, running.job.slot_work);
    return work;
}

/// What was paid from escrow for audits that only a round at rate 1 has.
Amount cost_of_rate_one(const RunningRound& running) {
    const Job& job = running.job;
    const program::RoundPlan plan(job.spec);
    const Amount price = price_of_round(running.work.state, job, running.round.number);
    Amount cost;
    for (const SettlementLine& line : list_settlement(running.work.state, job.id, running.round.number)) {
        if (line.kind != LineKind::kAudit || line.work_units == 0) continue;
        const std::uint64_t drawn = work_at_rate(running, plan, running.slots[line.slot]);
        if (line.work_units <= drawn) continue;
        const auto fee = audit_fee(running.params, price, line.work_units - drawn);
        ASSAY_CHECK(fee.has_value());  // the whole audit's fee was an amount
        cost = sum(cost, smaller(*fee, line.from_escrow));
    }
    return cost;
}

}  // namespace

std::vector<BeaconLink> links_of_round(const StateView& state, const Job& job) {
    std::vector<BeaconLink> links;
    for (const BeaconMember& member : job.beacon) {
        if (member.dropped || read_node_key(state, member.node)->revoked) continue;
        BeaconLink link;
        link.node = member.node;
        link.index = member.used;
        links.push_back(link);
    }
    return links;
}

bool void_try(RunningRound& running) {
    bool missing = false;
    bool opened = false;
    for (BeaconLink& link : running.round.links) {
        if (link.withheld) continue;
        opened = opened || link.opened;
        if (link.opened) continue;
        missing = true;
        lose_membership(running, link);
    }
    if (!missing) return false;
    running.round.link_missing = true;
    for (BeaconLink& link : running.round.links) {
        if (link.withheld) continue;
        link.opened = false;
        link.link = {};
        ++link.index;
    }
    return opened;
}

void close_links(RunningRound& running) {
    Round& round = running.round;
    const bool none = std::none_of(round.links.begin(), round.links.end(),
                                   [](const BeaconLink& link) { return link.opened; });
    base::Hasher hasher(none ? "assay/beacon/none/v1" : "assay/beacon/v2");
    hasher.add(running.job.id).add_u64(round.number).add(running.job.last_beacon);
    for (const BeaconLink& link : round.links) {
        if (link.opened) hasher.add(link.node.view()).add(link.link);
    }
    if (none) {
        // Nothing was unforeseeable: audit everything.
        round.link_missing = true;
        for (const SlotRound& slot : running.slots) {
            if (slot.committed) hasher.add_u64(slot.slot).add(slot.seal);
        }
    }
    round.beacon = hasher.finish();
    running.job.last_beacon = round.beacon;
}

std::vector<PublicKey> withholders(const RunningRound& running) {
    std::vector<PublicKey> owners;
    for (const BeaconLink& link : running.round.links) {
        if (link.withheld) owners.push_back(member_of(running.job, link.node).owner);
    }
    base::Uint128 all = 0;
    base::Uint128 theirs = 0;
    for (const Judge& judge : running.round.judges) {
        const PublicKey& owner = enlisted_verifier(running.job, judge.node).owner;
        all += judge.weight.units();
        if (std::find(owners.begin(), owners.end(), owner) != owners.end()) theirs += judge.weight.units();
    }
    if (2 * theirs >= all) return {};
    return owners;
}

void settle_links(RunningRound& running) {
    Round& round = running.round;
    const bool lost = std::any_of(round.links.begin(), round.links.end(),
                                  [](const BeaconLink& link) { return link.withheld; });
    if (!lost) return;
    Amount owed = cost_of_rate_one(running);
    for (BeaconLink& link : round.links) {
        if (!link.withheld) continue;
        SettlementLine line;
        line.kind = LineKind::kLink;
        line.node = link.node;
        line.owner = member_of(running.job, link.node).owner;
        line.reason = Reason::kLinkWithheld;
        line.lost = link.held;
        line.lost_to_escrow = smaller(owed, link.held);
        line.lost_burned = difference(link.held, line.lost_to_escrow);
        owed = difference(owed, line.lost_to_escrow);
        running.job.escrow = sum(running.job.escrow, line.lost_to_escrow);
        move_total(running.work.state, &Supply::escrow, &Supply::burned, line.lost_burned);
        link.held = {};
        add_line(running, std::move(line));
    }
}

}  // namespace assay::contracts
