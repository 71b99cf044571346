// SPDX-License-Identifier: Apache-2.0
#include "contracts/dispute/work.hpp"

#include <algorithm>

#include "contracts/base/check.hpp"

namespace assay::dispute {

namespace {
using arithmetic::kTile;

// The first source that holds a column, and up to where it alone does.
struct ColumnHolder {
    const Source* source = nullptr;
    std::uint64_t end = 0;
};
ColumnHolder holder_of(const std::vector<Source>& sources, std::uint64_t col, std::uint64_t end) {
    for (const Source& source : sources) {
        if (col < source.columns.first) {
            end = std::min(end, source.columns.first);
        } else if (col < source.columns.last) {
            return {&source, std::min(end, source.columns.last)};
        }
    }
    return {nullptr, end};
}
}  // namespace

TileWork::TileWork(const StepFacts& facts, std::uint32_t operator_index, std::uint32_t output,
                   std::uint64_t tile, OpeningReader& reader)
    : facts_(facts),
      op_(facts.program->operators[operator_index]),
      index_(operator_index),
      output_(output),
      at_(extent_of(facts.rows(facts.output(operator_index, output)),
                    facts.cols(facts.output(operator_index, output)), tile)),
      reader_(reader),
      sources_(op_.operands.size()) {}

const std::vector<Source>& TileWork::sources(std::size_t i) {
    if (sources_[i].empty()) sources_[i] = sources_of(facts_, index_, op_.operands[i]);
    return sources_[i];
}

NumberBlock TileWork::in(std::size_t i, std::uint64_t row, std::uint64_t rows, std::uint64_t col,
                         std::uint64_t cols) {
    return gather(sources(i), row, rows, col, cols);
}

NumberBlock TileWork::own(std::uint32_t output, std::uint64_t row, std::uint64_t rows, std::uint64_t col,
                          std::uint64_t cols) {
    return gather({output_source(facts_, index_, output)}, row, rows, col, cols);
}

NumberBlock TileWork::gather(const std::vector<Source>& sources, std::uint64_t row, std::uint64_t rows,
                             std::uint64_t col, std::uint64_t cols) {
    NumberBlock out(rows, cols);
    const std::uint64_t across = (sources.front().cols + kTile - 1) / kTile;
    for (std::uint64_t r = row; r < row + rows; r = (r / kTile + 1) * kTile) {
        const std::uint64_t last_row = std::min(row + rows, (r / kTile + 1) * kTile);
        for (std::uint64_t c = col; c < col + cols;) {
            const ColumnHolder holder = holder_of(sources, c, std::min(col + cols, (c / kTile + 1) * kTile));
            if (holder.source != nullptr) {
                const Tile& tile = reader_.tile(*holder.source, r / kTile * across + c / kTile);
                for (std::uint64_t y = r; y < last_row; ++y) {
                    for (std::uint64_t x = c; x < holder.end; ++x) {
                        out.at(y - row, x - col) = tile[y % kTile * kTile + x % kTile];
                    }
                }
            }
            c = holder.end;
        }
    }
    return out;
}

std::uint32_t TileWork::input(std::uint64_t row) {
    return reader_.token(facts_.first_token(row / context()) + row % context());
}

std::uint32_t TileWork::target(std::uint64_t row) {
    return reader_.token(facts_.first_token(row / context()) + row % context() + 1);
}

}  // namespace assay::dispute
