// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <vector>

#include "contracts/arithmetic/permutation.hpp"
#include "contracts/arithmetic/philox.hpp"
#include "tests/support/catch.hpp"

namespace {
using namespace assay::arithmetic;
}

TEST_CASE("Philox4x32-10 gives the known answers of the Random123 library") {
    CHECK(philox({0, 0, 0, 0}, {0, 0}) == PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    constexpr std::uint32_t kOnes = 0xffffffffU;
    CHECK(philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}) ==
          PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
          PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("streams with different names differ, and one name gives one stream") {
    const StreamName name{.seed = 7, .purpose = Purpose::kInitialWeights, .round = 1, .slot = 2, .step = 3};
    const PhiloxBlock block = Stream(name).block(5);
    CHECK(Stream(name).block(5) == block);
    CHECK(Stream(name).block(6) != block);
    CHECK(Stream(name).block(5 + (1ULL << 32)) != block);
    for (int field = 0; field < 5; ++field) {
        StreamName other = name;
        if (field == 0) other.seed += 1ULL << 32;
        if (field == 1) other.purpose = Purpose::kDataOrder;
        if (field == 2) ++other.round;
        if (field == 3) ++other.slot;
        if (field == 4) ++other.step;
        CHECK(Stream(other).block(5) != block);
    }
}

TEST_CASE("normals have mean 0, deviation 1 and the right tails, and are finite at the edges") {
    const Stream stream({.seed = 20261121});
    constexpr int kBlocks = 250'000;
    double sum = 0;
    double squares = 0;
    int beyond_two = 0;
    for (int i = 0; i < kBlocks; ++i) {
        for (const float z : normals(stream.block(static_cast<std::uint64_t>(i)))) {
            sum += static_cast<double>(z);
            squares += static_cast<double>(z) * static_cast<double>(z);
            if (std::fabs(z) > 2.0F) ++beyond_two;
        }
    }
    constexpr double kCount = 4.0 * kBlocks;
    CHECK(std::fabs(sum / kCount) < 0.005);
    CHECK(std::fabs(squares / kCount - 1.0) < 0.01);
    CHECK(std::fabs(beyond_two / kCount - 0.0455) < 0.001);
    const auto largest = normals({0, 0, 0xffffffffU, 0xffffffffU});
    CHECK(largest[0] == Approx(5.7684).epsilon(1e-4));  // sqrt(-2 ln 2^-24)
    CHECK(largest[2] == 0.0F);                          // u = 1: radius 0
}

TEST_CASE("a permutation is a bijection for every size and differs between epochs and seeds") {
    for (std::uint64_t size = 1; size <= 300; ++size) {
        std::vector<bool> seen(size, false);
        const Permutation permutation(99, 3, size);
        for (std::uint64_t i = 0; i < size; ++i) {
            const std::uint64_t image = permutation(i);
            REQUIRE(image < size);
            REQUIRE_FALSE(seen[image]);
            seen[image] = true;
        }
    }
    const Permutation first(1, 0, 1000);
    const Permutation second(1, 1, 1000);
    const Permutation third(2, 0, 1000);
    int same_epoch = 0;
    int same_seed = 0;
    for (std::uint64_t i = 0; i < 1000; ++i) {
        same_epoch += first(i) == second(i) ? 1 : 0;
        same_seed += first(i) == third(i) ? 1 : 0;
    }
    CHECK(same_epoch < 20);
    CHECK(same_seed < 20);
    const Permutation large(5, 6, (1ULL << 40) + 12345);
    CHECK(large(1ULL << 40) < large.size());
}
