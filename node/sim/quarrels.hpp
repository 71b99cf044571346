// SPDX-License-Identifier: Apache-2.0
// Gives a simulated party the moves of a quarrel: challenges, picks and concessions that no role would make.
#pragma once

#include <optional>
#include <set>

#include "contracts/rules/transactions.hpp"
#include "node/sim/behaviour.hpp"

namespace assay::node::sim {

/// What a party of this conduct sends at this height; nothing: it is silent. `targets`: the nodes whose
/// claims it challenges. Of the job's games and claims alone.
std::optional<contracts::Payload> next_quarrel(const contracts::StateView& state, const base::Hash256& job,
                                               std::uint64_t height, const base::PublicKey& me,
                                               const Conduct& conduct,
                                               const std::set<base::PublicKey>& targets);

}  // namespace assay::node::sim
