// SPDX-License-Identifier: Apache-2.0
// Gives the ledger node SequencerRole, its own part in jobs: it enlists for the beacon of every job whose
// link bond its stake covers, and opens its links.
#pragma once

#include <set>

#include "node/roles/following_role.hpp"

namespace assay::node {

class SequencerRole final : public FollowingRole {
public:
    using FollowingRole::FollowingRole;

private:
    void plan() override;
    /// Whether the free stake covers the job's link bond; says so once when it does not.
    bool covers(const contracts::Job& job);

    std::set<base::Hash256> left_alone_;
};

}  // namespace assay::node
