// SPDX-License-Identifier: Apache-2.0
// Roots, updates and merges by kernels against the law, and their mutants. (The device's operations on whole
// arrays are compared with every other device's in tests/trainer/device_arrays_test.cpp.)
#include "trainer/cuda/launch/arrays.hpp"

#include <cstring>
#include <limits>

#include "contracts/arithmetic/optimizer.hpp"
#include "contracts/arithmetic/update.hpp"
#include "contracts/base/merkle.hpp"
#include "contracts/program/state_root.hpp"
#include "contracts/program/tile_hashes.hpp"
#include "tests/trainer/cuda/cuda_support.hpp"

namespace assay::trainer::cuda {
namespace {
using test::CardFloats;
using test::in_every_order;
using test::is_found;
using test::numbers;
using test::output;
using test::same;
using test::start;
using test::TestStream;

HashPersonal words_of(const base::Personal& personal) {
    HashPersonal words;
    std::memcpy(&words, personal.bytes.data(), sizeof(words));
    return words;
}

std::vector<base::Hash256> as_hashes(const test::CardVector<std::uint64_t>& digests) {
    test::settle();
    std::vector<base::Hash256> hashes(digests.size() / 4);
    for (std::size_t i = 0; i < hashes.size(); ++i) std::memcpy(hashes[i].bytes.data(), &digests[4 * i], 32);
    return hashes;
}

// Levels of trees as one table.
test::CardVector<std::uint32_t> table_of(const std::vector<std::vector<std::uint32_t>>& levels) {
    test::CardVector<std::uint32_t> table;
    for (const auto& level : levels) table.insert(table.end(), level.begin(), level.end());
    return table;
}

// The root by kernels.
template <class T>
base::Hash256 root_by_kernels(TestStream& stream, std::uint64_t rows, std::uint64_t cols,
                              const test::CardVector<T>& matrix, const base::Personal& personal) {
    const std::uint64_t leaves = arithmetic::tile_count(rows, cols);
    test::CardVector<std::uint64_t> digests(4 * leaves), other(4 * ((leaves + 1) / 2));
    hash_tiles(stream, TileHashArgs<T>{rows, cols, matrix.data(), words_of(personal), output(digests)});
    const auto levels = tree_levels(std::span(&leaves, 1));
    const auto table = table_of(levels);
    const std::uint64_t* const root = hash_trees(stream, levels, table.data(), output(digests), output(other),
                                                 words_of(base::personal::kNode));
    test::settle();
    return as_hashes({root, root + 4}).front();
}

test::CardVector<std::int64_t> whole_numbers(std::mt19937_64& random, std::size_t count) {
    test::CardVector<std::int64_t> all(count);
    for (std::int64_t& one : all) {
        one = static_cast<std::int64_t>(random() >> (2 + random() % 60));
        if (random() % 2 == 0) one = -one;
    }
    return all;
}

struct MergeCase {
    static constexpr std::size_t kCount = 333;
    static constexpr arithmetic::OuterCoefficients kOuter{0.7F, 0.9F};
    std::mt19937_64 random{61};
    std::mt19937 narrow{62};
    std::vector<test::CardVector<std::int64_t>> updates;
    std::vector<arithmetic::WeightedUpdate> weighted;
    CardFloats w = numbers(narrow, kCount), m = numbers(narrow, kCount), law_w = w, law_m = m;
    MergeCase() {
        for (std::size_t k = 0; k < 5; ++k) updates.push_back(whole_numbers(random, kCount));
        for (std::size_t i = 0; i < 40; ++i) updates[1][i] = -updates[0][i];
        for (std::size_t i = 0; i < 20; ++i) updates[2][i] = updates[3][i] = updates[4][i] = 0;
        for (std::size_t k = 0; k < 5; ++k) {
            weighted.push_back(
                {updates[k], k < 2 ? 7 : 1 + random() % (1ULL << 32),
                 static_cast<std::uint32_t>(k < 2 ? arithmetic::kWholeClip : random() % 65536)});
        }
        CardFloats mean(kCount);
        arithmetic::merge_updates(-40, weighted, mean);
        arithmetic::outer_nesterov(kOuter, mean, law_w, law_m);
    }
    template <class Run>
    bool is_right(const Run& run) const {
        const arithmetic::MergeFactors merged = arithmetic::merge_factors(weighted);
        test::CardVector<const std::int64_t*> at;
        test::CardVector<std::uint64_t> factors;
        for (const auto& update : updates) at.push_back(update.data());
        for (const base::Int128 factor : merged.factors)
            factors.push_back(static_cast<std::uint64_t>(factor));
        CardFloats a = w, b = m;
        test::Note failed;
        run(MergeArgs{kCount, 5, at.data(), factors.data(), merged.total, -40, kOuter.learning_rate,
                      kOuter.momentum, output(a), output(b), failed.at()});
        return failed.value() == kNoOperator && same(a, law_w) && same(b, law_m);
    }
};
}  // namespace

TEST_CASE("matrices that are hashed together have the roots that each has alone", "[trainer][cuda]") {
    struct Size {
        std::uint64_t rows, cols;
    };
    constexpr Size kSizes[] = {{1, 1}, {33, 50}, {1, 768}, {16, 16}, {100, 17}, {5, 5}};
    std::mt19937 random(64);
    std::vector<std::uint64_t> leaves;
    test::CardVector<HashedMatrix> matrices;
    std::uint64_t size = 3;  // matrices may begin anywhere
    for (const Size one : kSizes) {
        leaves.push_back(arithmetic::tile_count(one.rows, one.cols));
        matrices.push_back({size, one.rows, one.cols});
        size += one.rows * one.cols;
    }
    const CardFloats array = numbers(random, size);
    const auto levels = tree_levels(leaves);
    const auto table = table_of(levels);
    const std::uint64_t all = levels.front().back();
    in_every_order([&](TestStream& stream) {
        test::CardVector<std::uint64_t> digests(4 * all), other(4 * levels[1].back());
        hash_tiles(stream, TilesHashArgs{.numbers = array.data(),
                                         .matrices = matrices.data(),
                                         .first = table.data(),
                                         .count = static_cast<unsigned>(matrices.size()),
                                         .leaves = all,
                                         .personal = words_of(base::personal::kTile),
                                         .digests = output(digests)});
        const std::uint64_t* const roots = hash_trees(stream, levels, table.data(), output(digests),
                                                      output(other), words_of(base::personal::kNode));
        test::settle();
        const test::CardVector<std::uint64_t> words(roots, roots + 4 * matrices.size());
        const auto found = as_hashes(words);
        for (std::size_t i = 0; i < matrices.size(); ++i) {
            const HashedMatrix& one = matrices[i];
            const CardFloats alone(
                array.begin() + static_cast<std::ptrdiff_t>(one.first),
                array.begin() + static_cast<std::ptrdiff_t>(one.first + one.rows * one.cols));
            INFO(one.rows << "x" << one.cols);
            REQUIRE(found[i] == root_by_kernels(stream, one.rows, one.cols, alone, base::personal::kTile));
        }
    });
}

TEST_CASE("roots by kernels are the law's", "[trainer][cuda]") {
    std::mt19937 random(63);
    std::mt19937_64 wide(64);
    const std::pair<std::uint64_t, std::uint64_t> shapes[] = {
        {1, 1}, {16, 16}, {17, 15}, {40, 50}, {3, 1000}};
    for (const auto& [rows, cols] : shapes) {
        INFO(rows << "x" << cols);
        const CardFloats matrix = numbers(random, rows * cols);
        const test::CardVector<std::int64_t> update = whole_numbers(wide, rows * cols);
        const base::Hash256 law = program::tensor_root(rows, cols, matrix);
        const base::Hash256 update_law =
            program::tensor_root(rows, cols, std::span<const std::int64_t>(update));
        in_every_order([&, r = rows, c = cols](TestStream& stream) {
            REQUIRE(root_by_kernels(stream, r, c, matrix, base::personal::kTile) == law);
            REQUIRE(root_by_kernels(stream, r, c, update, base::personal::kUpdateTile) == update_law);
        });
    }
}

TEST_CASE("updates are rounded and merged by kernels as the law does it", "[trainer][cuda]") {
    std::mt19937 random(65);
    for (const int exponent : {-64, -52, -40, 0}) {
        CardFloats from = numbers(random, 500, exponent == -40 ? test::Draw::kTame : test::Draw::kWild);
        const CardFloats to = numbers(random, 500, test::Draw::kTame);
        // Nothing is out of range.
        if (exponent < -40) {
            for (float& value : from)
                value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0xbcffffffU);
        }
        test::CardVector<float> end = exponent < -40 ? from : to;
        for (std::size_t i = 0; i < end.size(); i += 3) end[i] = from[i] * 0.999F;
        test::CardVector<std::int64_t> law(500), update(500);
        const bool whole = arithmetic::update_finalise(exponent, from, end, law);
        in_every_order([&](TestStream& stream) {
            test::Note failed;
            finalise(stream, {500, exponent, from.data(), end.data(), output(update), failed.at()});
            REQUIRE((failed.value() == kNoOperator) == whole);
            if (whole) REQUIRE(test::same_integers(update, law));
        });
    }
    const MergeCase one;
    in_every_order([&](TestStream& stream) {
        REQUIRE(one.is_right([&](const MergeArgs& args) { merge(stream, args); }));
    });
}

#if !defined(__CUDACC__)  // by the host
TEST_CASE("a mean is rounded once, where it lies between two numbers and a rest decides too",
          "[trainer][cuda]") {
    std::mt19937_64 random(67);
    for (int i = 0; i < 20'000; ++i) {
        const std::uint64_t total = 1 + random() % (1ULL << (1 + random() % 58));
        // A quotient of 26 bits that lies in the middle of two numbers of 24, or beside it, with a rest or
        // none.
        std::uint64_t quotient = (1ULL << 25) + 4 * (random() % (1ULL << 23)) + 2;
        if (i % 4 == 0) quotient = random() >> (random() % 63);
        base::Int128 sum =
            static_cast<base::Int128>(quotient % (1ULL << 60)) * static_cast<base::Int128>(total);
        if (i % 3 != 0)
            sum += static_cast<base::Int128>(i % 3 == 1 ? std::uint64_t{1} % total : random() % total);
        if (i % 5 == 0) sum *= 1 << (i % 5);
        if (random() % 2 == 0) sum = -sum;
        const int exponent = -static_cast<int>(random() % 65);
        const float law = arithmetic::merged_value(sum, total, exponent);
        if (std::bit_cast<std::uint32_t>(merged_value(sum, total, exponent)) !=
            std::bit_cast<std::uint32_t>(law))
            FAIL("quotient " << quotient << ", divisor " << total << ", exponent " << exponent);
    }
}
#endif

TEST_CASE("a number out of range, and one that is not finite, are told", "[trainer][cuda]") {
    TestStream stream = test::one_stream();
    for (const float outside : {3e38F, -3e38F, 0x1p22F, -0x1p22F, std::numeric_limits<float>::quiet_NaN()}) {
        const CardFloats from = {0.0F, outside}, to = {0.0F, 0.0F};
        test::CardVector<std::int64_t> update(2);
        for (const std::uint64_t count : {1U, 2U}) {
            test::Note failed;
            finalise(stream, {count, -40, from.data(), to.data(), output(update), failed.at()});
            REQUIRE((failed.value() == kNoOperator) == (count == 1));
        }
    }
    MergeCase one;
    one.w[5] = std::numeric_limits<float>::infinity();
    REQUIRE_FALSE(one.is_right([&](const MergeArgs& args) {
        merge(stream, args);
        test::settle();
        REQUIRE(*args.failed == 0);
    }));
}

TEST_CASE("mutants of roots, updates and merges are found", "[trainer][cuda]") {
    std::mt19937 random(66);
    const CardFloats matrix = numbers(random, 17 * 15);
    std::vector<base::Hash256> law(2);
    program::tile_hashes(17, 15, matrix, base::hash_one_by_one, law);
    REQUIRE(is_found([&](TestStream& stream) {
        test::CardVector<std::uint64_t> digests(8);
        start<TileHash<float, HashFault::kUnpadded>>(
            stream,
            TileHashArgs<float>{17, 15, matrix.data(), words_of(base::personal::kTile), output(digests)});
        return as_hashes(digests) == law;
    }));
    const CardFloats from = numbers(random, 500, test::Draw::kTame),
                     to = numbers(random, 500, test::Draw::kTame);
    test::CardVector<std::int64_t> whole(500);
    REQUIRE(arithmetic::update_finalise(-40, from, to, whole));
    REQUIRE(is_found([&](TestStream& stream) {
        test::CardVector<std::int64_t> update(500);
        test::Note failed;
        start<Finalise<FinaliseFault::kNarrow>>(
            stream, FinaliseArgs{500, -40, from.data(), to.data(), output(update), failed.at()});
        return test::same_integers(update, whole);
    }));
    const MergeCase one;
    REQUIRE(is_found([&](TestStream& stream) {
        return one.is_right(
            [&](const MergeArgs& args) { start<MergeUpdates<MergeFault::kRoundsParts>>(stream, args); });
    }));
}

}  // namespace assay::trainer::cuda
