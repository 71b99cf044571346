// SPDX-License-Identifier: Apache-2.0
// RoundPlan lists the audit units of one slot's round, what each starts from, and its work, for code that
// audits, draws, pays or fetches. FileSizes gives the sizes of the files that are sent.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "contracts/program/job_spec.hpp"

namespace assay::program {

/// Steps [first, last) of a round.
struct StepRange {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
};

/// The states from which a unit is computed.
struct UnitStart {
    bool base = false;     ///< the round's base state
    bool carried = false;  ///< what the slot carries from its last accepted round, if the job carries
    std::optional<std::uint32_t> boundary;  ///< the slot state at this boundary, from the miner's bytes
    std::span<const StateArray> arrays;     ///< of that state or of the carried one, in the row's order
};

/// Bytes of a file of each kind; for an update the maximum. A slot state is a head and a file for each array.
struct FileSizes {
    std::uint64_t base_state = 0;
    std::uint64_t slot_head = 0;
    std::uint64_t array = 0;
    std::uint64_t slot_state = 0;  ///< all files of it
    std::uint64_t update = 0;

    /// Bytes of the head and so many arrays of a slot state.
    [[nodiscard]] std::uint64_t state_of(std::size_t arrays) const { return slot_head + arrays * array; }
};

/// Adjacent units, which are recomputed together from the state at the start of the first.
struct UnitRun {
    std::uint32_t first = 0;
    std::uint32_t last = 0;  ///< included
    /// Whether only the round's base and what the slot carries are needed.
    [[nodiscard]] bool from_base() const { return first == 0; }
    friend bool operator==(const UnitRun&, const UnitRun&) = default;
};
/// The runs of ascending units, in ascending order. `finalise` follows the last segment.
std::vector<UnitRun> runs_of(std::span<const std::uint32_t> units);

/// Boundaries are numbered from 0, the slot's start, to segments(), its end. Units 0 to segments() - 1 are
/// the segments between them; the last unit, `finalise`, makes the update of the end.
class RoundPlan {
public:
    /// REQUIRES a spec whose train and security sections are within their limits.
    explicit RoundPlan(const JobSpec& spec);

    /// Runs of steps between two boundaries: ceil(inner_steps / segment_steps).
    [[nodiscard]] std::uint32_t segments() const { return segments_; }
    /// Audit units: the segments and `finalise`.
    [[nodiscard]] std::uint32_t units() const { return segments_ + 1; }
    /// Number of the unit `finalise`.
    [[nodiscard]] std::uint32_t finalise() const { return segments_; }
    [[nodiscard]] bool is_finalise(std::uint32_t unit) const { return unit == segments_; }
    /// Number of the boundary at the slot's end.
    [[nodiscard]] std::uint32_t last_boundary() const { return segments_; }

    /// REQUIRES unit < units(), and a strategy that has a row.
    [[nodiscard]] UnitStart start(std::uint32_t unit) const;
    /// Steps of a segment; none for `finalise`.
    [[nodiscard]] StepRange steps(std::uint32_t unit) const;
    /// The step of the round at which a boundary stands. REQUIRES boundary <= last_boundary().
    [[nodiscard]] std::uint32_t step_at(std::uint32_t boundary) const;
    /// The unit in which a slot's work ended at `step`: the segment of the step, or `finalise` at the end.
    [[nodiscard]] std::uint32_t unit_of(std::uint32_t step) const;
    /// Work units of a unit in a slot's round of `slot_work`: its steps' share, rounded up; 1 for `finalise`.
    [[nodiscard]] std::uint64_t work(std::uint32_t unit, std::uint64_t slot_work) const;

private:
    std::uint32_t inner_steps_;
    std::uint32_t segment_steps_;
    std::uint32_t segments_;
    bool carries_;
    const StrategyRow* row_;
};

/// Sizes of the job's files. REQUIRES a spec that check_spec accepts.
FileSizes file_sizes(const JobSpec& spec);

}  // namespace assay::program
