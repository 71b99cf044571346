// SPDX-License-Identifier: Apache-2.0
// Gives the rules the merge of a round (docs/concepts/round.md): who may claim one, which claim stands, and
// what becomes of the others. Internal to the rules.
#pragma once

#include <optional>
#include <vector>

#include "contracts/rules/round/machine.hpp"
#include "contracts/rules/round/transactions.hpp"

namespace assay::contracts {

/// What stands behind the dearest slot of the round: a merge is about all of them.
Amount largest_bond(const std::vector<SlotRound>& slots);
/// What of a verifier's bond stands behind its merge until the settlement: what an unopened one takes of it.
Amount merge_bond(const Params& params, const std::vector<SlotRound>& slots,
                  const EnlistedVerifier& verifier);

/// Makes an empty posting for each judge of the round, and opens a claim for each: part of what it locked for
/// the job moves from its enlistment to the claim, and comes back when the claim is closed, before any
/// penalty is taken. False: no slot can be merged, and nothing was made. REQUIRES verdicts.
bool call_mergers(RunningRound& running);

/// Whether a claim names at least one slot, none but those of merge_slots(), in the bitmap's canonical form,
/// and a clip for each of them exactly where the job has a norm bound.
bool may_claim(const StateView& state, const JobSpec& spec, const MergeOpen& tx);

/// The claim that stands: of the opened claims those with the most slots count, and of these the one stands
/// that judges with more than half of the round's locked stake opened alike. Opening a claim attests it and
/// says that its bytes are held, so that this is the storage majority of θ_{r+1} too. One that the state is
/// not finite counts against no other: it names nothing that a game could be about. Nothing: none stands, and
/// the state stays as it is.
std::optional<MergeClaim> standing_merge(const Round& round);

/// What follows for one posting, given standing_merge(): paid is who opened the standing claim first. Who
/// opened another state of the same slots accuses it.
Reason merge_reason(const Round& round, const std::optional<MergeClaim>& standing,
                    const MergePosting& posting);

/// Of those who accuse the merge that stands, in the order of the judges.
std::vector<Accusation> merge_accusations(const Round& round, const MergeClaim& standing);

}  // namespace assay::contracts
