// SPDX-License-Identifier: Apache-2.0
#include "contracts/rules/round/merge.hpp"

#include <algorithm>
#include <map>

#include "contracts/base/wide.hpp"
#include "contracts/rules/claim/claims.hpp"
#include "contracts/rules/job/costs.hpp"
#include "contracts/rules/state/store.hpp"

namespace assay::contracts {

namespace {

std::size_t slots_named(const MergeClaim& claim) { return slots_in(claim.slots).size(); }

/// The most slots that an opened claim names, of those that count against this one. No game can be about a
/// claim that the state is not finite, so that it counts against its like alone.
std::size_t most_slots(const Round& round, const MergeClaim& claim) {
    std::size_t most = 0;
    for (const MergePosting& posting : round.merges) {
        if (!posting.opened || (posting.claim.diverged() && !claim.diverged())) continue;
        most = std::max(most, slots_named(posting.claim));
    }
    return most;
}

bool is_first(const Round& round, const MergePosting& posting) {
    return std::none_of(round.merges.begin(), round.merges.end(), [&](const MergePosting& other) {
        return other.opened && other.claim == posting.claim && other.order < posting.order;
    });
}

/// Whether a game between the two decides which is false: they came from the same slots to other clips or to
/// another root. What a claim says beside these, its held-out loss and where the bytes are, no game computes;
/// nor is there one with a word that the state is not finite.
bool accuses(const MergeClaim& said, const MergeClaim& standing) {
    if (said.diverged() || standing.diverged() || said.slots != standing.slots) return false;
    return said.base_root != standing.base_root || said.clips != standing.clips;
}

}  // namespace

Amount largest_bond(const std::vector<SlotRound>& slots) {
    Amount largest;
    for (const SlotRound& slot : slots) largest = std::max(largest, slot.bond);
    return largest;
}

Amount merge_bond(const Params& params, const std::vector<SlotRound>& slots,
                  const EnlistedVerifier& verifier) {
    return smaller(word_penalty(params, largest_bond(slots)), verifier.bond);
}

bool call_mergers(RunningRound& running) {
    const bool any = std::any_of(running.slots.begin(), running.slots.end(),
                                 [](const SlotRound& slot) { return is_merged(slot.verdict); });
    if (!any) return false;
    Job& job = running.job;
    for (const Judge& judge : running.round.judges) {
        EnlistedVerifier& verifier = enlisted_verifier(job, judge.node);
        const Amount bond = merge_bond(running.params, running.slots, verifier);
        verifier.bond = difference(verifier.bond, bond);
        const auto place = static_cast<std::uint32_t>(running.round.merges.size());
        open_claim(running.work.state, {job.id, running.round.number, ClaimKind::kMerge, place},
                   {judge.node, verifier.owner, bond, {}, running.params.claim_window});
        MergePosting posting;
        posting.verifier = judge.node;
        running.round.merges.push_back(posting);
    }
    return true;
}

bool may_claim(const StateView& state, const JobSpec& spec, const MergeOpen& tx) {
    const MergeClaim& claim = tx.claim;
    const auto named = slots_in(claim.slots);
    if (named.empty() || named.back() >= spec.slots || claim.slots != storage_bits(spec.slots, named)) {
        return false;
    }
    const auto mergeable = merge_slots(state, tx.job, tx.round);
    if (!std::includes(mergeable.begin(), mergeable.end(), named.begin(), named.end())) return false;
    const bool clips = spec.has_norm_bound() && !claim.diverged();
    return claim.clips.size() == (clips ? named.size() : 0);
}

std::optional<MergeClaim> standing_merge(const Round& round) {
    std::map<PublicKey, std::uint64_t> weights;
    base::Uint128 all = 0;
    for (const Judge& judge : round.judges) {
        weights[judge.node] = judge.weight.units();
        all += judge.weight.units();
    }
    std::map<MergeClaim, base::Uint128> attested;
    for (const MergePosting& posting : round.merges) {
        if (!posting.opened || slots_named(posting.claim) < most_slots(round, posting.claim)) continue;
        base::Uint128& stake = attested[posting.claim];
        stake += weights[posting.verifier];
        if (2 * stake > all) return posting.claim;
    }
    return std::nullopt;
}

Reason merge_reason(const Round& round, const std::optional<MergeClaim>& standing,
                    const MergePosting& posting) {
    if (!posting.opened) return posting.sealed ? Reason::kMergeUnopened : Reason::kMergeSilent;
    if (slots_named(posting.claim) < most_slots(round, posting.claim)) return Reason::kMergeFewerSlots;
    if (!standing) return Reason::kMergeUndecided;
    if (posting.claim == *standing)
        return is_first(round, posting) ? Reason::kPaidMerge : Reason::kMergeAttested;
    return accuses(posting.claim, *standing) ? Reason::kMergeAccuses : Reason::kMergeUndecided;
}

std::vector<Accusation> merge_accusations(const Round& round, const MergeClaim& standing) {
    std::vector<Accusation> accusations;
    for (const MergePosting& posting : round.merges) {
        if (merge_reason(round, standing, posting) != Reason::kMergeAccuses) continue;
        Accusation accusation;
        accusation.verifier = posting.verifier;
        accusation.found = posting.claim.base_root;
        accusations.push_back(accusation);
    }
    return accusations;
}

}  // namespace assay::contracts
