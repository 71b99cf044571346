// SPDX-License-Identifier: Apache-2.0
// TensorMaxima holds the largest magnitudes of the rows and columns of a tensor. Exact-integer products scale
// their operands by them (contracts/arithmetic/exact_product.hpp), and so need not read the tensor a second
// time. Those of activations and their gradients are found by the operator that writes them, while its rows
// are in the cache; those of a weight by the update that writes it, for both of its forms.
//
// A column has one maximum for each sequence, since weight gradients cut their sums there; of a weight for
// each block of rows. A row has one for each kMaxProductBlock of its numbers, as linear layers cut theirs.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "trainer/cpu/kernels/kernels.hpp"

namespace assay::trainer {

/// Which largest magnitudes of a tensor are wanted.
enum class MaximaOf : std::uint8_t { kNothing, kRows, kRowsAndColumns };

class TensorMaxima {
public:
    struct Shape {
        std::uint64_t rows = 0;
        std::uint64_t cols = 0;
        std::uint64_t context = 0;  ///< rows of a sequence; the last one may be shorter
        friend bool operator==(const Shape&, const Shape&) = default;
    };
    /// Bytes that the maxima of a tensor take.
    static std::uint64_t bytes(const Shape& shape, MaximaOf what);

    /// Starts again with no maxima. REQUIRES `what` other than kNothing. Throws std::bad_alloc; allocates
    /// nothing if an earlier shape had as many rows and columns.
    void prepare(const Shape& shape, MaximaOf what);
    /// Declares that all rows have been seen: maxima are valid until prepare() or forget().
    void finish() { is_known_ = true; }
    void forget() { is_known_ = false; }
    [[nodiscard]] bool is_known() const { return is_known_; }

    /// Maxima of rows as lanes, with row `first` as lane 0; nothing if they are not known for exactly `rows`
    /// rows.
    [[nodiscard]] LaneMaxima of_rows(std::uint64_t rows, std::uint64_t first = 0) const;
    /// Maxima of columns as lanes, over the rows from `first` on; nothing if they are not known, or `first`
    /// does not begin a sequence.
    [[nodiscard]] LaneMaxima of_columns(std::uint64_t rows, std::uint64_t first = 0) const;

    /// The part of a tensor that one thread sees: rows in ascending order, in pieces. Several threads may see
    /// rows of one sequence.
    class Share {
    public:
        /// `column` has room for as many numbers as the tensor has columns; no other share may use it.
        Share(TensorMaxima& all, const Kernels& kernels, std::int32_t* column)
            : all_(all), kernels_(kernels), column_(column) {}
        Share(const Share&) = delete;
        Share& operator=(const Share&) = delete;
        ~Share() { end_sequence(); }

        /// Takes rows [first, first + count) of the tensor, which lie at `data`, into account.
        void see(const float* data, std::uint64_t first, std::uint64_t count);

    private:
        void end_sequence();

        TensorMaxima& all_;
        const Kernels& kernels_;
        std::int32_t* column_;
        std::uint64_t sequence_ = UINT64_MAX;  // the sequence whose maxima column_ holds
    };

private:
    Shape shape_;
    bool is_known_ = false;
    std::vector<std::int32_t> of_rows_;     // [block of columns][row]
    std::vector<std::int32_t> of_columns_;  // [sequence][column]; empty when not wanted
    std::mutex mutex_;                      // guards of_columns_ while shares end
};

}  // namespace assay::trainer
