// SPDX-License-Identifier: Apache-2.0
#include "contracts/arithmetic/loss.hpp"

#include "contracts/arithmetic/elementary.hpp"
#include "contracts/arithmetic/reduce.hpp"
#include "contracts/base/check.hpp"

namespace assay::arithmetic {

void loss_max(std::uint64_t vocabulary, std::span<const float> logits, std::span<float> max) {
    ASSAY_CHECK(logits.size() == max.size() * vocabulary);
    for (std::size_t t = 0; t < max.size(); ++t) {
        const auto row = logits.subspan(t * vocabulary, vocabulary);
        max[t] = row[max_index(row)];
    }
}

void loss_exp(std::uint64_t vocabulary, std::span<const float> logits, std::span<const float> max,
              std::span<float> e) {
    ASSAY_CHECK(logits.size() == max.size() * vocabulary && e.size() == logits.size());
    for (std::size_t t = 0; t < max.size(); ++t) {
        for (std::size_t i = t * vocabulary; i < (t + 1) * vocabulary; ++i) e[i] = exp32(logits[i] - max[t]);
    }
}

void loss_sum(std::uint64_t vocabulary, std::span<const float> e, std::span<float> sum) {
    ASSAY_CHECK(e.size() == sum.size() * vocabulary);
    for (std::size_t t = 0; t < sum.size(); ++t) sum[t] = lane_sum(e.subspan(t * vocabulary, vocabulary));
}

void loss_tokens(std::uint64_t vocabulary, std::span<const float> logits, std::span<const float> max,
                 std::span<const float> sum, std::span<const std::uint32_t> targets, std::span<float> loss) {
    ASSAY_CHECK(logits.size() == loss.size() * vocabulary && max.size() == loss.size() &&
                sum.size() == loss.size() && targets.size() == loss.size());
    for (std::size_t t = 0; t < loss.size(); ++t) {
        loss[t] = log32(sum[t]) - (logits[t * vocabulary + targets[t]] - max[t]);
    }
}

float loss_total_carry(std::span<const float> loss, float total) {
    float sum = 0.0F;
    for (const float value : loss) sum = sum + value;
    return total + sum;
}

float reciprocal(std::uint64_t n) {
    ASSAY_CHECK(n >= 1 && n <= (1ULL << 24));
    return 1.0F / static_cast<float>(n);
}

void loss_gradient(std::uint64_t vocabulary, float r, std::span<const float> e, std::span<const float> sum,
                   std::span<const std::uint32_t> targets, std::span<float> dlogits) {
    ASSAY_CHECK(e.size() == sum.size() * vocabulary && targets.size() == sum.size() &&
                dlogits.size() == e.size());
    for (std::size_t t = 0; t < sum.size(); ++t) {
        for (std::size_t v = 0; v < vocabulary; ++v) {
            const float p = e[t * vocabulary + v] / sum[t];
            dlogits[t * vocabulary + v] = (v == targets[t] ? p - 1.0F : p) * r;
        }
    }
}

}  // namespace assay::arithmetic
