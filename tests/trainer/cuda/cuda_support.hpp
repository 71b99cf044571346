// SPDX-License-Identifier: Apache-2.0
// Gives tests of kernels numbers that are hard for arithmetic, comparison by bits, and every order of
// threads.
#pragma once

#include <bit>
#include <cstdint>
#include <random>
#include <vector>

#include "tests/support/catch.hpp"
#include "trainer/cuda/simt/simt.hpp"

namespace assay::trainer::cuda::test {

using Values = std::vector<float>;

/// Which numbers: normally distributed ones alone, or zeros of both signs, subnormal and large ones among
/// them.
enum class Draw : std::uint8_t { kTame, kWild };

inline Values numbers(std::mt19937& random, std::size_t count, Draw kind = Draw::kWild) {
    std::normal_distribution<float> normal;
    Values values(count);
    for (float& value : values) {
        value = normal(random);
        if (kind == Draw::kTame) continue;
        switch (random() % 40) {
            case 0: value = 0.0F; break;
            case 1: value = -0.0F; break;
            case 2: value = std::bit_cast<float>(static_cast<std::uint32_t>(random()) & 0x807fffffU); break;
            case 3: value *= 1e15F; break;
            case 4: value *= 1e-30F; break;
            default: break;
        }
    }
    return values;
}

/// Whether both have the same bits; of NaNs only that they are some.
inline bool same(const Values& a, const Values& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i] != a[i] && b[i] != b[i]) continue;
        if (std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i])) {
            UNSCOPED_INFO("element " << i << ": " << a[i] << " against " << b[i]);
            return false;
        }
    }
    return true;
}

template <class T>
OutputArray<T> output(std::vector<T>& values) {
    return {.data = values.data(), .count = values.size()};
}

/// Streams on two threads: every order, and two seeds.
inline std::vector<StreamOptions> all_orders() {
    return {{.order = ThreadOrder::kAscending},
            {.order = ThreadOrder::kDescending},
            {.order = ThreadOrder::kSeeded, .seed = 1},
            {.order = ThreadOrder::kSeeded, .seed = 20}};
}

inline ThreadPool& two_threads() {
    static ThreadPool pool(2);
    return pool;
}

/// Runs work(stream) in every order; no rule of the machine may be broken.
template <class Work>
void in_every_order(const Work& work) {
    for (const StreamOptions& options : all_orders()) {
        KernelStream stream(two_threads(), options);
        INFO("order " << static_cast<int>(options.order) << ", seed " << options.seed);
        work(stream);
        INFO(stream.faults().to_text());
        REQUIRE_FALSE(stream.faults().any());
    }
}

/// Whether work(stream), true for bits of the law, shows in some order that a kernel is wrong.
template <class Work>
bool is_found(const Work& work) {
    bool found = false;
    for (const StreamOptions& options : all_orders()) {
        KernelStream stream(two_threads(), options);
        const bool right = work(stream);
        found = found || !right || stream.faults().any();
    }
    return found;
}

}  // namespace assay::trainer::cuda::test
