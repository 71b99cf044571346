// SPDX-License-Identifier: Apache-2.0
// Gives roles a participant's beacon chain for one job. The chain's secret is derived from the node key, so
// that a restarted process opens the same links. The ledger counts the links that each member has opened, so
// a role keeps nothing.
#pragma once

#include "contracts/rules/tables.hpp"
#include "node/roles/onboarding.hpp"

namespace assay::node {

/// H("assay/beacon-secret", seed of the key, `job_name`). `job_name` is the encoded spec for a buyer, which
/// must name the chain's tip before its job has an id, and the job's id for everybody else.
base::Hash256 beacon_secret(const base::SecretKey& key, base::ByteView job_name);

/// Offers the link that the running try waits for, if the job is in its beacon phase, `node` is a member, and
/// the link is not opened yet. After a void try that is the next link.
void keep_beacon(const contracts::StateView& state, const contracts::Job& job, const base::PublicKey& node,
                 const base::Hash256& secret, const OfferHandler& offer);

}  // namespace assay::node
