// SPDX-License-Identifier: Apache-2.0
// Gives roles a participant's beacon chain for one job: its secret is derived from the node key, so that a
// restarted process opens the same links. The ledger counts the links that each member has opened, and a role
// asks it: nothing has to be kept.
#pragma once

#include "contracts/rules/tables.hpp"
#include "node/roles/onboarding.hpp"

namespace assay::node {

/// H("assay/beacon-secret", seed of the key, what the job is known by). A buyer knows its job only by the
/// encoded spec when it must name the tip; everybody else by the job's id.
base::Hash256 beacon_secret(const base::SecretKey& key, base::ByteView job_name);

/// Offers the link that the running try waits for: the job is in its beacon phase, `node` is a member, and
/// the link is not opened yet. After a void try that is the next one.
void keep_beacon(const contracts::StateView& state, const contracts::Job& job, const base::PublicKey& node,
                 const base::Hash256& secret, const OfferHandler& offer);

}  // namespace assay::node
