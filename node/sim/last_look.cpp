// SPDX-License-Identifier: Apache-2.0
#include "node/sim/last_look.hpp"

#include <algorithm>

#include "contracts/program/round_plan.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/job/panel.hpp"
#include "contracts/rules/round/prices.hpp"
#include "node/sim/stand_in_worker.hpp"

namespace assay::node::sim {

namespace {

using contracts::SlotRound;

double in_units(const std::optional<base::Amount>& amount) {
    ASSAY_CHECK(amount.has_value());  // every amount of a job was checked when it was submitted
    return static_cast<double>(amount->units());
}

std::set<std::uint32_t> false_units_of(FalseUnits lie, SlotTurn place, const program::RoundPlan& plan) {
    std::set<std::uint32_t> units;
    for (std::uint32_t unit = 0; unit < plan.units(); ++unit)
        if (!nonce_of(lie, unit, place, plan).empty()) units.insert(unit);
    return units;
}

/// What a slot brings where nobody finds it, beside fees.
double prize_of(const contracts::Params& params, const contracts::Job& job, base::Amount price, bool lies,
                bool wins_gain) {
    const double pay = in_units(contracts::slot_pay(price, job.slot_work));
    if (!lies || !wins_gain) return pay;
    const auto counted = contracts::gain_bound_max(params, price, job.slot_work);
    const base::Amount gain = job.spec.security.gain_bound;
    return pay + in_units(counted ? std::min(*counted, gain) : gain);
}

/// The fee of one verifier for these units of a slot.
template <class Units>
double fee_of(const contracts::Params& params, const contracts::Job& job, base::Amount price,
              const Units& units) {
    std::uint64_t work = 0;
    for (const std::uint32_t unit : units) work += contracts::unit_work(job.spec, job.slot_work, unit);
    return in_units(contracts::audit_fee(params, price, work));
}

const base::PublicKey& owner_of(const contracts::Job& job, const base::PublicKey& member) {
    const auto found = std::find_if(job.beacon.begin(), job.beacon.end(),
                                    [&](const contracts::BeaconMember& one) { return one.node == member; });
    ASSAY_CHECK(found != job.beacon.end());
    return found->owner;
}

/// The round's judges, as they are drawn by once the looker's link is missing.
std::vector<JudgeCandidate> judges_without(const contracts::Job& job, const contracts::Round& round,
                                           const base::PublicKey& looker) {
    std::set<base::PublicKey> out{owner_of(job, looker)};
    for (const contracts::BeaconLink& link : round.links)
        if (link.withheld) out.insert(owner_of(job, link.node));
    std::vector<JudgeCandidate> all;
    std::vector<JudgeCandidate> others;
    std::uint64_t weight = 0;
    std::uint64_t theirs = 0;
    for (const contracts::Judge& judge : round.judges) {
        const JudgeCandidate one{judge.node, owner_of(job, judge.node), judge.weight.units()};
        all.push_back(one);
        weight += one.weight;
        if (out.contains(one.owner)) theirs += one.weight;
        if (!out.contains(one.owner)) others.push_back(one);
    }
    // Those who withheld judge if they hold half of the weight.
    return theirs >= weight - theirs ? all : others;
}

std::vector<JudgeCandidate> without_owner(std::vector<JudgeCandidate> candidates,
                                          const base::PublicKey& owner) {
    std::erase_if(candidates, [&](const JudgeCandidate& one) { return one.owner == owner; });
    return candidates;
}

}  // namespace

double chance_of_friends(const std::vector<JudgeCandidate>& candidates,
                         const std::set<base::PublicKey>& friends, std::size_t count) {
    double weight = 0;
    for (const JudgeCandidate& one : candidates) weight += static_cast<double>(one.weight);
    if (count == 0 || weight == 0) return 1;
    double chance = 0;
    for (const JudgeCandidate& one : candidates) {
        if (!friends.contains(one.node) || one.weight == 0) continue;
        chance += static_cast<double>(one.weight) / weight *
                  chance_of_friends(without_owner(candidates, one.owner), friends, count - 1);
    }
    return chance;
}

DrawLook look_at_draw(const contracts::StateView& state, const contracts::StateView& opened,
                      const contracts::Job& job, const base::PublicKey& looker, const Coalition& coalition,
                      LastLook looks) {
    const contracts::Params params = contracts::params_of(state, job);
    const auto round = contracts::read_round(state, job.id, job.round);
    const auto drawn = contracts::read_round_progress(opened, job.id, job.round);
    ASSAY_CHECK(round && drawn && drawn->phase == contracts::RoundPhase::kServe);
    const program::RoundPlan plan(job.spec);
    std::vector<std::uint32_t> every_unit;
    for (std::uint32_t unit = 0; unit < plan.units(); ++unit) every_unit.push_back(unit);
    const auto prices = contracts::prices_of_round(state, job, job.round);
    const auto judges = judges_without(job, *round, looker);
    const auto is_friend = [&](const base::PublicKey& node) { return coalition.verifiers.contains(node); };

    DrawLook look{.round = job.round};
    for (const contracts::BeaconLink& link : round->links)
        if (link.node == looker) look.index = link.index;
    for (const contracts::BeaconMember& member : job.beacon)
        if (member.node == looker) look.bond = static_cast<double>(member.bond.units());
    for (const SlotRound& slot : contracts::list_slots(opened, job.id, job.round)) {
        const auto miner = coalition.miners.find(slot.miner);
        if (miner == coalition.miners.end() || !slot.committed) continue;
        const auto lies = false_units_of(miner->second, {job.round, slot.slot}, plan);
        const double prize =
            prize_of(params, job, prices.slots.at(slot.slot), !lies.empty(), coalition.wins_gain);
        const double bond = static_cast<double>(slot.bond.units());
        const bool among_friends = std::all_of(slot.verifiers.begin(), slot.verifiers.end(), is_friend);
        const bool met = !among_friends && std::any_of(slot.drawn_units.begin(), slot.drawn_units.end(),
                                                       [&](auto unit) { return lies.contains(unit); });
        if (met) look.met.insert(slot.slot);
        look.opened += met ? -bond : prize;
        if (among_friends)
            look.opened += static_cast<double>(slot.verifiers.size()) *
                           fee_of(params, job, prices.highest, slot.drawn_units);
        const auto candidates = without_owner(judges, slot.owner);
        const double all_friends =
            chance_of_friends(candidates, coalition.verifiers, contracts::panel_most());
        const double panel = static_cast<double>(std::min(candidates.size(), contracts::panel_most()));
        look.another += all_friends * (prize + panel * fee_of(params, job, prices.highest, every_unit)) +
                        (1 - all_friends) * (lies.empty() ? prize : -bond);
    }
    look.withheld = look.another - (looks == LastLook::kAtAnyPrice ? 0 : look.bond) > look.opened;
    return look;
}

}  // namespace assay::node::sim
