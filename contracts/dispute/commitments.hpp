// SPDX-License-Identifier: Apache-2.0
// The commitments inside a step, computed by the reference machine, for players and tests. It runs a step
// operator by operator and keeps a version of every output, so that it can give any hash of the way down and
// open any partial. It is slow and plain on purpose; a worker's commitments are tested against it.
#pragma once

#include <optional>

#include "contracts/dispute/witness.hpp"
#include "contracts/program/reference_step.hpp"

namespace assay::dispute {

/// What a step is computed from.
struct StepInputs {
    StepFacts facts;
    program::SlotArrays state;
    std::array<Hash256, program::kStateComponents> components;  ///< leaves of the state at the step's start
    base::Bytes token_file;
};

/// A number of an output that is changed right after its operator wrote it. All later operators use the
/// changed number.
struct PlantedFault {
    std::uint32_t operator_index = 0;
    std::uint32_t output = 0;
    std::uint64_t element = 0;  ///< row by row
    std::uint32_t flip = 1;     ///< bits that change; 1: by one ulp
};

class StepCommitments final : public StepMemory {
public:
    /// Runs operators 0 … `last` of the step, or all, but none after the first with an output that is not
    /// finite. REQUIRES inputs that outlive it, and tokens below the vocabulary.
    explicit StepCommitments(const StepInputs& inputs, std::optional<std::uint32_t> last = std::nullopt,
                             std::optional<PlantedFault> fault = std::nullopt);

    /// The operator after which none ran, because its output is not finite.
    [[nodiscard]] std::optional<std::uint32_t> diverged() const { return diverged_; }
    /// The tree over the roots of all outputs up to `last`, in program order.
    [[nodiscard]] const StoredTree& outputs() const { return outputs_; }
    /// The tree over the tiles of an output. REQUIRES an operator that ran.
    [[nodiscard]] const StoredTree& tiles_of(std::uint32_t operator_index, std::uint32_t output) const;
    /// The numbers of an output as its operator left them, +0 for those that it did not write.
    [[nodiscard]] const std::vector<float>& version(std::uint32_t operator_index,
                                                    std::uint32_t output) const {
        return versions_[inputs_.facts.first_output[operator_index] + output];
    }
    /// A tile of it.
    [[nodiscard]] Cells tile_of(std::uint32_t operator_index, std::uint32_t output, std::uint64_t tile) const;
    /// The partials of a tile, computed by their law from the versions here; the last is the version's own
    /// tile.
    [[nodiscard]] std::vector<Cells> partials(const PartialPosition& position);

    [[nodiscard]] const StepFacts* facts() const override { return &inputs_.facts; }
    void tile(const Source& source, std::uint64_t number, Tile& out) override;
    const StoredTree& tiles(const Source& source) override;
    const StoredTree& above(const Source& source) override;
    /// None: a step reads no integers.
    void wholes(const Source& source, std::uint64_t number, Cells& out) override;
    const StoredTree& components(std::uint32_t) override { return components_; }
    void piece(std::uint64_t number, base::Bytes& out, std::vector<Hash256>& siblings) override;

private:
    void keep(std::uint32_t operator_index, std::uint32_t output, std::span<const float> values);
    [[nodiscard]] std::span<const float> state_values(const Source& source) const;

    const StepInputs& inputs_;
    std::vector<std::vector<float>> versions_;  // of outputs, in program order
    std::vector<StoredTree> trees_;             // over their tiles
    StoredTree outputs_;
    std::optional<std::uint32_t> diverged_;
    std::map<std::uint64_t, StoredTree> state_tiles_;   // by Source::key
    std::map<std::uint32_t, StoredTree> state_arrays_;  // by component
    StoredTree components_;
    StoredTree pieces_;
};

/// Tile hashes of a matrix, as tensor_root makes them.
StoredTree tile_tree(std::uint64_t rows, std::uint64_t cols, std::span<const float> values);

}  // namespace assay::dispute
