// SPDX-License-Identifier: Apache-2.0
// Gives rules and readers of the state the leases of a job and of a node. A node has at most one lease of an
// epoch: the running one and that of the next can stand side by side.
#pragma once

#include <optional>
#include <vector>

#include "contracts/rules/market/records.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::contracts {

using base::Bytes;

/// job, node, epoch.
Bytes lease_key(const Hash256& job, const PublicKey& node, std::uint64_t epoch);

/// Leases of the job that hold at this height, ascending by node.
std::vector<Lease> leases_at(const StateView& state, const Hash256& job, std::uint64_t height);
/// All of the job that are stored, ascending by node and epoch: the running epoch's and the next one's.
std::vector<Lease> list_leases(const StateView& state, const Hash256& job);
/// How many lots the job has in one epoch.
std::uint32_t count_leases(const StateView& state, const Hash256& job, std::uint64_t epoch);
std::optional<Lease> read_lease(const StateView& state, const Hash256& job, const PublicKey& node,
                                std::uint64_t epoch);

}  // namespace assay::contracts
