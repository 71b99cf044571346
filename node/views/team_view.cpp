// SPDX-License-Identifier: Apache-2.0
#include "node/views/team_view.hpp"

#include "contracts/rules/identity/team.hpp"

namespace assay::node {

TeamView team_view(const contracts::StateView& state, const base::PublicKey& sponsor, std::uint64_t height) {
    TeamView view{.sponsor = sponsor, .members = {}};
    for (const auto& [key, member] : contracts::list_team(state, sponsor))
        view.members.push_back({.member = key,
                                .caps = member.caps,
                                .revoked = member.revoked,
                                .taken_in_day = contracts::taken_in_day(member, height),
                                .taken = member.taken});
    return view;
}

}  // namespace assay::node
