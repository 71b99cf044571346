// SPDX-License-Identifier: Apache-2.0
// The leases of a job and of a node, for rules and readers of the state. A node has at most one lease in an
// epoch, so it may have one in the running epoch and one in the next.
#pragma once

#include <optional>
#include <vector>

#include "contracts/rules/market/records.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::contracts {

using base::Bytes;

/// job, node, epoch.
Bytes lease_key(const Hash256& job, const PublicKey& node, std::uint64_t epoch);

/// The leases of the job that hold at this height, ascending by node.
std::vector<Lease> leases_at(const StateView& state, const Hash256& job, std::uint64_t height);
/// All stored leases of the job, ascending by node and epoch: those of the running epoch and of the next.
std::vector<Lease> list_leases(const StateView& state, const Hash256& job);
/// How many lots the job has in one epoch.
std::uint32_t count_leases(const StateView& state, const Hash256& job, std::uint64_t epoch);
std::optional<Lease> read_lease(const StateView& state, const Hash256& job, const PublicKey& node,
                                std::uint64_t epoch);

}  // namespace assay::contracts
