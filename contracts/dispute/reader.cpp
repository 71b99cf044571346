// SPDX-License-Identifier: Apache-2.0
#include "contracts/dispute/reader.hpp"

#include <algorithm>
#include <bit>

#include "contracts/arithmetic/optimizer.hpp"
#include "contracts/arithmetic/reduce.hpp"
#include "contracts/base/blob_id.hpp"
#include "contracts/base/check.hpp"
#include "contracts/program/blob_sizes.hpp"

namespace assay::dispute {

namespace {
using arithmetic::kTile;
}  // namespace

std::string_view to_text(Reason reason) {
    switch (reason) {
        case Reason::kAgrees: return "agrees";
        case Reason::kDiffers: return "differs";
        case Reason::kPosition: return "position";
        case Reason::kWitnessSize: return "witness_size";
        case Reason::kWitnessEnds: return "witness_ends";
        case Reason::kWitnessTrails: return "witness_trails";
        case Reason::kNotClaimed: return "not_claimed";
        case Reason::kNotOpened: return "not_opened";
        case Reason::kNotFinite: return "not_finite";
        case Reason::kNotZero: return "not_zero";
        case Reason::kBeyondMaximum: return "beyond_maximum";
        case Reason::kOutOfRange: return "out_of_range";
        case Reason::kDiverges: return "diverges";
        case Reason::kToken: return "token";
        case Reason::kNoWitness: break;
    }
    return "no_witness";
}

TileExtent extent_of(std::uint64_t rows, std::uint64_t cols, std::uint64_t number) {
    const std::uint64_t across = (cols + kTile - 1) / kTile;
    const std::uint64_t row = number / across * kTile;
    const std::uint64_t col = number % across * kTile;
    return {row, col, std::min(kTile, rows - row), std::min(kTile, cols - col)};
}

TileExtent held_extent(const Source& source, std::uint64_t number) {
    TileExtent out = extent_of(source.rows, source.cols, number);
    const std::uint64_t first = std::max(out.col, source.columns.first);
    const std::uint64_t last = std::min(out.col + out.width, source.columns.last);
    out.col = first;
    out.width = first < last ? last - first : 0;
    return out;
}

void Reader::check(const Source& source, std::uint64_t number, const Tile& tile) {
    if (refusal_) return;
    if (!source.may_diverge && !arithmetic::all_finite(tile)) {
        is_void_ = source.is_jobs_own;
        return refuse(Reason::kNotFinite);
    }
    if (!source.lower) return;
    const TileExtent extent = extent_of(source.rows, source.cols, number);
    for (std::uint64_t i = 0; i < extent.height; ++i) {
        const std::uint64_t query = (extent.row + i) % source.context;
        for (std::uint64_t j = 0; j < extent.width; ++j) {
            if (extent.col + j > query && std::bit_cast<std::uint32_t>(tile[i * kTile + j]) != 0) {
                return refuse(Reason::kNotZero);
            }
        }
    }
}

const Tile& Reader::tile(const Source& source, std::uint64_t number) {
    ASSAY_CHECK(number < source.tiles());
    const auto [found, is_new] = tiles_.try_emplace({source.key(), number});
    Tile& out = found->second;
    if (!is_new) return out;
    out.fill(0.0F);
    if (refusal_ || source.from == Source::From::kZero) return out;
    load_tile(source, number, out);
    check(source, number, out);
    if (refusal_) out.fill(0.0F);
    return out;
}

Cells Reader::wholes(const Source& source, std::uint64_t number) {
    ASSAY_CHECK(number < source.tiles() && source.from == Source::From::kArray);
    const TileExtent at = extent_of(source.rows, source.cols, number);
    const CellShape shape{CellKind::kWhole, at.height * at.width};
    Cells out = Cells::of(shape);
    if (refusal_) return out;
    load_wholes(source, number, out);
    // No codec gives an integer beyond.
    constexpr base::Int128 kEnd = base::Int128{1} << 62;
    const auto is_beyond = [](base::Int128 x) { return x >= kEnd || x <= -kEnd; };
    if (!refusal_ && std::any_of(out.whole.begin(), out.whole.end(), is_beyond)) refuse(Reason::kOutOfRange);
    return refusal_ ? Cells::of(shape) : out;
}

Cells Reader::link(std::uint64_t number, CellShape shape) {
    const auto [found, is_new] = links_.try_emplace(number, Cells::of(shape));
    Cells& out = found->second;
    ASSAY_CHECK(out.shape() == shape);
    if (!is_new || refusal_) return out;
    load_link(number, out);
    if (refusal_) out = Cells::of(shape);
    return out;
}

std::uint32_t Reader::token(std::uint64_t place) {
    ASSAY_CHECK(facts() != nullptr);
    const std::uint32_t vocabulary = facts()->program->model.vocabulary;
    const std::uint64_t width = program::token_bytes(vocabulary);
    if (place >= facts()->stream_tokens) refuse(Reason::kPosition);
    if (refusal_) return 0;
    const std::uint64_t at = program::kTokenFileHeader + place * width;
    const std::uint64_t number = at / base::kBlobPiece;
    const auto [found, is_new] = pieces_.try_emplace(number);
    base::Bytes& piece = found->second;
    if (is_new) load_piece(number, piece);
    if (refusal_) return 0;
    ASSAY_CHECK(at % base::kBlobPiece + width <= piece.size());
    std::uint32_t token = 0;
    for (std::uint64_t i = 0; i < width; ++i) {
        token |= std::uint32_t{piece[at % base::kBlobPiece + i]} << (8 * i);
    }
    if (token < vocabulary) return token;
    is_void_ = true;
    refuse(Reason::kToken);
    return 0;
}

}  // namespace assay::dispute
