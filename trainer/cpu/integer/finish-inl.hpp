// SPDX-License-Identifier: Apache-2.0
// What follows the exact sum of a block of k: one rounded addition to the output, and after the last block
// scale, bias and the check for finite numbers, while the output is still in the cache. Included once per
// target inside its namespace, after the lanes: no guard.

/// Sums of at most this many k have |hi| <= 2^24, so that binary32 is enough to convert them.
inline constexpr std::uint64_t kShortDepth = 1024;
static_assert(kShortDepth * 32'639 * 32'639 / 65'536 + kShortDepth < (1U << 24U));
static_assert(kShortDepth * 8'355'711 * 32'639 / (1U << 24U) + 4 < (1U << 24U));
static_assert(arithmetic::kMaxProductBlock * 32'639 * 32'639 / 65'536 < (1ULL << 31U));
static_assert(arithmetic::kMaxProductBlock * 8'355'711 * 32'639 <= (1ULL << 52U));  // binary64 holds all

// What to do with the values of one block of k.
struct Finish {
    bool from_zero = false;
    bool last = false;
    float scale = 1.0F;
};

inline F follow(F c, const Finish& how, const float* bias, I& worst) {
    if (how.last) {
        c = mul(c, set_float(how.scale));
        if (bias != nullptr) c = add(c, load_float(bias));
        worst = max(worst, magnitude(c));
    }
    return c;
}

// Adds `value` to kL outputs. `bias` is of these columns.
inline void put(F value, const Finish& how, const float* bias, float* out, I& worst) {
    const F before = how.from_zero ? zero_float() : load_float(out);
    store_float(out, follow(add(before, value), how, bias, worst));
}

// The same of `count` < kL outputs, through a buffer: the memory behind them is not ours.
inline void put_some(F value, std::uint64_t count, const Finish& how, const float* bias, float* out,
                     I& worst) {
    alignas(64) float outputs[kL] = {}, biases[kL] = {};
    for (std::uint64_t l = 0; l < count; ++l) {
        if (!how.from_zero) outputs[l] = out[l];
        if (bias != nullptr) biases[l] = bias[l];
    }
    put(value, how, bias == nullptr ? nullptr : biases, outputs, worst);
    for (std::uint64_t l = 0; l < count; ++l) out[l] = outputs[l];
}
