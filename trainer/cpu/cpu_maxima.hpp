// SPDX-License-Identifier: Apache-2.0
// TensorMaxima gives CpuDevice the largest magnitudes of rows and columns of a tensor, found by whoever
// writes the tensor while its rows are in the cache. The exact-integer products scale their operands by them
// (contracts/arithmetic/exact_product.hpp) and so need not read a tensor a second time.
//
// Columns have one for each sequence and rows one for each kMaxProductBlock of their numbers: as gradients of
// weights and linear layers cut their sums.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "trainer/cpu/kernels/kernels.hpp"

namespace assay::trainer {

/// Of what a tensor's largest magnitudes are wanted.
enum class MaximaOf : std::uint8_t { kNothing, kRows, kRowsAndColumns };

class TensorMaxima {
public:
    struct Shape {
        std::uint64_t rows = 0;  ///< whole sequences
        std::uint64_t cols = 0;
        std::uint64_t context = 0;  ///< rows of a sequence
    };
    /// Bytes of those of a tensor.
    static std::uint64_t bytes(const Shape& shape, MaximaOf what);

    /// Begins anew: nothing has been seen. REQUIRES something that is wanted. Throws std::bad_alloc; takes no
    /// memory where a shape before had as many rows and columns.
    void prepare(const Shape& shape, MaximaOf what);
    /// All rows have been seen: numbers mean something until prepare() or forget().
    void finish() { is_known_ = true; }
    void forget() { is_known_ = false; }

    /// Of rows as lanes, row `first` being lane 0; nothing where they are not known of `rows` rows in all.
    [[nodiscard]] LaneMaxima of_rows(std::uint64_t rows, std::uint64_t first = 0) const;
    /// Of columns as lanes, over the rows from `first`, the start of a sequence, on.
    [[nodiscard]] LaneMaxima of_columns(std::uint64_t rows, std::uint64_t first = 0) const;

    /// What one thread sees of a tensor: rows in ascending order, in pieces. Threads may share a sequence.
    class Share {
    public:
        /// `column` is a place for as many numbers as the tensor has columns, of this share alone.
        Share(TensorMaxima& all, const Kernels& kernels, std::int32_t* column)
            : all_(all), kernels_(kernels), column_(column) {}
        Share(const Share&) = delete;
        Share& operator=(const Share&) = delete;
        ~Share() { end_sequence(); }

        /// Rows [first, first + count) of the tensor, which lie at `data`.
        void see(const float* data, std::uint64_t first, std::uint64_t count);

    private:
        void end_sequence();

        TensorMaxima& all_;
        const Kernels& kernels_;
        std::int32_t* column_;
        std::uint64_t sequence_ = UINT64_MAX;  // of which column_ holds maxima
    };

private:
    Shape shape_;
    bool is_known_ = false;
    std::vector<std::int32_t> of_rows_;     // [block of columns][row]
    std::vector<std::int32_t> of_columns_;  // [sequence][column]; empty where nobody wants them
    std::mutex mutex_;                      // of of_columns_ while shares end
};

}  // namespace assay::trainer
