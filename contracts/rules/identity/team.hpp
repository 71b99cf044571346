// SPDX-License-Identifier: Apache-2.0
// The hard caps of a team's members, for the rules: what a member may still take from its sponsor's account,
// and the count of what it took. Internal to the rules.
#pragma once

#include "contracts/rules/identity/tables.hpp"
#include "contracts/rules/state/work.hpp"

namespace assay::contracts {

/// The amount that counts against TeamCaps::per_day at `height`: what was taken in the last TeamCaps::day
/// heights, `height` included.
Amount taken_in_day(const TeamMember& member, std::uint64_t height);

/// Whether the member may take `amount` more for a job that took `of_job` so far. Fails with kNotMember once
/// the member is revoked, or with the cap that the amount would exceed.
Checked check_room(const TeamMember& member, std::uint64_t height, Amount of_job, Amount amount);

/// Counts an amount that check_room allowed.
void take_room(TeamMember& member, std::uint64_t height, Amount amount);

/// Gives room in TeamCaps::total back, but none in the day's cap. Otherwise a member that submits, cancels
/// and submits again would have the whole day's cap each time.
void give_room(State& state, const PublicKey& sponsor, const PublicKey& member, Amount amount);

}  // namespace assay::contracts
