// SPDX-License-Identifier: Apache-2.0
// Gives processes RegistrarRole, the role that a process plays before it serves anybody. It has the
// owner's key, registers node key and role, stakes, and is done.
#pragma once

#include "node/roles/following_role.hpp"

namespace assay::node {

class RegistrarRole final : public FollowingRole {
public:
    /// REQUIRES parts.owner_key.
    RegistrarRole(const RoleParts& parts, WorkRole role, base::Amount stake)
        : FollowingRole(parts), role_(role), stake_(stake) {}

private:
    void plan() override {
        if (onboarded(role_, stake_)) parts().finish(std::nullopt);
    }
    /// Money may come, and is waited for; what is refused for ever ends the process, which nobody uses yet.
    void refused(const RefusedOffer& offer) override {
        if (offer.retry != contracts::Retry::kNever) return FollowingRole::refused(offer);
        parts().finish(rejected(offer.refusal, "'" + offer.name + "'", "see docs/reference/reasons.md"));
    }

    WorkRole role_;
    base::Amount stake_;
};

}  // namespace assay::node
