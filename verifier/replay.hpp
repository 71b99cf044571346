// SPDX-License-Identifier: Apache-2.0
// Gives verifiers and auditors the computation of one audit unit from bytes, without a word of what its miner
// claims (contracts/worker/unit_parts.hpp compares). It depends on its inputs alone: it runs inside
// assay-worker and in tests alike.
#pragma once

#include <optional>
#include <string>

#include "contracts/base/error.hpp"
#include "contracts/program/trace.hpp"
#include "contracts/worker/frames.hpp"
#include "trainer/run/job_runner.hpp"

namespace assay::verifier {

using worker::UnitVerdict;

/// What a verifier holds when it computes a unit. Segment 0 starts from `base` (never from a miner's bytes);
/// segment s > 0 from `start`, the slot state of boundary s; finalise from both, `start` being the last
/// boundary's state. A start that is missing or has another root than `start_root` is kUnavailable; one that
/// has that root and cannot stand at its boundary is kMisplaced (program::misplaced_unit_root).
struct UnitInput {
    trainer::ReplayPlace place;
    std::optional<trainer::BaseState> base;
    std::optional<trainer::SlotState> start;
    base::Hash256 start_root;  ///< as its miner opened it, or as the unit before gave it
    /// The components of the start's root that its head names. An array that the unit does not read is not
    /// there, and this is its root.
    std::optional<program::StateRoots> start_roots;
    /// For segment 0 of a slot that carries: the end of its last accepted round, and the root that it must
    /// have (zero: it goes on with nothing). Missing, or with another root, it is kUnavailable.
    std::optional<trainer::SlotState> carried;
    base::Hash256 carried_in;
};

struct UnitResult {
    UnitVerdict verdict = UnitVerdict::kUnavailable;
    worker::UnitParts parts;                ///< all zero when unavailable
    std::string why;                        ///< of kMisplaced and kUnavailable: one sentence
    std::optional<trainer::SlotState> end;  ///< of a segment
    program::StateRoots end_roots;          ///< of `end`
    std::optional<trainer::Update> update;  ///< of finalise
};

/// Computes the unit. kUsage when the unit does not exist; kInterrupted when cancelled.
base::Outcome<UnitResult> compute_unit(trainer::JobRunner& runner, const UnitInput& input,
                                       const trainer::Watch& watch);

}  // namespace assay::verifier
