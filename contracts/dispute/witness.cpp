// SPDX-License-Identifier: Apache-2.0
#include "contracts/dispute/witness.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "contracts/base/blob_id.hpp"
#include "contracts/base/check.hpp"
#include "contracts/program/blob_sizes.hpp"
#include "contracts/program/state_root.hpp"

namespace assay::dispute {

namespace {
using arithmetic::kTile;

// The numbers of a tile that its source holds, row by row.
Cells held_cells(const TileExtent& held, const Tile& tile) {
    Cells out;
    for (std::uint64_t i = 0; i < held.height; ++i) {
        for (std::uint64_t j = 0; j < held.width; ++j) {
            out.real.push_back(tile[(held.row + i) % kTile * kTile + (held.col + j) % kTile]);
        }
    }
    return out;
}

void spread(const TileExtent& held, const Cells& cells, Tile& out) {
    out.fill(0.0F);
    for (std::uint64_t i = 0; i < held.height; ++i) {
        for (std::uint64_t j = 0; j < held.width; ++j) {
            out[i * kTile + (held.col + j) % kTile] = cells.real[i * held.width + j];
        }
    }
}

Hash256 hash_of(const Tile& tile) {
    return tile_hash({CellKind::kReal, {tile.begin(), tile.end()}, {}}, kTile);
}
}  // namespace

Hash256 component_leaf(std::uint32_t component, const Hash256& root) {
    base::Encoder encoder;
    encoder(static_cast<std::uint8_t>(component), root);
    return base::merkle_leaf(base::personal::kComponent, std::move(encoder).take());
}

namespace {
std::uint64_t token_file_bytes(const StepFacts& facts) {
    return program::token_file_size(facts.stream_tokens, facts.program->model.vocabulary);
}
}  // namespace

std::uint64_t token_pieces(const StepFacts& facts) { return base::blob_pieces(token_file_bytes(facts)); }

std::size_t piece_bytes(const StepFacts& facts, std::uint64_t number) {
    const std::uint64_t rest = token_file_bytes(facts) - number * base::kBlobPiece;
    return static_cast<std::size_t>(std::min<std::uint64_t>(base::kBlobPiece, rest));
}

void Prover::put(const std::vector<Hash256>& hashes) {
    for (const Hash256& hash : hashes) put(hash.view());
}

void Prover::put_root(const Source& source) {
    if (source.from == Source::From::kZero || !shown_.try_emplace(source.key(), true).second) return;
    put(memory_.tiles(source).root().view());
    put(memory_.above(source).siblings(source.number));
    if (source.from == Source::From::kState) put(memory_.components(source.state).siblings(source.array));
}

void Prover::load_tile(const Source& source, std::uint64_t number, Tile& out) {
    memory_.tile(source, number, out);
    if (tree_ == nullptr) return;
    put_root(source);
    put(encode_cells(held_cells(held_extent(source, number), out)));
    put(memory_.tiles(source).siblings(number));
}

void Prover::load_wholes(const Source& source, std::uint64_t number, Cells& out) {
    memory_.wholes(source, number, out);
    if (tree_ == nullptr) return;
    put_root(source);
    put(encode_cells(out));
    put(memory_.tiles(source).siblings(number));
}

void Prover::load_partial(std::uint64_t number, Cells& out) {
    ASSAY_CHECK(number < partials_.size() && partials_[number].shape() == out.shape());
    out = partials_[number];
    if (tree_ == nullptr) return;
    put(encode_cells(out));
    put(tree_->siblings(number));
}

void Prover::load_piece(std::uint64_t number, base::Bytes& out) {
    std::vector<Hash256> siblings;
    memory_.piece(number, out, siblings);
    if (tree_ == nullptr) return;
    put(out);
    put(siblings);
}

base::ByteView WitnessReader::take(std::size_t size) {
    if (size > rest_.size()) refuse(GameReason::kWitnessEnds);
    if (refusal()) return {};
    const base::ByteView taken = rest_.first(size);
    rest_ = rest_.subspan(size);
    return taken;
}

Cells WitnessReader::take_cells(CellShape shape) {
    const base::ByteView bytes = take(shape.bytes());
    return refusal() ? Cells::of(shape) : decode_cells(shape, bytes);
}

Hash256 WitnessReader::root_above(const Hash256& leaf, std::uint64_t index, std::uint64_t leaves) {
    constexpr std::size_t kHash = sizeof(Hash256::bytes);
    const base::ByteView bytes = take(sibling_count(index, leaves) * kHash);
    if (refusal()) return {};
    std::vector<Hash256> siblings;
    for (std::size_t at = 0; at < bytes.size(); at += kHash) {
        siblings.push_back(base::hash_from(bytes.subspan(at, kHash)));
    }
    return climb(leaf, index, leaves, siblings);
}

void WitnessReader::check_root(const Source& source, const Hash256& root) {
    if (source.from == Source::From::kOutput) {
        return expect(root_above(root, source.number, facts_->outputs()), fixed_.outputs);
    }
    const Hash256 leaf = program::tensor_leaf(tensors_[source.number], root);
    const Hash256 array = root_above(leaf, source.number, tensors_.size());
    if (refusal()) return;
    if (source.from == Source::From::kArray) return expect(array, fixed_.arrays[source.array]);
    expect(root_above(component_leaf(source.array, array), source.array, program::kStateComponents),
           fixed_.states[source.state]);
}

Hash256 WitnessReader::source_root(const Source& source) {
    const auto [found, is_new] = roots_.try_emplace(source.key());
    if (!is_new) return found->second;
    const base::ByteView bytes = take(sizeof(Hash256::bytes));
    if (refusal()) return {};
    found->second = base::hash_from(bytes);
    check_root(source, found->second);
    return found->second;
}

void WitnessReader::load_tile(const Source& source, std::uint64_t number, Tile& out) {
    const Hash256 root = source_root(source);
    const TileExtent held = held_extent(source, number);
    const Cells cells = take_cells({CellKind::kReal, held.height * held.width});
    if (refusal()) return;
    spread(held, cells, out);
    expect(root_above(hash_of(out), number, source.tiles()), root);
}

void WitnessReader::load_wholes(const Source& source, std::uint64_t number, Cells& out) {
    const Hash256 root = source_root(source);
    out = take_cells(out.shape());
    if (refusal()) return;
    const std::uint64_t width = extent_of(source.rows, source.cols, number).width;
    expect(root_above(tile_hash(out, width), number, source.tiles()), root);
}

void WitnessReader::load_partial(std::uint64_t number, Cells& out) {
    out = take_cells(out.shape());
    if (refusal()) return;
    expect(root_above(partial_hash(out), number, partials_ - 1), fixed_.partials);
}

void WitnessReader::load_piece(std::uint64_t number, base::Bytes& out) {
    const base::ByteView bytes = take(piece_bytes(*facts_, number));
    if (refusal()) return;
    out = base::to_bytes(bytes);
    const Hash256 leaf = base::merkle_leaf(base::personal::kPiece, bytes);
    expect(root_above(leaf, number, token_pieces(*facts_)), fixed_.data);
}

}  // namespace assay::dispute
