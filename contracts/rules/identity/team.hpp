// SPDX-License-Identifier: Apache-2.0
// Gives the rules the hard caps of a team's members: what a member may still take from its sponsor's account,
// and the counting of what it takes. Internal to the rules.
#pragma once

#include "contracts/rules/identity/tables.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

/// What counts against TeamCaps::per_day at `height`: what was taken at it and in the heights before it, as
/// many as a day has.
Amount taken_in_day(const TeamMember& member, std::uint64_t height);

/// Whether the member may take `amount` more for a job that took `of_job` so far. kNotMember once it is
/// revoked; the cap that the amount would break.
Checked check_room(const TeamMember& member, std::uint64_t height, Amount of_job, Amount amount);

/// Counts what check_room let pass.
void take_room(TeamMember& member, std::uint64_t height, Amount amount);

/// Gives room in TeamCaps::total back, and none in the day's: who submits, cancels and submits again would
/// else have a day's cap at every border.
void give_room(State& state, const PublicKey& sponsor, const PublicKey& member, Amount amount);

}  // namespace assay::contracts
