// SPDX-License-Identifier: Apache-2.0
// The subject of a game: one unit of a claim, with the hashes that the claim fixes, and everything that
// follows from the job. For the ledger and both players.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "contracts/dispute/array_referee.hpp"
#include "contracts/dispute/clip_referee.hpp"
#include "contracts/dispute/end_referee.hpp"
#include "contracts/program/trace.hpp"

namespace assay::dispute {

/// The clip of a slot in jobs without a norm bound.
inline constexpr std::uint32_t kNoClip = arithmetic::kWholeClip;

/// What is disputed. Frozen numbers.
enum class UnitKind : std::uint8_t {
    kSegment = 1,  ///< the steps between two boundaries of a slot
    kUpdate = 2,   ///< `finalise`: the update of a slot
    kCarried = 3,  ///< `finalise`: what a slot carries out
    kMerge = 4,    ///< the state that a merge claim names
    kClip = 5,     ///< the clip of one slot in a merge claim
};
std::string_view to_text(UnitKind kind);

/// The unit and what is claimed about it. All of it is on the ledger before the game begins.
struct UnitClaim {
    UnitKind kind = UnitKind::kSegment;
    std::uint64_t round = 0;
    std::uint32_t slot = 0;  ///< unused for a merge
    // For a segment: its completed steps of the round are [first_step, last_step).
    std::uint32_t segment = 0;
    std::uint32_t first_step = 0;
    std::uint32_t last_step = 0;
    std::vector<program::Fingerprint> fingerprints;  ///< of those steps
    /// For a segment: the operator of step `last_step` at which the work ended. For an update: set when the
    /// work ended there, with any number.
    std::optional<std::uint32_t> diverged_at;
    std::uint64_t age = 0;  ///< of a segment: number of steps of the moments before first_step
    /// For a segment: the states before first_step and before last_step. For an update: the round's base and
    /// the slot's last boundary. For kCarried: the last boundary. For a merge: the round's base.
    std::vector<Hash256> states;
    /// The root of the update, of what is carried out, or of the merged state. Unused for a segment.
    Hash256 claimed;
    /// For a merge: the updates' roots, in the order of its slots. For a clip: that slot's.
    std::vector<Hash256> updates;
    std::vector<std::uint32_t>
        clips;  ///< for a merge: of each slot, kNoClip if the job has none; for a clip: the clip

    friend bool operator==(const UnitClaim&, const UnitClaim&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.kind, self.round, self.slot, self.segment, self.first_step, self.last_step,
              self.fingerprints, self.diverged_at, self.age, self.states, self.claimed, self.updates,
              self.clips);
    }
};

/// Whether a game about such a unit can be judged: the referee knows how the job's strategy makes it.
bool has_referee(const program::StrategyRow& row, UnitKind kind);

/// What follows from the job and the unit. It caches the facts of the step that was asked for last.
class UnitFacts {
public:
    /// REQUIRES a spec that check_spec accepts, and a claim that fits it; both outlive this.
    UnitFacts(const program::JobSpec& spec, const UnitClaim& claim);
    UnitFacts(const UnitFacts&) = delete;
    UnitFacts& operator=(const UnitFacts&) = delete;

    [[nodiscard]] const UnitClaim& claim() const { return claim_; }
    [[nodiscard]] const program::JobSpec& spec() const { return spec_; }
    [[nodiscard]] const std::vector<program::TensorInfo>& tensors() const {
        return whole_program().parameters;
    }
    /// The facts of a step of the segment. REQUIRES a completed step, or the one at which the work ended.
    [[nodiscard]] const StepFacts& step(std::uint32_t step);
    /// The facts of an update, or of a merge's parameters or momentum.
    [[nodiscard]] ArrayFacts array(ArrayUnit unit) const;
    [[nodiscard]] ClipFacts clip() const;
    /// Counters of the state after `step` steps of the round; its arrays are zero.
    [[nodiscard]] program::StateRoots known(std::uint32_t step) const;
    /// For a merge: the root of the state whose arrays have these roots.
    [[nodiscard]] Hash256 merged_state(const Hash256& parameters, const Hash256& outer) const;

private:
    [[nodiscard]] const program::Program& whole_program() const;

    const program::JobSpec& spec_;
    const UnitClaim& claim_;
    mutable std::shared_ptr<const program::Program> program_;  ///< null until it is needed
    std::optional<std::uint32_t> at_;
    StepFacts step_;
};

}  // namespace assay::dispute

namespace assay::base {
ASSAY_ENUM_RANGE(dispute::UnitKind, kSegment, kClip);
}  // namespace assay::base
