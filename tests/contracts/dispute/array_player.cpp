// SPDX-License-Identifier: Apache-2.0
#include "tests/contracts/dispute/array_player.hpp"

#include "contracts/dispute/commitments.hpp"

namespace disputed {

using namespace assay;
using namespace assay::dispute;

namespace {

template <class T>
std::span<const T> part_of(const program::TensorInfo& tensor, const std::vector<T>& array) {
    return std::span(array).subspan(tensor.offset, tensor.size());
}

template <class T>
T at_place(const program::TensorInfo& tensor, const std::vector<T>& array, const TileExtent& at,
           std::size_t cell) {
    return array[tensor.offset + (at.row + cell / at.width) * tensor.cols + at.col + cell % at.width];
}

}  // namespace

StoredTree whole_tiles(std::uint64_t rows, std::uint64_t cols, std::span<const std::int64_t> values) {
    std::vector<Hash256> leaves;
    for (std::uint64_t n = 0; n < arithmetic::tile_count(rows, cols); ++n) {
        const TileExtent at = extent_of(rows, cols, n);
        Cells cells{CellKind::kWhole, {}, {}};
        for (std::uint64_t i = 0; i < at.height; ++i) {
            for (std::uint64_t j = 0; j < at.width; ++j)
                cells.whole.push_back(values[(at.row + i) * cols + at.col + j]);
        }
        leaves.push_back(tile_hash(cells, at.width));
    }
    return StoredTree(std::move(leaves));
}

std::size_t ArrayStore::numbers() const { return tensors_.back().offset + tensors_.back().size(); }

program::StateRoots ArrayStore::base_roots() const {
    program::StateRoots roots;
    roots.parameters = program::array_root(tensors_, base);
    roots.outer = program::array_root(tensors_, outer);
    roots.step_count = base_steps;
    return roots;
}

program::StateRoots ArrayStore::end_roots() const {
    program::StateRoots roots;
    roots.parameters = program::array_root(tensors_, end);
    roots.step_count = roots.data_cursor = end_steps;
    return roots;
}

Hash256 ArrayStore::update_root(std::span<const std::int64_t> update) const {
    std::vector<Hash256> roots;
    for (const program::TensorInfo& tensor : tensors_)
        roots.push_back(
            whole_tiles(tensor.rows, tensor.cols, update.subspan(tensor.offset, tensor.size())).root());
    return fold_array(tensors_, roots);
}

std::span<const float> ArrayStore::part(const Source& source) const {
    const bool is_outer =
        static_cast<program::StateComponent>(source.array) == program::StateComponent::kOuter;
    return part_of(tensors_[source.number], source.state != 0 ? end : is_outer ? outer : base);
}

void ArrayStore::tile(const Source& source, std::uint64_t number, Tile& out) {
    const TileExtent at = extent_of(source.rows, source.cols, number);
    const std::span<const float> values = part(source);
    for (std::uint64_t i = 0; i < at.height; ++i) {
        for (std::uint64_t j = 0; j < at.width; ++j)
            out[i * arithmetic::kTile + j] = values[(at.row + i) * source.cols + at.col + j];
    }
}

void ArrayStore::wholes(const Source& source, std::uint64_t number, Cells& out) {
    const TileExtent at = extent_of(source.rows, source.cols, number);
    for (std::size_t i = 0; i < out.size(); ++i)
        out.whole[i] = at_place(tensors_[source.number], updates[source.array], at, i);
}

const StoredTree& ArrayStore::tiles(const Source& source) {
    const auto [found, is_new] = tiles_.try_emplace(source.key());
    const program::TensorInfo& tensor = tensors_[source.number];
    if (is_new) {
        found->second = source.from == Source::From::kArray
                            ? whole_tiles(tensor.rows, tensor.cols, part_of(tensor, updates[source.array]))
                            : tile_tree(tensor.rows, tensor.cols, part(source));
    }
    return found->second;
}

const StoredTree& ArrayStore::above(const Source& source) {
    Source one = source;
    one.number = 0;
    const auto [found, is_new] = above_.try_emplace(one.key());
    if (!is_new) return found->second;
    std::vector<Hash256> leaves;
    for (; one.number < tensors_.size(); ++one.number)
        leaves.push_back(program::tensor_leaf(tensors_[one.number], tiles(one).root()));
    found->second = StoredTree(std::move(leaves));
    return found->second;
}

const StoredTree& ArrayStore::components(std::uint32_t state) {
    const auto leaves = program::component_leaves(state == 0 ? base_roots() : end_roots());
    components_ = StoredTree({leaves.begin(), leaves.end()});
    return components_;
}

ArrayUnit ArrayUnitPlayer::unit(const Way& way) const {
    if (facts_.claim().kind == UnitKind::kUpdate) return ArrayUnit::kUpdate;
    return way.is_outer ? ArrayUnit::kMergedOuter : ArrayUnit::kMergedParameters;
}

StoredTree ArrayUnitPlayer::tree(const Way& way, std::uint32_t tensor) const {
    const program::TensorInfo& info = store_.tensors()[tensor];
    if (unit(way) == ArrayUnit::kUpdate) return whole_tiles(info.rows, info.cols, part_of(info, update));
    return tile_tree(info.rows, info.cols, part_of(info, way.is_outer ? merged_outer : merged));
}

std::vector<Hash256> ArrayUnitPlayer::arrays() {
    return {program::array_root(store_.tensors(), merged),
            program::array_root(store_.tensors(), merged_outer)};
}

Hash256 ArrayUnitPlayer::merged_root() const {
    return facts_.merged_state(program::array_root(store_.tensors(), merged),
                               program::array_root(store_.tensors(), merged_outer));
}

std::vector<Cells> ArrayUnitPlayer::partials(const Way& way) {
    if (facts_.claim().kind == UnitKind::kClip) {
        std::vector<Cells> out = compute_partials(facts_.clip(), store_);
        out.back().whole[0] = facts_.claim().clips[0];
        return out;
    }
    ArrayPosition first = way.array;
    first.partial = 0;
    std::vector<Cells> out = compute_partials(facts_.array(unit(way)), first, store_);
    const program::TensorInfo& info = store_.tensors()[way.array.tensor];
    const TileExtent at = extent_of(info.rows, info.cols, way.array.tile);
    Cells& last = out.back();
    for (std::size_t i = 0; i < last.size(); ++i) {
        if (last.kind == CellKind::kReal) {
            last.real[i] = at_place(info, way.is_outer ? merged_outer : merged, at, i);
        } else {
            last.whole[i] = at_place(info, update, at, i);
        }
    }
    return out;
}

std::vector<Hash256> ArrayUnitPlayer::row(const Way& way) {
    StoredTree all;
    if (way.stage == WayStage::kTensors) {
        std::vector<Hash256> leaves;
        for (std::uint32_t i = 0; i < store_.tensors().size(); ++i)
            leaves.push_back(program::tensor_leaf(store_.tensors()[i], tree(way, i).root()));
        all = StoredTree(std::move(leaves));
    } else if (way.stage == WayStage::kTiles) {
        all = tree(way, way.array.tensor);
    } else {
        all = partial_tree(partials(way));
    }
    const auto nodes = all.row(way.row.height).subspan(way.row.first, way.row.nodes);
    return {nodes.begin(), nodes.end()};
}

base::Bytes ArrayUnitPlayer::witness(const Way& way) {
    const std::vector<Cells> own = partials(way);
    const StoredTree tree = partial_tree(own);
    if (facts_.claim().kind == UnitKind::kClip)
        return make_witness(facts_.clip(), way.at.partial, store_, own, tree);
    return make_witness(facts_.array(unit(way)), way.array, store_, own, tree);
}

}  // namespace disputed
