// SPDX-License-Identifier: Apache-2.0
#include "contracts/dispute/clip_referee.hpp"

#include <algorithm>

#include "contracts/arithmetic/square_sum.hpp"
#include "contracts/base/check.hpp"

namespace assay::dispute {

namespace {
using arithmetic::SquareSum;

constexpr CellShape kSumShape{CellKind::kWide, 2};  // high, low
constexpr CellShape kClipShape{CellKind::kWhole, 1};
// Squares of fewer than 2^40 numbers below 2^62 stay below 2^164.
constexpr base::Int128 kHighEnd = base::Int128{1} << 35;

std::uint64_t tiles_of(const program::TensorInfo& tensor) {
    return arithmetic::tile_count(tensor.rows, tensor.cols);
}

std::uint64_t tile_total(const ClipFacts& facts) {
    std::uint64_t out = 0;
    for (const program::TensorInfo& tensor : *facts.tensors) out += tiles_of(tensor);
    return out;
}

SquareSum sum_before(std::uint64_t partial, OpeningReader& reader) {
    if (partial == 0) return {};
    const Cells cells = reader.partial(partial - 1, kSumShape);
    if (cells.whole[0] < 0 || cells.whole[0] >= kHighEnd) {
        reader.refuse(GameReason::kOutOfRange);
        return {};
    }
    return {static_cast<std::uint64_t>(cells.whole[0]), static_cast<base::Uint128>(cells.whole[1])};
}

// Tile `number`, counted over all tensors.
Cells tile_at(const ClipFacts& facts, std::uint64_t number, OpeningReader& reader) {
    std::uint32_t tensor = 0;
    while (number >= tiles_of((*facts.tensors)[tensor])) number -= tiles_of((*facts.tensors)[tensor++]);
    const program::TensorInfo& info = (*facts.tensors)[tensor];
    return reader.wholes({.from = Source::From::kArray,
                          .number = tensor,
                          .rows = info.rows,
                          .cols = info.cols,
                          .columns = {0, info.cols}},
                         number);
}

Cells compute(const ClipFacts& facts, std::uint64_t partial, OpeningReader& reader) {
    SquareSum sum = sum_before(partial, reader);
    if (partial + 1 == partial_count(facts)) {
        Cells out = Cells::of(kClipShape);
        out.whole[0] = arithmetic::clip_of(facts.sum_exponent, facts.bound, sum);
        return out;
    }
    const std::uint64_t first = partial * kTermTiles;
    const std::uint64_t last = std::min(first + kTermTiles, tile_total(facts));
    for (std::uint64_t number = first; number < last; ++number) {
        for (const base::Int128 value : tile_at(facts, number, reader).whole) {
            sum.add(static_cast<std::int64_t>(value));
        }
    }
    Cells out = Cells::of(kSumShape);
    out.whole = {base::Int128{sum.high}, static_cast<base::Int128>(sum.low)};
    return out;
}
}  // namespace

std::uint64_t partial_count(const ClipFacts& facts) {
    return (tile_total(facts) + kTermTiles - 1) / kTermTiles + 1;
}

GameVerdict judge(const ClipFacts& facts, std::uint64_t partial, const FixedHashes& fixed,
                  base::ByteView witness) {
    if (partial >= partial_count(facts)) return {.reason = GameReason::kPosition};
    if (witness.size() > kMaxWitnessBytes) return {.reason = GameReason::kWitnessSize};
    ASSAY_CHECK(!fixed.arrays.empty());
    WitnessReader reader(nullptr, *facts.tensors, fixed, partial_count(facts), witness);
    const CellShape shape = partial + 1 == partial_count(facts) ? kClipShape : kSumShape;
    return detail::verdict_on(reader, {shape, fixed.claimed, 0, false},
                              [&] { return compute(facts, partial, reader); });
}

base::Bytes make_witness(const ClipFacts& facts, std::uint64_t partial, StepMemory& memory,
                         const std::vector<Cells>& partials, const StoredTree& tree) {
    ASSAY_CHECK(partial < partials.size() && partials.size() == partial_count(facts));
    Prover prover(memory, partials, &tree);
    base::Bytes out = encode_cells(partials[partial]);
    [[maybe_unused]] const Cells computed = compute(facts, partial, prover);
    const base::Bytes openings = prover.take_openings();
    out.insert(out.end(), openings.begin(), openings.end());
    return out;
}

std::vector<Cells> compute_partials(const ClipFacts& facts, StepMemory& memory) {
    std::vector<Cells> out;
    const std::uint64_t count = partial_count(facts);
    while (out.size() < count) {
        Prover prover(memory, out, nullptr);
        out.push_back(compute(facts, out.size(), prover));
    }
    return out;
}

}  // namespace assay::dispute
