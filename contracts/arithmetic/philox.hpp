// SPDX-License-Identifier: Apache-2.0
// The random numbers of a job: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011) and the streams that a job draws from it. It is counter-based: every draw is a pure function of
// its place.
#pragma once

#include <array>
#include <cstdint>

namespace assay::arithmetic {

using PhiloxBlock = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

/// Ten rounds of Philox4x32 on `counter` under `key`.
PhiloxBlock philox(PhiloxBlock counter, PhiloxKey key);

/// What a stream is for. Frozen numbers.
enum class Purpose : std::uint32_t { kInitialWeights = 1, kDataOrder = 2 };

/// Names a stream of a job; fields that a purpose does not need are 0.
struct StreamName {
    std::uint64_t seed = 0;
    Purpose purpose = Purpose::kInitialWeights;
    std::uint32_t round = 0;
    std::uint32_t slot = 0;
    std::uint32_t step = 0;
};

/// Block `index` of a stream: philox(counter = (index low, index high, 0, 0), key = first two words of
/// philox(counter = (purpose, round, slot, step), key = (seed low, seed high))).
class Stream {
public:
    explicit Stream(const StreamName& name);
    [[nodiscard]] PhiloxBlock block(std::uint64_t index) const;

private:
    PhiloxKey key_;
};

/// Four standard normals from a block by Box–Muller. For each pair of words (a, b):
/// u = ((a >> 8) + 1)·2^-24; w = float(b >> 8)·2^-24; r = sqrt(−2 · log32(u)); t = 2pi · w;
/// the pair is r·cos32(t), r·sin32(t).
std::array<float, 4> normals(const PhiloxBlock& block);

}  // namespace assay::arithmetic
