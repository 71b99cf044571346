// SPDX-License-Identifier: Apache-2.0
// RecordedStep keeps the parts of a step that the job runner ran for a dispute: just enough to compute the
// partials of one tile and to open one of them.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>

#include "contracts/dispute/referee.hpp"
#include "trainer/dispute/step_recorder.hpp"

namespace assay::trainer {

/// Tiles of a source.
struct TilesRead {
    dispute::Source source;
    std::set<std::uint64_t> tiles;
};
/// Keyed by Source::key.
using Reads = std::map<std::uint64_t, TilesRead>;

/// Returns the tiles that partials [first, last) of a tile read. Of all numbers only the step's tokens decide
/// which. REQUIRES partials that exist, and the job's token file.
Reads reads_of(const dispute::StepFacts& facts, dispute::PartialPosition position, std::uint64_t first,
               std::uint64_t last, base::ByteView token_file);

/// Parts of the state at a step's start, copied before the step runs.
class StateParts {
public:
    using Arrays = std::array<std::span<const float>, 3>;  ///< parameters and moments

    /// Copies the tiles in `reads` and, for the sources in `shown`, the hash trees that prove them in a state
    /// with these roots.
    StateParts(const dispute::StepFacts& facts, Device& device, const Arrays& arrays, const Reads& reads,
               const Reads& shown, const program::StateRoots& roots);

    [[nodiscard]] const dispute::Tile& tile(const dispute::Source& source, std::uint64_t number) const {
        return tiles_.at({source.key(), number});
    }
    [[nodiscard]] const dispute::StoredTree& tiles(const dispute::Source& source) const {
        return trees_.at(source.key());
    }
    [[nodiscard]] const dispute::StoredTree& array(std::uint32_t component) const {
        return arrays_.at(component);
    }
    [[nodiscard]] const dispute::StoredTree& components() const { return components_; }

private:
    std::map<std::pair<std::uint64_t, std::uint64_t>, dispute::Tile> tiles_;
    std::map<std::uint64_t, dispute::StoredTree> trees_;
    std::map<std::uint32_t, dispute::StoredTree> arrays_;
    dispute::StoredTree components_;
};

/// The leaves of an array's root, one for each tensor, and the tensors' own roots.
struct ArrayLeaves {
    std::vector<base::Hash256> leaves;
    std::vector<base::Hash256> roots;  ///< of the tensors
};
ArrayLeaves array_leaves(const dispute::StepFacts& facts, Device& device, std::span<const float> array);

class RecordedStep final : public dispute::StepMemory {
public:
    /// All arguments must outlive it. `live`: null, or an executor that has run the step and holds the
    /// gradients of parameters.
    RecordedStep(const dispute::StepFacts& facts, const StepRecorder& recorder, const StateParts* state,
                 base::ByteView token_file, const Executor* live)
        : facts_(facts), recorder_(recorder), state_(state), token_file_(token_file), live_(live) {}
    /// Sets the tree over the roots of all outputs; needed when anything is to be proved.
    void set_roots(dispute::StoredTree outputs) { outputs_ = std::move(outputs); }

    [[nodiscard]] const dispute::StepFacts* facts() const override { return &facts_; }
    void tile(const dispute::Source& source, std::uint64_t number, dispute::Tile& out) override;
    const dispute::StoredTree& tiles(const dispute::Source& source) override;
    const dispute::StoredTree& above(const dispute::Source& source) override;
    /// None: a step reads no integers.
    void wholes(const dispute::Source& source, std::uint64_t number, dispute::Cells& out) override;
    const dispute::StoredTree& components(std::uint32_t state) override;
    void piece(std::uint64_t number, base::Bytes& out, std::vector<base::Hash256>& siblings) override;

private:
    void live_tile(const dispute::Source& source, std::uint64_t number, dispute::Tile& out) const;

    const dispute::StepFacts& facts_;
    const StepRecorder& recorder_;
    const StateParts* state_;
    base::ByteView token_file_;
    const Executor* live_;
    dispute::StoredTree outputs_;
    std::map<std::uint32_t, dispute::StoredTree> trees_;
    std::optional<dispute::StoredTree> pieces_;
};

}  // namespace assay::trainer
