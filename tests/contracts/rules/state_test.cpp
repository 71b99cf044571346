// SPDX-License-Identifier: Apache-2.0
// Walks over a state: what an overlay shows must be what is there once it is written, wherever the walk
// begins and ends, and a walk must read no more than it shows.
#include "contracts/rules/state/state.hpp"

#include "ledger/store/counting_view.hpp"
#include "tests/support/properties.hpp"

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
rc::Gen<Bytes> some_key() {
    return rc::gen::resize(
        3, rc::gen::container<Bytes>(rc::gen::element(std::uint8_t{0}, std::uint8_t{1}, std::uint8_t{0xff})));
}

/// A key, and its new value or nothing where it is erased.
using Change = std::pair<Bytes, rc::Maybe<std::uint8_t>>;

void change(State& state, int most) {
    const auto one = rc::gen::pair(some_key(), rc::gen::maybe(rc::gen::arbitrary<std::uint8_t>()));
    for (const Change& each : *rc::gen::resize(most, rc::gen::container<std::vector<Change>>(one))) {
        if (each.second) {
            state.put(each.first, Bytes{*each.second});
        } else {
            state.erase(each.first);
        }
    }
}

}  // namespace

TEST_CASE("a walk over overlays shows what a walk over the written state shows, in order, up to its end") {
    tests::check_property(400, [] {
        MemoryState state;
        change(state, 20);
        Overlay block(state);
        change(block, 12);
        Overlay transaction(block);
        change(transaction, 6);
        MemoryState written;
        for (const auto& [key, value] : state.all()) written.put(key, value);
        block.write_to(written);
        transaction.write_to(written);
        for (int i = 0; i < 10; ++i) {
            const Bytes prefix = *some_key();
            const Bytes from = *some_key();
            const auto limit = *tests::between<std::size_t>(1, 6);
            const Pairs wanted = expected(written, prefix, from, limit);
            RC_ASSERT(walk(transaction, prefix, from, limit) == wanted);
            RC_ASSERT(walk(written, prefix, from, limit) == wanted);
            RC_ASSERT(transaction.scan(prefix) == expected(written, prefix, {}, 1000));
        }
    });
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
