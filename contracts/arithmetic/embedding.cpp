// SPDX-License-Identifier: Apache-2.0
#include "contracts/arithmetic/embedding.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "contracts/base/check.hpp"

namespace assay::arithmetic {

void embedding_forward(std::uint64_t width, std::span<const std::uint32_t> tokens, std::span<const float> wte,
                       std::span<const float> wpe, std::span<float> x) {
    ASSAY_CHECK(x.size() == tokens.size() * width && wpe.size() >= x.size());
    for (std::size_t t = 0; t < tokens.size(); ++t) {
        const auto row = wte.subspan(tokens[t] * width, width);
        for (std::size_t i = 0; i < width; ++i) x[t * width + i] = row[i] + wpe[t * width + i];
    }
}

void embedding_forward(std::uint64_t width, std::span<const std::uint32_t> tokens, std::span<const float> wte,
                       std::span<float> x) {
    ASSAY_CHECK(x.size() == tokens.size() * width);
    for (std::size_t t = 0; t < tokens.size(); ++t) {
        std::copy_n(wte.subspan(tokens[t] * width, width).begin(), width, x.subspan(t * width).begin());
    }
}

void embedding_gradient_carry(std::uint64_t width, std::span<const std::uint32_t> tokens,
                              std::span<const float> dx, std::span<float> dwte, std::span<float> dwpe) {
    ASSAY_CHECK(dwpe.size() >= dx.size());
    for (std::size_t i = 0; i < dx.size(); ++i) dwpe[i] = dwpe[i] + dx[i];
    embedding_gradient_carry(width, tokens, dx, dwte);
}

void embedding_gradient_carry(std::uint64_t width, std::span<const std::uint32_t> tokens,
                              std::span<const float> dx, std::span<float> dwte) {
    ASSAY_CHECK(dx.size() == tokens.size() * width);
    // Places grouped by token, ascending within a group: one pass per token that occurs.
    std::vector<std::size_t> places(tokens.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::stable_sort(places.begin(), places.end(),
                     [&](std::size_t a, std::size_t b) { return tokens[a] < tokens[b]; });
    std::vector<float> sum(width);
    for (std::size_t first = 0; first < places.size();) {
        const std::uint32_t token = tokens[places[first]];
        std::fill(sum.begin(), sum.end(), 0.0F);
        std::size_t at = first;
        for (; at < places.size() && tokens[places[at]] == token; ++at) {
            const auto row = dx.subspan(places[at] * width, width);
            for (std::size_t i = 0; i < width; ++i) sum[i] = sum[i] + row[i];
        }
        const auto row = dwte.subspan(token * width, width);
        for (std::size_t i = 0; i < width; ++i) row[i] = row[i] + sum[i];
        first = at;
    }
}

}  // namespace assay::arithmetic
