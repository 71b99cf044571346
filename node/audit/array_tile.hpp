// SPDX-License-Identifier: Apache-2.0
// Gives the audit of a model one tile of an update or of a merged state, recomputed twice: this machine's
// worker makes the array and shows the way from its root down to the tile, and the ledger's referee
// computes the tile again in the law's own arithmetic. A game that a machine plays with itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "contracts/base/error.hpp"
#include "contracts/dispute/unit.hpp"
#include "node/worker/worker_client.hpp"

namespace assay::node {

/// Whether the referee can judge single tiles of such arrays; not where the job's codec or merge looks at the
/// whole array at once.
bool tiles_are_judged(const dispute::UnitFacts& facts, dispute::ArrayUnit unit);

/// Plays the way down to `tile` of `tensor`. `request` names round, end or merged slots, as DescendArray
/// wants them with `files`; its question is filled in here. Empty: the array that the worker made has the
/// claimed root, and the referee takes every partial of the tile. Else what was found instead. Errors are of
/// the worker, and of bytes that are not what `request` says (kVerification).
base::Outcome<std::string> play_tile(WorkerClient& worker, dispute::UnitFacts& facts, dispute::ArrayUnit unit,
                                     const dispute::ArrayPosition& tile, frames::DescendArray request,
                                     const std::vector<frames::SharedDescriptor>& files);

}  // namespace assay::node
