// SPDX-License-Identifier: Apache-2.0
// Gives the rules the beacon phase of a round (docs/concepts/round.md): tries, link bonds, the beacon, and
// who pays a round at rate 1. Internal to the rules.
#pragma once

#include <vector>

#include "contracts/rules/round/machine.hpp"

namespace assay::contracts {

/// The links that the members of a job open in a round that begins now: of all that withheld none before, and
/// whose keys are not revoked.
std::vector<BeaconLink> links_of_round(const StateView& state, const Job& job);

/// Ends a window of the beacon phase. Each member whose link is missing loses its link bond and its
/// membership, and the round is at rate 1. True: somebody opened, so that the try is void, and everyone who
/// is left opens the next link. False: the beacon can be drawn.
bool void_try(RunningRound& running);

/// Sets the round's beacon from the links of its last try; of the commits, when there is no link.
void close_links(RunningRound& running);

/// Owners of members that withheld a link in this round: none of their verifiers is drawn in it. Nobody,
/// where they hold half of the judges' weight or more: whoever orders blocks could else leave out the links
/// of the honest, and have its friends drawn alone.
std::vector<PublicKey> withholders(const RunningRound& running);

/// Pays what the audits of a round at rate 1 cost more than those at the job's rates from the link bonds that
/// were lost in it, and burns the rest. One line for each. Once the round is settled.
void settle_links(RunningRound& running);

}  // namespace assay::contracts
