// SPDX-License-Identifier: Apache-2.0
// The beacon phase of a round (docs/concepts/round.md), for the rules: tries, link bonds, the beacon, and who
// pays a round at rate 1. Internal to the rules.
#pragma once

#include <vector>

#include "contracts/rules/round/machine.hpp"

namespace assay::contracts {

/// The links that the members of a job open in a round that begins now: one for each member that withheld no
/// link before and whose key is not revoked.
std::vector<BeaconLink> links_of_round(const StateView& state, const Job& job);

/// Ends a window of the beacon phase. Each member whose link is missing loses its link bond and its
/// membership, and the round is audited at rate 1. Returns true when a link is missing although somebody
/// opened one: the try is void, and all remaining members open their next links. Returns false when the
/// beacon can be drawn.
bool void_try(RunningRound& running);

/// Sets the round's beacon from the links of its last try, or from the commits when there is no link.
void close_links(RunningRound& running);

/// The owners of members that withheld a link in this round; none of their verifiers is drawn in it. Empty
/// when they hold half of the judges' weight or more: otherwise a sequencer could leave out the links of the
/// honest, so that only its friends are drawn.
std::vector<PublicKey> withholders(const RunningRound& running);

/// Pays the extra cost of auditing the round at rate 1 instead of the job's rates from the link bonds that
/// were lost in it, and burns the rest. Writes one line for each bond. Called once the round is settled.
void settle_links(RunningRound& running);

}  // namespace assay::contracts
