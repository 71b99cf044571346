// SPDX-License-Identifier: Apache-2.0
// Gives fits linear algebra for a few constants.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace assay::node {

template <std::size_t N>
using SmallVector = std::array<double, N>;
template <std::size_t N>
using SmallMatrix = std::array<SmallVector<N>, N>;

/// Cholesky's lower factor. REQUIRES a symmetric matrix without a negative eigenvalue. A pivot that is zero,
/// or negative by rounding, counts as 1e-12.
template <std::size_t N>
SmallMatrix<N> cholesky(const SmallMatrix<N>& matrix) {
    constexpr double kLeast = 1e-12;
    SmallMatrix<N> factor{};
    for (std::size_t i = 0; i < N; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            double sum = matrix[i][j];
            for (std::size_t k = 0; k < j; ++k) sum -= factor[i][k] * factor[j][k];
            factor[i][j] = i == j ? std::sqrt(sum < kLeast ? kLeast : sum) : sum / factor[j][j];
        }
    }
    return factor;
}

/// The inverse of the matrix that has this factor.
template <std::size_t N>
SmallMatrix<N> inverse_of_factored(const SmallMatrix<N>& factor) {
    SmallMatrix<N> inverse{};
    for (std::size_t column = 0; column < N; ++column) {
        SmallVector<N> x{};
        for (std::size_t i = 0; i < N; ++i) {
            double sum = i == column ? 1 : 0;
            for (std::size_t k = 0; k < i; ++k) sum -= factor[i][k] * x[k];
            x[i] = sum / factor[i][i];
        }
        for (std::size_t i = N; i-- > 0;) {
            for (std::size_t k = i + 1; k < N; ++k) x[i] -= factor[k][i] * x[k];
            x[i] /= factor[i][i];
        }
        for (std::size_t i = 0; i < N; ++i) inverse[i][column] = x[i];
    }
    return inverse;
}

template <std::size_t N>
double dot(const SmallVector<N>& a, const SmallVector<N>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < N; ++i) sum += a[i] * b[i];
    return sum;
}

}  // namespace assay::node
