// SPDX-License-Identifier: Apache-2.0
// Gives the audit of a model play_tile(), which recomputes one tile of an update or of a merged state twice.
// This machine's worker makes the array and shows the way from its root down to the tile, and the ledger's
// referee computes the tile again in the law's own arithmetic. It is a game that a machine plays with itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "contracts/base/error.hpp"
#include "contracts/dispute/unit.hpp"
#include "node/worker/worker_client.hpp"

namespace assay::node {

/// Of a machine whose two computations of the same differ: it must not accuse. kPreflight.
base::Failed<base::Error> computed_twice(const std::string& what);

/// Whether the referee can judge single tiles of such arrays. It cannot when the job's codec or merge needs
/// the whole array at once.
bool tiles_are_judged(const dispute::UnitFacts& facts, dispute::ArrayUnit unit);

/// Plays the way down to `tile`. `request` names round, end or merged slots, as DescendArray needs them with
/// `files`; its question is filled in here. Returns an empty text when the worker's array has the claimed
/// root and the referee accepts every partial of the tile, else what differs, which was then computed a
/// second time. Errors: the worker's, kPreflight when the two times differ, and kVerification for bytes that
/// are not what `request` says.
base::Outcome<std::string> play_tile(WorkerClient& worker, dispute::UnitFacts& facts, dispute::ArrayUnit unit,
                                     const dispute::ArrayPosition& tile, frames::DescendArray request,
                                     const std::vector<frames::SharedDescriptor>& files);

}  // namespace assay::node
