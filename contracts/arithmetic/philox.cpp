// SPDX-License-Identifier: Apache-2.0
#include "contracts/arithmetic/philox.hpp"

#include <cmath>

#include "contracts/arithmetic/elementary.hpp"

namespace assay::arithmetic {

namespace {
std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }
}  // namespace

PhiloxBlock philox(PhiloxBlock counter, PhiloxKey key) {
    constexpr std::uint64_t kMultiplier0 = 0xd2511f53U;
    constexpr std::uint64_t kMultiplier1 = 0xcd9e8d57U;
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t first = kMultiplier0 * counter[0];
        const std::uint64_t second = kMultiplier1 * counter[2];
        counter = {high(second) ^ counter[1] ^ key[0], low(second), high(first) ^ counter[3] ^ key[1],
                   low(first)};
        key = {key[0] + 0x9e3779b9U, key[1] + 0xbb67ae85U};
    }
    return counter;
}

Stream::Stream(const StreamName& name) {
    const PhiloxBlock block =
        philox({static_cast<std::uint32_t>(name.purpose), name.round, name.slot, name.step},
               {low(name.seed), high(name.seed)});
    key_ = {block[0], block[1]};
}

PhiloxBlock Stream::block(std::uint64_t index) const { return philox({low(index), high(index), 0, 0}, key_); }

std::array<float, 4> normals(const PhiloxBlock& block) {
    constexpr float kUnit = 1.0F / 16777216.0F;
    constexpr float kTwoPi = 6.283185307179586F;
    std::array<float, 4> out{};
    for (std::size_t i = 0; i < 4; i += 2) {
        const float u = static_cast<float>((block[i] >> 8) + 1U) * kUnit;
        const float angle = kTwoPi * (static_cast<float>(block[i + 1] >> 8) * kUnit);
        const float radius = std::sqrt(-2.0F * log32(u));
        out[i] = radius * cos32(angle);
        out[i + 1] = radius * sin32(angle);
    }
    return out;
}

}  // namespace assay::arithmetic
