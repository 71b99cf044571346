// SPDX-License-Identifier: Apache-2.0
// Gives verifiers the recomputation of one audit unit of a revealed trace from bytes, and what came of it.
// The functions depend on their inputs alone: they run inside assay-worker, in tests and in an audit
// alike.
#pragma once

#include <optional>
#include <string>

#include "contracts/base/error.hpp"
#include "contracts/program/trace.hpp"
#include "contracts/worker/frames.hpp"
#include "trainer/run/job_runner.hpp"

namespace assay::verifier {

using worker::UnitVerdict;

/// What a verifier holds when it recomputes a unit. Segment 0 starts from `base` (never from a miner's
/// bytes); segment s > 0 from `start`, the slot state of boundary s; finalise from both, `start` being the
/// last boundary's state. A start that is missing or has another root is kUnavailable; one that has the
/// claimed root and cannot stand at its boundary is a mismatch (program::misplaced_unit_root). A unit after
/// the slot's divergence needs no start: its work is to repeat the boundary before it.
struct UnitInput {
    trainer::ReplayPlace place;
    program::TraceRecord claimed;
    std::optional<trainer::BaseState> base;
    std::optional<trainer::SlotState> start;
    /// The components of the start's root that its head names. An array that the unit does not read is not
    /// there, and this is its root.
    std::optional<program::StateRoots> start_roots;
    /// For segment 0 of a slot that carries: the end of its last accepted round. Missing, or with another
    /// root than the claimed trace's, it is kUnavailable.
    std::optional<trainer::SlotState> carried;
    /// The end that the miner serves, to name the first number that differs; may be missing or false.
    std::optional<trainer::SlotState> claimed_end;
    std::optional<trainer::Update> claimed_update;
    /// The blob that the reveal names for the update. Of a right update in another file than this, the unit
    /// root is program::misnamed_unit_root. Zero: not known, and not compared.
    base::Hash256 update_blob;
    /// The blob that the reveal names for the last boundary, compared in the same way in jobs that carry: the
    /// slot goes on from that file. Zero: not known, and not compared.
    base::Hash256 last_boundary_blob;
};

struct UnitResult {
    UnitVerdict verdict = UnitVerdict::kUnavailable;
    base::Hash256 unit_root;                ///< as recomputed; zero when unavailable or unsound
    base::Hash256 claimed_root;             ///< program::unit_root of the claimed trace
    std::string difference;                 ///< one sentence; empty on a match
    bool named = false;                     ///< it says what differs; a claimed end could not say it better
    std::uint32_t steps = 0;                ///< inner steps recomputed once
    std::optional<trainer::SlotState> end;  ///< recomputed end of a segment
    program::StateRoots end_roots;          ///< of `end`
    std::optional<trainer::Update> update;  ///< recomputed update of finalise
    base::Hash256 carried_out;              ///< of what it hands on, as recomputed; zero: nothing
};

/// Recomputes and compares. A first mismatch is computed a second time before it is claimed: two different
/// results are kUnsound, because a machine that errs must not accuse. kUsage when the claimed trace is not
/// well formed for the job or the unit does not exist; kInterrupted when cancelled.
base::Outcome<UnitResult> check_unit(trainer::JobRunner& runner, const UnitInput& input,
                                     const trainer::Watch& watch);

/// What differs, as a sentence, and whether that names a single number.
struct NamedDifference {
    std::string text;
    bool exact = false;
};

/// What differs between a recomputed end and a served one, from the numbers down to fingerprints.
NamedDifference name_difference(const trainer::JobRunner& runner, const UnitInput& input,
                                const UnitResult& recomputed,
                                const std::vector<program::Fingerprint>& fingerprints);

}  // namespace assay::verifier
