// SPDX-License-Identifier: Apache-2.0
// Several messages hashed at a time: the same digests as libsodium's, one after the other.
#include <random>
#include <vector>

#include "contracts/program/state_root.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/personal_vectors.hpp"
#include "tests/trainer/small_job.hpp"
#include "trainer/cpu/kernels/kernels.hpp"

namespace assay::trainer {
namespace {

using base::Hash256;
using base::MessageBatch;

std::vector<std::uint8_t> noise(std::mt19937& random, std::size_t count) {
    std::vector<std::uint8_t> bytes(count);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
    return bytes;
}

}  // namespace

TEST_CASE("a batch of messages has the digests of its messages on every target") {
    std::mt19937 random(5);
    // Around the ends of blocks, a node of a tree, leaves of both kinds of tile.
    const std::size_t lengths[] = {0, 1, 64, 127, 128, 129, 255, 256, 257, 1024, 2048};
    for (const std::size_t length : lengths) {
        for (const std::size_t count : {0U, 1U, 2U, 3U, 4U, 5U, 7U, 8U, 9U, 16U, 17U, 33U}) {
            const std::size_t stride = length + random() % 9;
            const auto bytes = noise(random, count * stride + length);
            const base::Personal personal = random() % 2 == 0 ? base::Personal{} : base::personal::kTile;
            const MessageBatch messages{bytes.data(), length, stride, count, personal};
            std::vector<Hash256> expected(count + 1);
            base::hash_one_by_one(messages, expected.data());
            for (const Target target : test::all_targets()) {
                INFO(to_text(target) << ", length " << length << ", " << count << " messages");
                std::vector<Hash256> found(count + 1);
                kernels(target).hash_batch(messages, found.data());
                CHECK(found == expected);  // the one after the last is left alone
            }
        }
    }
}

TEST_CASE("personalised digests of every target are the known answers") {
    const auto known = assay::test::personal_vectors();
    REQUIRE(known.size() == base::kPersonals.size() * 9);
    for (const Target target : test::all_targets()) {
        for (const assay::test::PersonalVector& vector : known) {
            INFO(to_text(target) << ", " << vector.name << ", length " << vector.message.size());
            const MessageBatch messages{vector.message.data(), vector.message.size(), 0, 3, vector.personal};
            std::vector<Hash256> found(3);
            kernels(target).hash_batch(messages, found.data());
            CHECK(found == std::vector<Hash256>(3, vector.digest));
        }
    }
}

TEST_CASE("messages of nothing need no memory") {
    for (const Target target : test::all_targets()) {
        INFO(to_text(target));
        std::vector<Hash256> found(9), expected(9);
        base::hash_one_by_one({nullptr, 0, 0, 9}, expected.data());
        kernels(target).hash_batch({nullptr, 0, 0, 9}, found.data());
        CHECK(found == expected);
    }
}

TEST_CASE("roots of arrays do not depend on who hashes") {
    std::mt19937 random(6);
    const std::vector<program::TensorInfo> tensors{
        {"a", 33, 47, 0}, {"b", 1, 5, 33 * 47}, {"c", 64, 96, 33 * 47 + 5}};
    const std::size_t size = 33 * 47 + 5 + 64 * 96;
    std::vector<float> values(size);
    std::vector<std::int64_t> update(size);
    for (float& value : values) value = static_cast<float>(random());
    for (std::int64_t& value : update) value = static_cast<std::int64_t>(random()) - (1LL << 31);
    for (const Target target : test::all_targets()) {
        INFO(to_text(target));
        const base::BatchHash hash = kernels(target).hash_batch;
        CHECK(program::array_root(tensors, values, hash) == program::array_root(tensors, values));
        CHECK(program::update_root(tensors, update, hash) == program::update_root(tensors, update));
    }
}

}  // namespace assay::trainer
