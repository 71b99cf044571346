// SPDX-License-Identifier: Apache-2.0
// Computes one audit unit for verifiers and auditors. It never sees what the unit's miner claims
// (contracts/worker/unit_parts.hpp compares), and depends only on its inputs, so it runs inside assay-worker
// and in tests alike.
#pragma once

#include <optional>
#include <string>

#include "contracts/base/error.hpp"
#include "contracts/program/trace.hpp"
#include "contracts/worker/frames.hpp"
#include "trainer/run/job_runner.hpp"

namespace assay::verifier {

using worker::UnitVerdict;

/// Inputs of a unit. Segment 0 starts from `base` (never from a miner's bytes); segment s > 0 starts from
/// `start`, the slot state of boundary s; finalise needs both, with `start` the state of the last boundary. A
/// start that is missing, or has another root than `start_root`, gives kUnavailable. One that has that root
/// but cannot stand at its boundary gives kMisplaced (program::misplaced_unit_root).
struct UnitInput {
    trainer::ReplayPlace place;
    std::optional<trainer::BaseState> base;
    /// The root of the base as it came, and the root that it must have: another one gives kUnavailable.
    base::Hash256 base_found, base_root;
    std::optional<trainer::SlotState> start;
    base::Hash256 start_root;  ///< as its miner revealed it, or as the unit before it computed it
    /// The components of the start's root, from its head. Arrays that the unit does not read are missing from
    /// `start`; their roots are here.
    std::optional<program::StateRoots> start_roots;
    /// For segment 0 of a slot that carries moments: the state at the end of its last accepted round, and the
    /// root that the carried state must have (zero: it carries nothing yet). A missing state, or one with
    /// another root, gives kUnavailable.
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
