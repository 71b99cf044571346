// SPDX-License-Identifier: Apache-2.0
// Gives the ledger node SequencerRole, its own part in jobs: it enlists for every job's beacon and opens
// its links.
#pragma once

#include "node/roles/following_role.hpp"

namespace assay::node {

class SequencerRole final : public FollowingRole {
public:
    using FollowingRole::FollowingRole;

private:
    void plan() override;
};

}  // namespace assay::node
