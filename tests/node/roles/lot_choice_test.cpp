// SPDX-License-Identifier: Apache-2.0
// What the buyer role finds once for each height and price: the state is read no more than that.
#include "node/roles/lot_choice.hpp"

#include "tests/contracts/rules/counted_state.hpp"
#include "tests/contracts/rules/market_world.hpp"

namespace assay::node::test_choice {

using namespace contracts::test;

namespace {

/// Two lots are left in the running epoch, and one stands for the next.
MarketWorld world() {
    MarketWorld w;
    w.seal_lot("m1", {1, kFast, 1});
    w.seal_lot("m2", {1, kFast, 3});
    w.open_and_clear();
    w.to_next_epoch();
    return w;
}

}  // namespace

TEST_CASE("lot choice: the offers of a height and price are found once, and anew at another one") {
    MarketWorld w = world();
    const CountedState state(w.env.state());
    const contracts::Job job = w.env.job(w.first);
    LotChoice choice;
    const auto reads_of = [&](std::uint64_t height, std::uint64_t price) {
        const std::uint64_t before = state.reads;
        CHECK(choice.offers(state, job, height, amount(price)).size() == (price == 0 ? 0 : 1));
        return state.reads - before;
    };
    CHECK(reads_of(7, 900) > 0);
    CHECK(reads_of(7, 900) == 0);
    CHECK(reads_of(7, 0) > 0);  // below the base price
    CHECK(reads_of(7, 900) > 0);
    CHECK(reads_of(8, 900) > 0);
    CHECK(reads_of(8, 900) == 0);
}

TEST_CASE("lot choice: what is leased at a height and price is found once, also where it is nothing") {
    MarketWorld w = world();
    const CountedState state(w.env.state());
    contracts::Job job = w.env.job(w.first);
    job.round = 1;
    LotChoice choice;
    const std::uint64_t height = w.env.height();
    const auto reads_of = [&](std::uint64_t at, std::uint64_t price) {
        const std::uint64_t before = state.reads;
        CHECK(choice.lease(state, job, at, amount(price)).has_value() == (price > 0));
        return state.reads - before;
    };
    CHECK(reads_of(height, 900) > 0);
    CHECK(reads_of(height, 900) == 0);
    CHECK(reads_of(height, 0) > 0);
    CHECK(reads_of(height, 0) == 0);
    CHECK(reads_of(height + 1, 0) > 0);
}

}  // namespace assay::node::test_choice
