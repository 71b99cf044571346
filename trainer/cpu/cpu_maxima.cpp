// SPDX-License-Identifier: Apache-2.0
#include "trainer/cpu/cpu_maxima.hpp"

#include <algorithm>

#include "contracts/arithmetic/product_rule.hpp"
#include "contracts/base/check.hpp"

namespace assay::trainer {

namespace {
constexpr std::uint64_t kBlock = arithmetic::kMaxProductBlock;  // columns

std::uint64_t count_of_rows(const TensorMaxima::Shape& shape) {
    return (shape.cols + kBlock - 1) / kBlock * shape.rows;
}
std::uint64_t count_of_columns(const TensorMaxima::Shape& shape, MaximaOf what) {
    const std::uint64_t sequences = (shape.rows + shape.context - 1) / shape.context;
    return what == MaximaOf::kRowsAndColumns ? sequences * shape.cols : 0;
}
}  // namespace

std::uint64_t TensorMaxima::bytes(const Shape& shape, MaximaOf what) {
    if (what == MaximaOf::kNothing) return 0;
    return (count_of_rows(shape) + count_of_columns(shape, what)) * sizeof(std::int32_t);
}

void TensorMaxima::prepare(const Shape& shape, MaximaOf what) {
    ASSAY_CHECK(what != MaximaOf::kNothing && shape.context > 0);
    is_known_ = false;
    shape_ = shape;
    of_rows_.resize(count_of_rows(shape));
    of_columns_.assign(count_of_columns(shape, what), 0);
}

LaneMaxima TensorMaxima::of_rows(std::uint64_t rows, std::uint64_t first) const {
    if (!is_known_ || rows != shape_.rows) return {};
    return {of_rows_.data() + first, shape_.rows};
}

LaneMaxima TensorMaxima::of_columns(std::uint64_t rows, std::uint64_t first) const {
    if (!is_known_ || rows != shape_.rows || of_columns_.empty() || first % shape_.context != 0) return {};
    return {of_columns_.data() + first / shape_.context * shape_.cols, shape_.cols};
}

void TensorMaxima::Share::see(const float* data, std::uint64_t first, std::uint64_t count) {
    const auto& [rows, cols, context] = all_.shape_;
    for (std::uint64_t row = first; row < first + count;) {
        const std::uint64_t sequence = row / context;
        const std::uint64_t end = std::min(first + count, (sequence + 1) * context);
        if (sequence != sequence_) {
            end_sequence();
            sequence_ = sequence;
            std::fill_n(column_, cols, 0);
        }
        for (std::uint64_t block = 0, at = 0; at < cols; ++block, at += kBlock) {
            kernels_.largest({end - row, std::min(kBlock, cols - at), cols}, data + (row - first) * cols + at,
                             all_.of_rows_.data() + block * rows + row, column_ + at);
        }
        row = end;
    }
}

void TensorMaxima::Share::end_sequence() {
    if (sequence_ == UINT64_MAX || all_.of_columns_.empty()) return;
    const std::uint64_t cols = all_.shape_.cols;
    std::int32_t* const into = all_.of_columns_.data() + sequence_ * cols;
    const std::scoped_lock lock(all_.mutex_);
    for (std::uint64_t j = 0; j < cols; ++j) into[j] = std::max(into[j], column_[j]);
}

}  // namespace assay::trainer
