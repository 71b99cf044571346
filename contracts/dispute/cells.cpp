// SPDX-License-Identifier: Apache-2.0
#include "contracts/dispute/cells.hpp"

#include <bit>
#include <cmath>

#include "contracts/arithmetic/optimizer.hpp"
#include "contracts/base/check.hpp"
#include "contracts/base/merkle.hpp"

namespace assay::dispute {

namespace {
using arithmetic::kTile;

std::size_t cell_bytes(CellKind kind) {
    switch (kind) {
        case CellKind::kReal: return 4;
        case CellKind::kWhole: return 8;
        case CellKind::kWide: break;
    }
    return 16;
}

void put(base::Uint128 bits, std::size_t width, std::uint8_t* out) {
    for (std::size_t i = 0; i < width; ++i) out[i] = static_cast<std::uint8_t>(bits >> (8 * i));
}

base::Uint128 get(const std::uint8_t* bytes, std::size_t width) {
    base::Uint128 bits = 0;
    for (std::size_t i = width; i-- > 0;) bits = (bits << 8) | bytes[i];
    return bits;
}
}  // namespace

std::size_t CellShape::bytes() const { return count * cell_bytes(kind); }

Cells Cells::of(CellShape shape) {
    Cells out;
    out.kind = shape.kind;
    if (shape.kind == CellKind::kReal) {
        out.real.assign(shape.count, 0.0F);
    } else {
        out.whole.assign(shape.count, 0);
    }
    return out;
}

base::Uint128 Cells::bits(std::size_t i) const {
    if (kind == CellKind::kReal) return std::bit_cast<std::uint32_t>(real[i]);
    return static_cast<base::Uint128>(whole[i]);
}

void Cells::make_canonical() {
    for (float& value : real) {
        if (std::isnan(value)) value = std::bit_cast<float>(0x7fc00000U);
    }
}

base::Bytes encode_cells(const Cells& cells) {
    const std::size_t width = cell_bytes(cells.kind);
    base::Bytes out(cells.shape().bytes());
    for (std::size_t i = 0; i < cells.size(); ++i) put(cells.bits(i), width, out.data() + i * width);
    return out;
}

Cells decode_cells(CellShape shape, base::ByteView bytes) {
    ASSAY_CHECK(bytes.size() == shape.bytes());
    Cells out = Cells::of(shape);
    const std::size_t width = cell_bytes(shape.kind);
    for (std::size_t i = 0; i < shape.count; ++i) {
        const base::Uint128 bits = get(bytes.data() + i * width, width);
        switch (shape.kind) {
            case CellKind::kReal: out.real[i] = std::bit_cast<float>(static_cast<std::uint32_t>(bits)); break;
            case CellKind::kWhole: out.whole[i] = static_cast<std::int64_t>(bits); break;
            case CellKind::kWide: out.whole[i] = static_cast<base::Int128>(bits); break;
        }
    }
    return out;
}

Hash256 partial_hash(const Cells& cells) {
    const base::Personal& kind =
        cells.kind == CellKind::kReal ? base::personal::kTile : base::personal::kSumTile;
    return base::merkle_leaf(kind, encode_cells(cells));
}

Hash256 tile_hash(const Cells& cells, std::size_t width) {
    ASSAY_CHECK(cells.kind != CellKind::kWide && width >= 1 && width <= kTile);
    ASSAY_CHECK(cells.size() % width == 0 && cells.size() / width <= kTile);
    const std::size_t bytes = cell_bytes(cells.kind);
    base::Bytes tile(kTile * kTile * bytes, 0);
    for (std::size_t i = 0; i < cells.size(); ++i) {
        put(cells.bits(i), bytes, tile.data() + (i / width * kTile + i % width) * bytes);
    }
    return base::merkle_leaf(
        cells.kind == CellKind::kReal ? base::personal::kTile : base::personal::kUpdateTile, tile);
}

}  // namespace assay::dispute
