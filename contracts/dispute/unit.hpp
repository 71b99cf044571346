// SPDX-License-Identifier: Apache-2.0
// Gives the ledger and both players of a game what it is about: one unit of a claim, with the hashes that the
// claim fixes, and everything that follows from the job alone.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "contracts/dispute/array_referee.hpp"
#include "contracts/dispute/clip_referee.hpp"
#include "contracts/dispute/end_referee.hpp"
#include "contracts/program/trace.hpp"

namespace assay::dispute {

/// The clip of a slot in jobs that have none.
inline constexpr std::uint32_t kNoClip = arithmetic::kWholeClip;

/// What is disputed. Frozen numbers.
enum class UnitKind : std::uint8_t {
    kSegment = 1,  ///< the steps between two boundaries of a slot
    kUpdate = 2,   ///< `finalise`: the update of a slot
    kCarried = 3,  ///< `finalise`: what a slot hands on
    kMerge = 4,    ///< the state that a merge claim names
    kClip = 5,     ///< the clip of one slot in a merge claim
};
std::string_view to_text(UnitKind kind);

/// The unit and what is claimed of it. All of it is on the ledger before the game begins.
struct UnitClaim {
    UnitKind kind = UnitKind::kSegment;
    std::uint64_t round = 0;
    std::uint32_t slot = 0;  ///< of a merge: none
    // Of a segment: its completed steps of the round are [first_step, last_step).
    std::uint32_t segment = 0;
    std::uint32_t first_step = 0;
    std::uint32_t last_step = 0;
    std::vector<program::Fingerprint> fingerprints;  ///< of those steps
    /// Of a segment: the operator of step `last_step` at which the work ended. Of an update: the work ended
    /// there, whatever the number.
    std::optional<std::uint32_t> diverged_at;
    std::uint64_t age =
        0;  ///< steps that the moments have behind them at first_step; of kCarried: at its end
    /// Of a segment: the states before first_step and before last_step. Of an update: the round's base and
    /// the slot's last boundary. Of what is handed on: the last boundary. Of a merge: the round's base.
    std::vector<Hash256> states;
    /// The update's root, what is handed on, the merged state. Of a segment: unused.
    Hash256 claimed;
    /// Of a merge: the updates' roots, in the order of its slots. Of a clip: that slot's.
    std::vector<Hash256> updates;
    std::vector<std::uint32_t>
        clips;  ///< of a merge: of each slot, whole where the job has none; of a clip: it

    friend bool operator==(const UnitClaim&, const UnitClaim&) = default;
    template <class Self, class V>
    static void fields(Self& self, V& visit) {
        visit(self.kind, self.round, self.slot, self.segment, self.first_step, self.last_step,
              self.fingerprints, self.diverged_at, self.age, self.states, self.claimed, self.updates,
              self.clips);
    }
};

/// Whether a game about such a unit can end: the referee knows how the job's strategy makes it.
bool has_referee(const program::StrategyRow& row, UnitKind kind);

/// What follows from the job and the unit. It keeps the facts of the step that was asked for last.
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
    /// Of a step of the segment. REQUIRES a completed step, or the one at which the work ended.
    [[nodiscard]] const StepFacts& step(std::uint32_t step);
    /// Of an update, or of a merge's parameters or momentum.
    [[nodiscard]] ArrayFacts array(ArrayUnit unit) const;
    [[nodiscard]] ClipFacts clip() const;
    /// Counters of the state behind `step` steps of the round; its arrays are zero.
    [[nodiscard]] program::StateRoots known(std::uint32_t step) const;
    /// Of a merge: the root of the state whose arrays have these roots.
    [[nodiscard]] Hash256 merged_state(const Hash256& parameters, const Hash256& outer) const;

private:
    [[nodiscard]] const program::Program& whole_program() const;

    const program::JobSpec& spec_;
    const UnitClaim& claim_;
    mutable std::shared_ptr<const program::Program> program_;  ///< null until something of it is asked for
    std::optional<std::uint32_t> at_;
    StepFacts step_;
};

}  // namespace assay::dispute

namespace assay::base {
ASSAY_ENUM_RANGE(dispute::UnitKind, kSegment, kClip);
}  // namespace assay::base
