// SPDX-License-Identifier: Apache-2.0
// Gives sponsors and members what a team's members may take, and what they took.
#pragma once

#include <cstdint>
#include <vector>

#include "contracts/rules/tables.hpp"

namespace assay::node {

struct TeamMemberView {
    base::PublicKey member;
    contracts::TeamCaps caps;
    bool revoked = false;
    base::Amount taken_in_day, taken;

    template <class Visit>
    void fields(Visit& visit) const {
        visit("member", member);
        visit("per_job", caps.per_job);
        visit("per_day", caps.per_day);
        visit("day", caps.day);
        visit("total", caps.total);
        visit("revoked", revoked);
        visit("taken_in_day", taken_in_day);
        visit("taken", taken);
    }
};

struct TeamView {
    base::PublicKey sponsor;
    std::vector<TeamMemberView> members;  ///< including revoked ones

    template <class Visit>
    void fields(Visit& visit) const {
        visit("sponsor", sponsor);
        visit("members", members);
    }
};

/// `height`: of the next block, which decides what counts against a day's cap.
TeamView team_view(const contracts::StateView& state, const base::PublicKey& sponsor, std::uint64_t height);

}  // namespace assay::node
