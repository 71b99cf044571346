// SPDX-License-Identifier: Apache-2.0
// Gives the bench of disputes operands at the shapes of real models, made tile by tile from a few patterns,
// so that no whole tensor is in memory. The size of a witness and the time of its verdict depend on nothing
// else.
#pragma once

#include <map>
#include <vector>

#include "contracts/dispute/referee.hpp"

namespace assay::node {

/// The numbers of every operand.
enum class NumberPattern : std::uint8_t { kOrdinary, kSubnormal };

class ShapeMemory final : public dispute::StepMemory {
public:
    /// `facts` and `token_file` must outlive it.
    ShapeMemory(const dispute::StepFacts& facts, const base::Bytes& token_file, NumberPattern pattern);
    /// Forgets all tensors: the next partial opens others.
    void forget();

    [[nodiscard]] const dispute::StepFacts* facts() const override { return &facts_; }
    void tile(const dispute::Source& source, std::uint64_t number, dispute::Tile& out) override;
    const dispute::StoredTree& tiles(const dispute::Source& source) override;
    const dispute::StoredTree& above(const dispute::Source& source) override;
    void wholes(const dispute::Source& source, std::uint64_t number, dispute::Cells& out) override;
    const dispute::StoredTree& components(std::uint32_t state) override;
    void piece(std::uint64_t number, base::Bytes& out, std::vector<base::Hash256>& siblings) override;

    /// These roots are valid once everything that a partial reads was read once.
    [[nodiscard]] base::Hash256 outputs_root();
    [[nodiscard]] base::Hash256 state_root() { return components(0).root(); }
    /// Root of every array of integers; they are all the same.
    [[nodiscard]] base::Hash256 array_root();
    [[nodiscard]] base::Hash256 data() const { return pieces_.root(); }

private:
    [[nodiscard]] bool is_patterned(const dispute::Source& source, std::uint64_t number) const;
    const dispute::StoredTree& outputs();
    const dispute::StoredTree& array(std::uint32_t component);
    [[nodiscard]] base::Hash256 tile_hash_at(const dispute::Source& source, std::uint64_t number);

    const dispute::StepFacts& facts_;
    const base::Bytes& token_file_;
    std::vector<dispute::Tile> patterns_;
    std::vector<base::Hash256> hashes_;  // of the patterns
    std::vector<dispute::Cells> integers_;
    std::vector<base::Hash256> integer_hashes_;
    dispute::StoredTree pieces_;
    std::map<std::uint64_t, dispute::Source> read_;
    std::map<std::uint64_t, dispute::StoredTree> tiles_;
    std::map<std::uint32_t, dispute::StoredTree> arrays_;  // by component; of all integers, under kArrays
    dispute::StoredTree outputs_;
    dispute::StoredTree components_;
};

}  // namespace assay::node
