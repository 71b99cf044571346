// SPDX-License-Identifier: Apache-2.0
// Walks over a state: what an overlay shows must be what is there once it is written, wherever the walk
// begins and ends, and a walk must read no more than it shows.
#include "contracts/rules/state/state.hpp"

#include <random>

#include "ledger/counting_view.hpp"
#include "tests/support/catch.hpp"

namespace assay::contracts::test {

namespace {

using Pairs = std::vector<std::pair<Bytes, Bytes>>;

Pairs walk(const StateView& state, ByteView prefix, ByteView from, std::size_t limit) {
    Pairs seen;
    state.for_each(prefix, from, [&](ByteView key, ByteView value) {
        seen.emplace_back(base::to_bytes(key), base::to_bytes(value));
        return seen.size() < limit;
    });
    return seen;
}

/// The same from the map itself, pair by pair.
Pairs expected(const MemoryState& state, const Bytes& prefix, const Bytes& from, std::size_t limit) {
    Pairs found;
    for (const auto& [key, value] : state.all()) {
        if (key < from || found.size() == limit) continue;
        if (key.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), key.begin()))
            found.emplace_back(key, value);
    }
    return found;
}

/// Few bytes and short keys, so that keys meet, nest and border on each other.
Bytes some_key(std::mt19937_64& random) {
    Bytes key;
    for (std::size_t length = random() % 4; length > 0; --length)
        key.push_back(random() % 3 == 0 ? std::uint8_t{0xff} : static_cast<std::uint8_t>(random() % 2));
    return key;
}

void change(State& state, std::mt19937_64& random, int times) {
    for (int i = 0; i < times; ++i) {
        if (random() % 3 == 0) {
            state.erase(some_key(random));
        } else {
            state.put(some_key(random), Bytes{static_cast<std::uint8_t>(random())});
        }
    }
}

}  // namespace

TEST_CASE("a walk over overlays shows what a walk over the written state shows, in order, up to its end") {
    std::mt19937_64 random(7);
    for (int round = 0; round < 400; ++round) {
        MemoryState state;
        change(state, random, 20);
        Overlay block(state);
        change(block, random, 12);
        Overlay transaction(block);
        change(transaction, random, 6);
        MemoryState written;
        for (const auto& [key, value] : state.all()) written.put(key, value);
        block.write_to(written);
        transaction.write_to(written);
        for (int i = 0; i < 10; ++i) {
            const Bytes prefix = some_key(random);
            const Bytes from = some_key(random);
            const std::size_t limit = 1 + random() % 6;
            const Pairs wanted = expected(written, prefix, from, limit);
            REQUIRE(walk(transaction, prefix, from, limit) == wanted);
            REQUIRE(walk(written, prefix, from, limit) == wanted);
            REQUIRE(transaction.scan(prefix) == expected(written, prefix, {}, 1000));
        }
    }
}

TEST_CASE("a walk that ends early reads what it showed, through any overlay") {
    MemoryState state;
    for (std::uint32_t n = 0; n < 1000; ++n)
        state.put(Bytes{1, static_cast<std::uint8_t>(n >> 8), static_cast<std::uint8_t>(n)}, Bytes{1});
    const ledger::CountingView counted(state);
    Overlay block(counted);
    block.put(Bytes{1, 0, 0, 5}, Bytes{2});
    Overlay transaction(block);
    CHECK(walk(transaction, Bytes{1}, {}, 3).size() == 3);
    CHECK(counted.reads() <= 3);
    CHECK(walk(transaction, Bytes{1}, Bytes{1, 2, 0}, 4).front().first == Bytes{1, 2, 0});
    CHECK(counted.reads() <= 7);
}

}  // namespace assay::contracts::test
