// SPDX-License-Identifier: Apache-2.0
// Gives tests of kernels numbers that are hard for arithmetic, comparison by bits, and every order of
// threads; where nvcc compiles them, a card in place of the emulation (card_support-inl.hpp). What a kernel
// reads or writes lies in a CardVector, and the host looks at it by same() and its kin, or after settle().
#pragma once

#include <bit>
#include <cstdint>
#include <random>
#include <vector>

#include "tests/support/catch.hpp"
#include "trainer/cuda/simt/simt.hpp"
#if defined(__CUDACC__)
#include "tests/trainer/cuda/card_support-inl.hpp"
#endif

namespace assay::trainer::cuda::test {

#if defined(__CUDACC__)
template <class T>
using CardVector = std::vector<T, CardAllocator<T>>;
using TestStream = CardStream;
#else
template <class T>
using CardVector = std::vector<T>;
using TestStream = KernelStream;
/// The emulation is done when a launch returns.
inline void settle() {}
inline void use_test_card() {}
#endif

using CardFloats = CardVector<float>;

/// Launches a kernel on the grid that its arguments need.
template <class Kernel, class Args>
void start(TestStream& stream, const Args& args) {
    launch<Kernel>(Kernel::grid(args), stream, args);
}

/// What kernels note the smallest operator in.
class Note {
public:
    [[nodiscard]] unsigned* at() { return number_.data(); }
    [[nodiscard]] unsigned value() const {
        settle();
        return number_[0];
    }
    void set(unsigned number) { number_[0] = number; }

private:
    CardVector<unsigned> number_ = CardVector<unsigned>(1, 0xffffffffU);
};

/// Whether both hold the same integers.
template <class T>
bool same_integers(const CardVector<T>& a, const CardVector<T>& b) {
    settle();
    return a == b;
}

/// Which numbers: normally distributed ones alone, or zeros of both signs, subnormal and large ones among
/// them.
enum class Draw : std::uint8_t { kTame, kWild };

inline CardFloats numbers(std::mt19937& random, std::size_t count, Draw kind = Draw::kWild) {
    std::normal_distribution<float> normal;
    CardFloats values(count);
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
inline bool same(const CardFloats& a, const CardFloats& b) {
    settle();
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

template <class T, class Allocator>
OutputArray<T> output(std::vector<T, Allocator>& values) {
    OutputArray<T> array;
    array.data = values.data();
    array.count = values.size();
    return array;
}

#if defined(__CUDACC__)
/// Runs work(stream) a few times, for whatever orders the card takes.
template <class Work>
void for_every_stream(const Work& work) {
    for (int i = 0; i < 4; ++i) {
        TestStream stream;
        work(stream);
    }
}
#else
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

template <class Work>
void for_every_stream(const Work& work) {
    for (const StreamOptions& options : all_orders()) {
        KernelStream stream(two_threads(), options);
        INFO("order " << static_cast<int>(options.order) << ", seed " << options.seed);
        work(stream);
    }
}
#endif

/// Runs work(stream) in every order; no rule of the machine may be broken.
template <class Work>
void in_every_order(const Work& work) {
    for_every_stream([&](TestStream& stream) {
        work(stream);
        INFO(stream.faults().to_text());
        REQUIRE_FALSE(stream.faults().any());
    });
}

/// A stream for one order.
inline TestStream one_stream() {
#if defined(__CUDACC__)
    return {};
#else
    return TestStream(two_threads());
#endif
}

/// Whether work(stream), true for bits of the law, shows in some order that a kernel is wrong.
template <class Work>
bool is_found(const Work& work) {
    bool found = false;
    for_every_stream([&](TestStream& stream) {
        const bool right = work(stream);
        found = found || !right || stream.faults().any();
    });
    return found;
}

}  // namespace assay::trainer::cuda::test
