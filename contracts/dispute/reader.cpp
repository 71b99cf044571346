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

std::string_view to_text(GameReason reason) {
    switch (reason) {
        case GameReason::kAgrees: return "agrees";
        case GameReason::kDiffers: return "differs";
        case GameReason::kPosition: return "position";
        case GameReason::kWitnessSize: return "witness_size";
        case GameReason::kWitnessEnds: return "witness_ends";
        case GameReason::kWitnessTrails: return "witness_trails";
        case GameReason::kNotClaimed: return "not_claimed";
        case GameReason::kNotOpened: return "not_opened";
        case GameReason::kNotFinite: return "not_finite";
        case GameReason::kNotZero: return "not_zero";
        case GameReason::kBeyondMaximum: return "beyond_maximum";
        case GameReason::kOutOfRange: return "out_of_range";
        case GameReason::kDiverges: return "diverges";
        case GameReason::kToken: break;
    }
    return "token";
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

void OpeningReader::check(const Source& source, std::uint64_t number, const Tile& tile) {
    if (refusal_) return;
    if (!source.may_diverge && !arithmetic::all_finite(tile)) {
        is_void_ = source.is_jobs_own;
        return refuse(GameReason::kNotFinite);
    }
    if (!source.lower) return;
    const TileExtent extent = extent_of(source.rows, source.cols, number);
    for (std::uint64_t i = 0; i < extent.height; ++i) {
        const std::uint64_t query = (extent.row + i) % source.context;
        for (std::uint64_t j = 0; j < extent.width; ++j) {
            if (extent.col + j > query && std::bit_cast<std::uint32_t>(tile[i * kTile + j]) != 0) {
                return refuse(GameReason::kNotZero);
            }
        }
    }
}

const Tile& OpeningReader::tile(const Source& source, std::uint64_t number) {
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

Cells OpeningReader::wholes(const Source& source, std::uint64_t number) {
    ASSAY_CHECK(number < source.tiles() && source.from == Source::From::kArray);
    const TileExtent at = extent_of(source.rows, source.cols, number);
    const CellShape shape{CellKind::kWhole, at.height * at.width};
    Cells out = Cells::of(shape);
    if (refusal_) return out;
    load_wholes(source, number, out);
    // No codec gives an integer beyond.
    constexpr base::Int128 kEnd = base::Int128{1} << 62;
    const auto is_beyond = [](base::Int128 x) { return x >= kEnd || x <= -kEnd; };
    if (!refusal_ && std::any_of(out.whole.begin(), out.whole.end(), is_beyond))
        refuse(GameReason::kOutOfRange);
    return refusal_ ? Cells::of(shape) : out;
}

Cells OpeningReader::partial(std::uint64_t number, CellShape shape) {
    const auto [found, is_new] = partials_.try_emplace(number, Cells::of(shape));
    Cells& out = found->second;
    ASSAY_CHECK(out.shape() == shape);
    if (!is_new || refusal_) return out;
    load_partial(number, out);
    if (refusal_) out = Cells::of(shape);
    return out;
}

std::uint32_t OpeningReader::token(std::uint64_t place) {
    ASSAY_CHECK(facts() != nullptr);
    const std::uint32_t vocabulary = facts()->program->model.vocabulary;
    const std::uint64_t width = program::token_bytes(vocabulary);
    if (place >= facts()->stream_tokens) refuse(GameReason::kPosition);
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
    refuse(GameReason::kToken);
    return 0;
}

}  // namespace assay::dispute
