// SPDX-License-Identifier: Apache-2.0
#include "node/cli/verify/shape_memory.hpp"

#include <algorithm>
#include <bit>
#include <random>

#include "contracts/base/blob_id.hpp"
#include "contracts/program/state_root.hpp"

namespace assay::node {

using base::Hash256;
using dispute::CellKind;
using dispute::Cells;
using dispute::Source;
using dispute::StepFacts;
using dispute::StoredTree;
using dispute::Tile;
using dispute::TileExtent;

namespace {
constexpr std::size_t kPatterns = 7;
/// The key of the tree over all integers.
constexpr std::uint32_t kArrays = UINT32_MAX;

Hash256 pattern_hash(const Tile& tile) {
    return dispute::tile_hash({CellKind::kReal, {tile.begin(), tile.end()}, {}}, arithmetic::kTile);
}
}  // namespace

ShapeMemory::ShapeMemory(const StepFacts& facts, const base::Bytes& token_file, NumberPattern pattern)
    : facts_(facts), token_file_(token_file) {
    std::mt19937_64 random(17);
    for (std::size_t i = 0; i < kPatterns; ++i) {
        Tile tile{};
        for (float& value : tile) {
            const auto bits = static_cast<std::uint32_t>(random());
            // Magnitudes from 2^-7 to 2^0, or below 2^-126.
            value = std::bit_cast<float>(pattern == NumberPattern::kSubnormal
                                             ? bits & 0x807fffffU
                                             : (bits & 0x83ffffffU) + 0x3c000000U);
        }
        patterns_.push_back(tile);
        hashes_.push_back(pattern_hash(tile));
        Cells cells = Cells::of({CellKind::kWhole, 256});
        for (auto& value : cells.whole) value = static_cast<std::int32_t>(random());
        integers_.push_back(cells);
        integer_hashes_.push_back(tile_hash(cells, arithmetic::kTile));
    }
    std::vector<Hash256> leaves;
    for (std::size_t at = 0; at < token_file.size(); at += base::kBlobPiece) {
        leaves.push_back(base::merkle_leaf(
            base::personal::kPiece,
            base::ByteView(token_file).subspan(at, std::min(base::kBlobPiece, token_file.size() - at))));
    }
    pieces_ = StoredTree(std::move(leaves));
}

void ShapeMemory::forget() {
    read_.clear();
    tiles_.clear();
    arrays_.clear();
    outputs_ = {};
    components_ = {};
}

bool ShapeMemory::is_patterned(const Source& source, std::uint64_t number) const {
    const TileExtent held = dispute::held_extent(source, number);
    if (held.height < arithmetic::kTile || held.width < arithmetic::kTile) return false;
    return !source.lower || held.col + held.width <= held.row % source.context + 1;
}

void ShapeMemory::tile(const Source& source, std::uint64_t number, Tile& out) {
    read_.try_emplace(source.key(), source);
    out = patterns_[number % kPatterns];
    if (is_patterned(source, number)) return;
    const TileExtent held = dispute::held_extent(source, number);
    const TileExtent all = dispute::extent_of(source.rows, source.cols, number);
    for (std::uint64_t i = 0; i < arithmetic::kTile; ++i) {
        for (std::uint64_t j = 0; j < arithmetic::kTile; ++j) {
            const std::uint64_t col = all.col + j;
            const bool is_held = i < held.height && col >= held.col && col < held.col + held.width;
            const bool is_seen = !source.lower || col <= (held.row + i) % source.context;
            if (!is_held || !is_seen) out[i * arithmetic::kTile + j] = 0.0F;
        }
    }
}

Hash256 ShapeMemory::tile_hash_at(const Source& source, std::uint64_t number) {
    const TileExtent held = dispute::held_extent(source, number);
    if (source.from == Source::From::kArray) {
        if (is_patterned(source, number)) return integer_hashes_[number % kPatterns];
        Cells own = Cells::of({CellKind::kWhole, held.height * held.width});
        wholes(source, number, own);
        return tile_hash(own, held.width);
    }
    if (is_patterned(source, number)) return hashes_[number % kPatterns];
    if (held.width == 0) return pattern_hash(Tile{});
    Tile own{};
    tile(source, number, own);
    return pattern_hash(own);
}

const StoredTree& ShapeMemory::tiles(const Source& source) {
    // All arrays of integers are the same, and all states.
    Source like = source;
    like.state = 0;
    if (source.from == Source::From::kArray) like.array = 0;
    const auto [found, is_new] = tiles_.try_emplace(like.key());
    if (!is_new) return found->second;
    std::vector<Hash256> leaves(source.tiles());
    const Hash256 zero = pattern_hash(Tile{});
    for (std::uint64_t i = 0; i < leaves.size(); ++i) {
        const TileExtent held = dispute::held_extent(source, i);
        const bool is_above = source.lower && held.col > held.row % source.context + held.height;
        leaves[i] = is_above ? zero : tile_hash_at(source, i);
    }
    found->second = StoredTree(std::move(leaves));
    return found->second;
}

const StoredTree& ShapeMemory::outputs() {
    if (outputs_.leaves() != 0) return outputs_;
    std::vector<Hash256> roots(facts_.outputs());
    const std::map<std::uint64_t, Source> read = read_;
    for (const auto& [key, source] : read) {
        if (source.from == Source::From::kOutput) roots[source.number] = tiles(source).root();
    }
    outputs_ = StoredTree(std::move(roots));
    return outputs_;
}

const StoredTree& ShapeMemory::array(std::uint32_t component) {
    const auto [found, is_new] = arrays_.try_emplace(component);
    if (!is_new) return found->second;
    const auto& parameters = facts_.program->parameters;
    std::vector<Hash256> leaves(parameters.size());
    const std::map<std::uint64_t, Source> read = read_;
    for (const auto& [key, source] : read) {
        const bool is_wanted = component == kArrays
                                   ? source.from == Source::From::kArray
                                   : source.from == Source::From::kState && source.array == component;
        if (!is_wanted) continue;
        leaves[source.number] = program::tensor_leaf(parameters[source.number], tiles(source).root());
    }
    found->second = StoredTree(std::move(leaves));
    return found->second;
}

const StoredTree& ShapeMemory::above(const Source& source) {
    if (source.from == Source::From::kOutput) return outputs();
    return array(source.from == Source::From::kArray ? kArrays : source.array);
}

const StoredTree& ShapeMemory::components(std::uint32_t) {
    if (components_.leaves() != 0) return components_;
    std::vector<Hash256> leaves(program::kStateComponents);
    for (const std::uint32_t i : {0U, 1U, 2U, 5U}) leaves[i] = dispute::component_leaf(i, array(i).root());
    components_ = StoredTree(std::move(leaves));
    return components_;
}

Hash256 ShapeMemory::outputs_root() { return outputs().root(); }

Hash256 ShapeMemory::array_root() { return array(kArrays).root(); }

void ShapeMemory::wholes(const Source& source, std::uint64_t number, Cells& out) {
    read_.try_emplace(source.key(), source);
    for (std::size_t i = 0; i < out.size(); ++i) out.whole[i] = integers_[number % kPatterns].whole[i];
}

void ShapeMemory::piece(std::uint64_t number, base::Bytes& out, std::vector<Hash256>& siblings) {
    out = base::to_bytes(
        base::ByteView(token_file_).subspan(number * base::kBlobPiece, dispute::piece_bytes(facts_, number)));
    siblings = pieces_.siblings(number);
}

}  // namespace assay::node
