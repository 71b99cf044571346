// SPDX-License-Identifier: Apache-2.0
#include "trainer/cpu/cpu_maxima.hpp"

#include <algorithm>

#include "contracts/arithmetic/product_rule.hpp"
#include "contracts/base/check.hpp"

namespace assay::trainer {

namespace {
constexpr std::uint64_t kBlock = arithmetic::kMaxProductBlock;  // columns

std::uint64_t blocks_of(std::uint64_t cols) { return (cols + kBlock - 1) / kBlock; }
}  // namespace

std::uint64_t TensorMaxima::bytes(std::uint64_t rows, std::uint64_t cols, std::uint64_t context) {
    return (blocks_of(cols) * rows + rows / context * cols) * sizeof(std::int32_t);
}

void TensorMaxima::prepare(std::uint64_t rows, std::uint64_t cols, std::uint64_t context) {
    ASSAY_CHECK(context > 0 && rows % context == 0);
    is_known_ = false;
    rows_ = rows;
    cols_ = cols;
    context_ = context;
    of_rows_.resize(blocks_of(cols) * rows);
    of_columns_.assign(rows / context * cols, 0);
}

LaneMaxima TensorMaxima::of_rows(std::uint64_t rows, std::uint64_t first) const {
    if (!is_known_ || rows != rows_) return {};
    return {of_rows_.data() + first, rows_};
}

LaneMaxima TensorMaxima::of_columns(std::uint64_t rows, std::uint64_t first) const {
    if (!is_known_ || rows != rows_ || first % context_ != 0) return {};
    return {of_columns_.data() + first / context_ * cols_, cols_};
}

void TensorMaxima::Share::see(const float* data, std::uint64_t first, std::uint64_t count) {
    const std::uint64_t cols = all_.cols_;
    for (std::uint64_t row = first; row < first + count;) {
        const std::uint64_t sequence = row / all_.context_;
        const std::uint64_t end = std::min(first + count, (sequence + 1) * all_.context_);
        if (sequence != sequence_) {
            end_sequence();
            sequence_ = sequence;
            std::fill_n(column_, cols, 0);
        }
        for (std::uint64_t block = 0, at = 0; at < cols; ++block, at += kBlock) {
            kernels_.largest({end - row, std::min(kBlock, cols - at), cols}, data + (row - first) * cols + at,
                             all_.of_rows_.data() + block * all_.rows_ + row, column_ + at);
        }
        row = end;
    }
}

void TensorMaxima::Share::end_sequence() {
    if (sequence_ == UINT64_MAX) return;
    std::int32_t* const into = all_.of_columns_.data() + sequence_ * all_.cols_;
    const std::scoped_lock lock(all_.mutex_);
    for (std::uint64_t j = 0; j < all_.cols_; ++j) into[j] = std::max(into[j], column_[j]);
}

}  // namespace assay::trainer
