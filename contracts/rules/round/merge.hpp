// SPDX-License-Identifier: Apache-2.0
// The merge of a round (docs/concepts/round.md), for the rules: who may claim one, which claim stands, and
// what becomes of the others. Internal to the rules.
#pragma once

#include <optional>
#include <vector>

#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/round/transactions.hpp"

namespace assay::contracts {

/// The bond of the dearest slot of the round. It counts because a merge is about all slots.
Amount largest_bond(const std::vector<SlotRound>& slots);
/// The part of a verifier's bond that stands behind its merge until the settlement: what an unopened merge
/// would take.
Amount merge_bond(const Params& params, const std::vector<SlotRound>& slots,
                  const EnlistedVerifier& verifier);

/// Makes an empty posting for each judge of the round, and opens a claim for each. Part of what the judge
/// locked for the job moves from its enlistment to the claim, and comes back when the claim is closed, before
/// any penalty is taken. Returns false, with nothing made, when no slot can be merged. REQUIRES verdicts.
bool call_mergers(RunningRound& running);

/// Whether a claim names at least one slot, only slots of merge_slots(), in the bitmap's canonical form, and
/// has a clip for each of them exactly when the job has a norm bound and the claim is not diverged.
bool may_claim(const StateView& state, const JobSpec& spec, const MergeOpen& tx);

/// The claim that stands. Of the opened claims those with the most slots count. Of these, the one stands that
/// judges with more than half of the round's locked stake opened alike. Opening a claim attests the result
/// and that its bytes are held, so this is also the storage majority of θ_{r+1}. A diverged claim (the state
/// is not finite) counts only against other diverged claims, because no game could be about it. Returns
/// nothing when none stands; the model's state then stays as it is.
std::optional<MergeClaim> standing_merge(const Round& round);

/// What follows for one posting, given standing_merge(). The first judge that opened the standing claim is
/// paid. A judge that opened another state of the same slots accuses it.
Reason merge_reason(const Round& round, const std::optional<MergeClaim>& standing,
                    const MergePosting& posting);

/// The accusations of the merge that stands, in the order of the judges.
std::vector<Accusation> merge_accusations(const Round& round, const MergeClaim& standing);

}  // namespace assay::contracts
