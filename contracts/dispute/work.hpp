// SPDX-License-Identifier: Apache-2.0
// The disputed tile and its operands by row and column, for the laws of partials (partial_table.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "contracts/dispute/reader.hpp"

namespace assay::dispute {

/// The number of elements of a term, which one partial adds to the partial before it.
inline constexpr std::uint64_t kTermLength = 512;

/// Numbers of a matrix, row by row.
struct NumberBlock {
    std::uint64_t rows = 0;
    std::uint64_t cols = 0;
    std::vector<float> values;

    NumberBlock() = default;
    NumberBlock(std::uint64_t rows_, std::uint64_t cols_)
        : rows(rows_), cols(cols_), values(rows_ * cols_, 0.0F) {}
    [[nodiscard]] float& at(std::uint64_t row, std::uint64_t col) { return values[row * cols + col]; }
    [[nodiscard]] float at(std::uint64_t row, std::uint64_t col) const { return values[row * cols + col]; }
    [[nodiscard]] std::span<float> row(std::uint64_t i) { return std::span(values).subspan(i * cols, cols); }
    [[nodiscard]] std::span<const float> row(std::uint64_t i) const {
        return std::span(values).subspan(i * cols, cols);
    }
};

/// A tile of an output of an operator, and what it is computed from. It refers to facts and reader, which
/// must outlive it.
class TileWork {
public:
    /// REQUIRES a place of the step's program.
    TileWork(const StepFacts& facts, std::uint32_t operator_index, std::uint32_t output, std::uint64_t tile,
             OpeningReader& reader);

    [[nodiscard]] const StepFacts& facts() const { return facts_; }
    [[nodiscard]] const program::ModelConfig& model() const { return facts_.program->model; }
    [[nodiscard]] const program::Operator& op() const { return op_; }
    [[nodiscard]] std::uint32_t output() const { return output_; }
    [[nodiscard]] bool exact() const { return facts_.program->profile == program::Profile::kI16; }
    [[nodiscard]] const TileExtent& at() const { return at_; }
    [[nodiscard]] std::uint64_t context() const { return facts_.context(); }
    [[nodiscard]] OpeningReader& reader() { return reader_; }
    [[nodiscard]] std::size_t numbers() const { return at_.height * at_.width; }
    /// Rows and columns of operand i.
    [[nodiscard]] std::uint64_t rows(std::size_t i) const { return facts_.rows(op_.operands[i]); }
    [[nodiscard]] std::uint64_t cols(std::size_t i) const { return facts_.cols(op_.operands[i]); }

    /// The numbers of operand i from (row, col) on. REQUIRES that the operand has them.
    NumberBlock in(std::size_t i, std::uint64_t row, std::uint64_t rows, std::uint64_t col,
                   std::uint64_t cols);
    /// The numbers at the tile's own place; at its rows of a column; at its columns of a vector.
    NumberBlock same(std::size_t i) { return in(i, at_.row, at_.height, at_.col, at_.width); }
    NumberBlock column(std::size_t i) { return in(i, at_.row, at_.height, 0, 1); }
    NumberBlock vector(std::size_t i) { return in(i, 0, 1, at_.col, at_.width); }
    float scalar(std::size_t i) { return in(i, 0, 1, 0, 1).values[0]; }
    /// Like in(), for another output of the operator.
    NumberBlock own(std::uint32_t output, std::uint64_t row, std::uint64_t rows, std::uint64_t col,
                    std::uint64_t cols);

    /// The token at row `row` of the step's inputs, and the one that follows it.
    std::uint32_t input(std::uint64_t row);
    std::uint32_t target(std::uint64_t row);

    std::vector<float> reals(std::uint64_t partial, std::size_t count) {
        return reader_.partial(partial, {CellKind::kReal, count}).real;
    }
    std::vector<base::Int128> wholes(std::uint64_t partial, std::size_t count) {
        return reader_.partial(partial, {CellKind::kWhole, count}).whole;
    }
    void refuse(GameReason reason) { reader_.refuse(reason); }

private:
    NumberBlock gather(const std::vector<Source>& sources, std::uint64_t row, std::uint64_t rows,
                       std::uint64_t col, std::uint64_t cols);
    const std::vector<Source>& sources(std::size_t i);

    const StepFacts& facts_;
    const program::Operator& op_;
    std::uint32_t index_;
    std::uint32_t output_;
    TileExtent at_;
    OpeningReader& reader_;
    std::vector<std::vector<Source>> sources_;
};

}  // namespace assay::dispute
