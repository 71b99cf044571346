// SPDX-License-Identifier: Apache-2.0
#include "ledger/audit/judge_audit.hpp"

#include <algorithm>
#include <set>

#include "contracts/rules/round/draws.hpp"
#include "contracts/rules/round/panel_rule.hpp"
#include "contracts/rules/tables.hpp"
#include "ledger/audit/payout_amounts.hpp"

namespace assay::ledger {

using contracts::Job;
using contracts::PublicKey;
using contracts::Round;
using contracts::SlotRound;
using contracts::Stage;

namespace {

const contracts::EnlistedVerifier* enlisted(const Job& job, const PublicKey& node) {
    const auto found = std::find_if(job.verifiers.begin(), job.verifiers.end(),
                                    [&](const auto& v) { return v.node == node; });
    return found == job.verifiers.end() ? nullptr : &*found;
}

// Judges that no rule excludes. One that is not enlisted is audit_judges' to report.
std::vector<contracts::EligibleVerifier> candidates(const Job& job, const Round& round,
                                                    const std::set<PublicKey>& excluded) {
    std::vector<contracts::EligibleVerifier> found;
    for (const contracts::Judge& judge : round.judges) {
        const auto* verifier = enlisted(job, judge.node);
        if (verifier == nullptr || excluded.contains(verifier->owner)) continue;
        found.push_back({judge.node, verifier->owner, judge.weight.units()});
    }
    return found;
}

std::set<PublicKey> owners_of(const Job& job, const std::vector<PublicKey>& nodes) {
    std::set<PublicKey> owners;
    for (const PublicKey& node : nodes) {
        if (const auto* verifier = enlisted(job, node)) owners.insert(verifier->owner);
    }
    return owners;
}

// Owners of members that withheld a link of the round: none of their verifiers is drawn in it, unless they
// hold half of the weight or more.
std::set<PublicKey> withholders(const Job& job, const Round& round) {
    std::set<PublicKey> owners;
    for (const contracts::BeaconLink& link : round.links) {
        for (const contracts::BeaconMember& member : job.beacon)
            if (link.withheld && member.node == link.node) owners.insert(member.owner);
    }
    const auto weight_without = [&](const std::set<PublicKey>& excluded) {
        base::Uint128 weight = 0;
        for (const auto& candidate : candidates(job, round, excluded)) weight += candidate.weight;
        return weight;
    };
    return weight_without(owners) * 2 > weight_without({}) ? owners : std::set<PublicKey>();
}

// Whether the slot's verifiers are the panel that the beacon draws and, where they were due, one more to
// confirm and one because nobody had opened anything. Nobody may be left for either.
bool is_drawn_again(const Job& job, const Round& round, const SlotRound& drawn, const LaterDraws& due) {
    const std::vector<PublicKey>& found = drawn.verifiers;
    const std::uint32_t slot = drawn.slot;
    std::set<PublicKey> excluded = {drawn.owner};
    excluded.merge(withholders(job, round));
    auto again =
        contracts::draw_weighted(round.beacon, contracts::draw_label(Stage::kPanel), slot,
                                 candidates(job, round, excluded), contracts::panel_drawn(round, slot));
    if (drawn.panel != again.size()) return false;
    const auto one_more = [&](Stage stage) {
        std::set<PublicKey> others = owners_of(job, again);
        others.insert(excluded.begin(), excluded.end());
        const auto more = contracts::draw_weighted(round.beacon, contracts::draw_label(stage), slot,
                                                   candidates(job, round, others), 1);
        again.insert(again.end(), more.begin(), more.end());
        return more.size();
    };
    if (drawn.confirmers != (due.confirmer ? one_more(Stage::kConfirm) : 0)) return false;
    if (due.another) one_more(Stage::kRedraw);
    return found == again;
}

}  // namespace

LockedStake::LockedStake(const Job& job) {
    for (const auto& verifier : job.verifiers) left_[verifier.node] = verifier.locked.units();
}

std::uint64_t LockedStake::left(const PublicKey& verifier) const {
    const auto found = left_.find(verifier);
    return found == left_.end() ? 0 : found->second;
}

std::uint64_t LockedStake::take(const PublicKey& verifier, std::uint64_t penalty) {
    const auto found = left_.find(verifier);
    if (found == left_.end()) return 0;
    const std::uint64_t taken = std::min(found->second, penalty);
    found->second -= taken;
    return taken;
}

std::vector<std::string> audit_enlistments(const Job& job, const contracts::Params& params) {
    std::vector<std::string> wrong;
    const std::uint64_t least = enlistment_of(params, job);
    for (const auto& verifier : job.verifiers) {
        if (verifier.locked.units() < least)
            wrong.push_back("enlistment: " + verifier.node.brief() + " locked " +
                            std::to_string(verifier.locked.units()) + ", the job asks at least " +
                            std::to_string(least));
    }
    return wrong;
}

std::vector<std::string> audit_judges(const contracts::StateView& state, const Job& job, const Round& round,
                                      const LockedStake& locked) {
    std::vector<std::string> wrong;
    std::set<PublicKey> named;
    for (const contracts::Judge& judge : round.judges) {
        if (enlisted(job, judge.node) == nullptr || !named.insert(judge.node).second)
            wrong.push_back("judges: " + judge.node.brief() + " is not enlisted, or named twice");
        const std::uint64_t left = locked.left(judge.node);
        if (judge.weight.units() != left)
            wrong.push_back("judges: " + judge.node.brief() + " weighs " +
                            std::to_string(judge.weight.units()) + ", what it has locked is " +
                            std::to_string(left));
    }
    // Once dropped or revoked is for ever.
    for (const auto& verifier : job.verifiers) {
        const auto key = contracts::read_node_key(state, verifier.node);
        if (!named.contains(verifier.node) && !verifier.dropped && key && !key->revoked)
            wrong.push_back("judges: " + verifier.node.brief() + " is left out");
    }
    return wrong;
}

std::vector<std::string> audit_drawn_judges(const Job& job, const Round& round, const SlotRound& slot,
                                            const LaterDraws& due) {
    if (is_drawn_again(job, round, slot, due)) return {};
    return {"draw: the verifiers are not those that the beacon draws by locked stake"};
}

}  // namespace assay::ledger
