// SPDX-License-Identifier: Apache-2.0
// A player of a game about an update, a merge or a clip, with all arrays in memory.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "contracts/dispute/player.hpp"

namespace disputed {

/// A round's base, what one slot ended with, and the updates of slots. Moments are zero.
class ArrayStore final : public assay::dispute::StepMemory {
public:
    explicit ArrayStore(std::vector<assay::program::TensorInfo> tensors) : tensors_(std::move(tensors)) {}

    std::vector<float> base, outer, end;
    std::vector<std::vector<std::int64_t>> updates;
    std::uint64_t base_steps = 0;  ///< counters of the base
    std::uint64_t end_steps = 0;   ///< and of the end

    [[nodiscard]] const std::vector<assay::program::TensorInfo>& tensors() const { return tensors_; }
    [[nodiscard]] std::size_t numbers() const;
    [[nodiscard]] assay::program::StateRoots base_roots() const;
    [[nodiscard]] assay::program::StateRoots end_roots() const;
    [[nodiscard]] assay::base::Hash256 update_root(std::span<const std::int64_t> update) const;

    [[nodiscard]] const assay::dispute::StepFacts* facts() const override { return nullptr; }
    void tile(const assay::dispute::Source& source, std::uint64_t number, assay::dispute::Tile& out) override;
    void wholes(const assay::dispute::Source& source, std::uint64_t number,
                assay::dispute::Cells& out) override;
    const assay::dispute::StoredTree& tiles(const assay::dispute::Source& source) override;
    const assay::dispute::StoredTree& above(const assay::dispute::Source& source) override;
    const assay::dispute::StoredTree& components(std::uint32_t state) override;
    void piece(std::uint64_t, assay::base::Bytes&, std::vector<assay::base::Hash256>&) override {}

private:
    [[nodiscard]] std::span<const float> part(const assay::dispute::Source& source) const;

    std::vector<assay::program::TensorInfo> tensors_;
    std::map<std::uint64_t, assay::dispute::StoredTree> tiles_, above_;
    assay::dispute::StoredTree components_;
};

/// Tiles of integers, as an update's tree has them.
assay::dispute::StoredTree whole_tiles(std::uint64_t rows, std::uint64_t cols,
                                       std::span<const std::int64_t> values);

class ArrayUnitPlayer final : public assay::dispute::UnitMemory {
public:
    /// Both outlive it.
    ArrayUnitPlayer(assay::dispute::UnitFacts& facts, ArrayStore& store) : facts_(facts), store_(store) {}

    /// What it claims was made: an update, and the two arrays of a merge.
    std::vector<std::int64_t> update;
    std::vector<float> merged, merged_outer;
    std::optional<assay::dispute::NotFinitePlace> ends;  ///< where its own computation ends, if it does

    [[nodiscard]] assay::base::Hash256 merged_root() const;

    assay::base::Hash256 state(std::uint32_t) override { return {}; }
    std::vector<assay::base::Hash256> row(const assay::dispute::Way& way) override;
    std::vector<assay::base::Hash256> arrays() override;
    std::optional<assay::program::Fingerprint> fingerprint(std::uint32_t) override { return std::nullopt; }
    std::optional<assay::dispute::NotFinitePlace> ends_at(const assay::dispute::Way&) override {
        return ends;
    }
    assay::base::Bytes witness(const assay::dispute::Way& way) override;

private:
    [[nodiscard]] assay::dispute::ArrayUnit unit(const assay::dispute::Way& way) const;
    [[nodiscard]] assay::dispute::StoredTree tree(const assay::dispute::Way& way, std::uint32_t tensor) const;
    /// The partials of the tile by their law, the tile itself as it is claimed.
    [[nodiscard]] std::vector<assay::dispute::Cells> partials(const assay::dispute::Way& way);

    assay::dispute::UnitFacts& facts_;
    ArrayStore& store_;
};

}  // namespace disputed
