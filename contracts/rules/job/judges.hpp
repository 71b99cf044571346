// SPDX-License-Identifier: Apache-2.0
// Who may judge whose work in a job, for the dealing of slots and for leases.
#pragma once

#include <vector>

#include "contracts/rules/job/records.hpp"
#include "contracts/rules/state/params.hpp"
#include "contracts/rules/state/state.hpp"

namespace assay::contracts {

/// The owners of the verifiers that may be drawn, ascending.
std::vector<PublicKey> owners_of_judges(const StateView& state, const Job& job);

/// The same of a job of which nothing else is read.
std::vector<PublicKey> owners_of_judges(const StateView& state, const Hash256& job);

/// Whether enough of these owners are others than this one: a verifier of its own is never drawn for a miner.
bool can_be_judged(const std::vector<PublicKey>& judges, const PublicKey& owner, const Params& params);

}  // namespace assay::contracts
