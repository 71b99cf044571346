// SPDX-License-Identifier: Apache-2.0
// Operands at the shapes of real models, tile by tile from a few patterns, so that no tensor is held: what a
// witness weighs and what its verdict takes does not depend on more.
#pragma once

#include <map>
#include <vector>

#include "contracts/dispute/referee.hpp"

namespace disputed {

/// The numbers of every operand.
enum class Pattern { kOrdinary, kSubnormal };

class ShapeMemory final : public assay::dispute::StepMemory {
public:
    /// `facts` and `token_file` must outlive it.
    ShapeMemory(const assay::dispute::StepFacts& facts, const assay::base::Bytes& token_file,
                Pattern pattern);
    /// Forgets all tensors: the next partial opens others.
    void forget();

    [[nodiscard]] const assay::dispute::StepFacts* facts() const override { return &facts_; }
    void tile(const assay::dispute::Source& source, std::uint64_t number, assay::dispute::Tile& out) override;
    const assay::dispute::StoredTree& tiles(const assay::dispute::Source& source) override;
    const assay::dispute::StoredTree& above(const assay::dispute::Source& source) override;
    void wholes(const assay::dispute::Source& source, std::uint64_t number,
                assay::dispute::Cells& out) override;
    const assay::dispute::StoredTree& components(std::uint32_t state) override;
    void piece(std::uint64_t number, assay::base::Bytes& out,
               std::vector<assay::base::Hash256>& siblings) override;

    /// Roots, once everything that a partial reads was read once.
    [[nodiscard]] assay::base::Hash256 outputs_root();
    [[nodiscard]] assay::base::Hash256 state_root() { return components(0).root(); }
    /// Of every array of integers: they are all the same.
    [[nodiscard]] assay::base::Hash256 array_root();
    [[nodiscard]] assay::base::Hash256 data() const { return pieces_.root(); }

private:
    [[nodiscard]] bool is_patterned(const assay::dispute::Source& source, std::uint64_t number) const;
    const assay::dispute::StoredTree& outputs();
    const assay::dispute::StoredTree& array(std::uint32_t component);
    [[nodiscard]] assay::base::Hash256 tile_hash_at(const assay::dispute::Source& source,
                                                    std::uint64_t number);

    const assay::dispute::StepFacts& facts_;
    const assay::base::Bytes& token_file_;
    std::vector<assay::dispute::Tile> patterns_;
    std::vector<assay::base::Hash256> hashes_;  // of the patterns
    std::vector<assay::dispute::Cells> integers_;
    std::vector<assay::base::Hash256> integer_hashes_;
    assay::dispute::StoredTree pieces_;
    std::map<std::uint64_t, assay::dispute::Source> read_;
    std::map<std::uint64_t, assay::dispute::StoredTree> tiles_;
    std::map<std::uint32_t, assay::dispute::StoredTree>
        arrays_;  // by component; of all integers, under kArrays
    assay::dispute::StoredTree outputs_;
    assay::dispute::StoredTree components_;
};

}  // namespace disputed
