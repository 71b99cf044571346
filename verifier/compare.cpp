// SPDX-License-Identifier: Apache-2.0
#include "verifier/compare.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>

#include "contracts/base/check.hpp"

namespace assay::verifier {

namespace {

std::uint64_t bits_of(float value) { return std::bit_cast<std::uint32_t>(value); }
std::uint64_t bits_of(std::int64_t value) { return static_cast<std::uint64_t>(value); }

template <class T>
std::optional<Difference> first_in(const std::vector<program::TensorInfo>& tensors, std::string component,
                                   std::span<const T> claimed, std::span<const T> recomputed) {
    ASSAY_CHECK(claimed.size() == recomputed.size() && !tensors.empty() &&
                claimed.size() == tensors.back().offset + tensors.back().size());
    std::optional<Difference> first;
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < claimed.size(); ++i) {
        const std::uint64_t was = bits_of(claimed[i]);
        const std::uint64_t is = bits_of(recomputed[i]);
        if (was == is) continue;
        ++count;
        if (first) continue;
        const auto after = std::upper_bound(
            tensors.begin(), tensors.end(), i,
            [](std::size_t place, const program::TensorInfo& tensor) { return place < tensor.offset; });
        const program::TensorInfo& tensor = *(after - 1);
        const std::uint64_t index = i - tensor.offset;
        first = Difference{std::move(component),
                           tensor.name,
                           index,
                           index / tensor.cols,
                           index % tensor.cols,
                           was,
                           is,
                           8 * sizeof(T),
                           0};
    }
    if (first) first->count = count;
    return first;
}

std::string number_text(std::uint64_t bits, unsigned width) {
    char text[64];
    if (width == 32) {
        const auto low = static_cast<std::uint32_t>(bits);
        std::snprintf(text, sizeof text, "0x%08x (%.9g)", low,
                      static_cast<double>(std::bit_cast<float>(low)));
    } else {
        std::snprintf(text, sizeof text, "0x%016llx (%lld)", static_cast<unsigned long long>(bits),
                      static_cast<long long>(static_cast<std::int64_t>(bits)));
    }
    return text;
}

}  // namespace

unsigned Difference::bit() const {
    return static_cast<unsigned>(std::countr_zero(claimed_bits ^ recomputed_bits));
}

std::optional<Difference> first_difference(const std::vector<program::TensorInfo>& tensors,
                                           std::string component, std::span<const float> claimed,
                                           std::span<const float> recomputed) {
    return first_in(tensors, std::move(component), claimed, recomputed);
}

std::optional<Difference> first_difference(const std::vector<program::TensorInfo>& tensors,
                                           std::string component, std::span<const std::int64_t> claimed,
                                           std::span<const std::int64_t> recomputed) {
    return first_in(tensors, std::move(component), claimed, recomputed);
}

std::string describe(const Difference& difference) {
    return difference.component + ": " + difference.tensor + "[" + std::to_string(difference.index) +
           "] (row " + std::to_string(difference.row) + ", column " + std::to_string(difference.column) +
           ") differs in bit " + std::to_string(difference.bit()) + ": claimed " +
           number_text(difference.claimed_bits, difference.width) + ", recomputed " +
           number_text(difference.recomputed_bits, difference.width) + "; " +
           std::to_string(difference.count) +
           (difference.count == 1 ? " element differs" : " elements differ");
}

}  // namespace assay::verifier
