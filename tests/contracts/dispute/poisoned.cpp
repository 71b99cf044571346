// SPDX-License-Identifier: Apache-2.0
#include "tests/contracts/dispute/poisoned.hpp"

#include <bit>

namespace disputed {

using namespace assay;
using namespace assay::dispute;

namespace {
StoredTree with_leaf(const StoredTree& tree, std::uint64_t index, const Hash256& leaf) {
    const auto leaves = tree.row(0);
    std::vector<Hash256> changed(leaves.begin(), leaves.end());
    changed[index] = leaf;
    return StoredTree(std::move(changed));
}
}  // namespace

Poisoned::Poisoned(StepCommitments& claimant, const Poison& poison) : claimant_(claimant), poison_(poison) {
    Tile own{};
    tile(poison.source, poison.tile, own);
    tiles_ = with_leaf(claimant.tiles(poison.source), poison.tile,
                       tile_hash({CellKind::kReal, {own.begin(), own.end()}, {}}, 16));
    components_ = claimant.components(0);
    if (poison.source.from == Source::From::kOutput) {
        above_ = with_leaf(claimant.above(poison.source), poison.source.number, tiles_.root());
        return;
    }
    const auto& tensor = facts()->program->parameters[poison.source.number];
    above_ = with_leaf(claimant.above(poison.source), poison.source.number,
                       program::tensor_leaf(tensor, tiles_.root()));
    components_ = with_leaf(claimant.components(0), poison.source.array,
                            component_leaf(poison.source.array, above_.root()));
}

bool Poisoned::holds(const Source& source) const { return poison_ && poison_->source.key() == source.key(); }

void Poisoned::tile(const Source& source, std::uint64_t number, Tile& out) {
    claimant_.tile(source, number, out);
    const TileExtent held = held_extent(source, number);
    read_.try_emplace(source.key(), Poison{source, number, held.col % 16, 0});
    if (holds(source) && poison_->tile == number) out[poison_->place] = std::bit_cast<float>(poison_->bits);
}

const StoredTree& Poisoned::tiles(const Source& source) {
    return holds(source) ? tiles_ : claimant_.tiles(source);
}

const StoredTree& Poisoned::above(const Source& source) {
    if (!poison_ || poison_->source.from != source.from) return claimant_.above(source);
    const bool same = source.from == Source::From::kOutput || source.array == poison_->source.array;
    return same ? above_ : claimant_.above(source);
}

const StoredTree& Poisoned::components(std::uint32_t state) {
    return poison_ ? components_ : claimant_.components(state);
}

Hash256 Poisoned::outputs_root() {
    const bool changed = poison_ && poison_->source.from == Source::From::kOutput;
    return changed ? above_.root() : claimant_.outputs().root();
}

}  // namespace disputed
