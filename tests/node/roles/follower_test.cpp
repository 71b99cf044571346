// SPDX-License-Identifier: Apache-2.0
#include "node/roles/follower.hpp"

#include <functional>

#include "tests/node/memory_ledger.hpp"

namespace assay::node {
namespace {

using base::Bytes;
using base::ErrorKind;
using test::key_of;
using Ledger = test::MemoryLedger;
using test::transfer;

void sign_again(ledger::Block& block) {
    block.signature = ledger::sign_header(block.header, test::kChainId, key_of("sequencer"));
}

struct Forgery {
    const char* name;
    const char* said;  ///< part of the error
    std::function<void(ledger::Block&)> forge;
};

// What a ledger node could make of a block.
const std::vector<Forgery> kForgeries{
    {"flipped state root, signed again", "state",
     [](ledger::Block& block) {
         Bytes root = base::to_bytes(block.header.state_root.view());
         root[5] ^= 1;
         block.header.state_root = base::decode<base::Hash256>(root).value();
         sign_again(block);
     }},
    {"flipped results root, signed again", "results",
     [](ledger::Block& block) {
         block.header.results_root = block.header.state_root;
         sign_again(block);
     }},
    {"flipped state root under the old signature", "signature",
     [](ledger::Block& block) { block.header.state_root = block.header.parent; }},
    {"signed by somebody else", "signature",
     [](ledger::Block& block) {
         block.signature = ledger::sign_header(block.header, test::kChainId, key_of("alice"));
     }},
    {"made and signed by somebody else", "",
     [](ledger::Block& block) {
         block.header.proposer = key_of("alice").public_key();
         block.signature = ledger::sign_header(block.header, test::kChainId, key_of("alice"));
     }},
    {"signed for another chain", "signature",
     [](ledger::Block& block) {
         block.signature = ledger::sign_header(block.header, "other-chain", key_of("sequencer"));
     }},
    {"wrong parent", "does not follow",
     [](ledger::Block& block) {
         block.header.parent = block.header.state_root;
         sign_again(block);
     }},
    {"wrong height", "height",
     [](ledger::Block& block) {
         block.header.height = 3;
         sign_again(block);
     }},
    {"a time before its parent's, signed again", "its time 0 is less than the block interval",
     [](ledger::Block& block) {
         block.header.time_ms = 0;
         sign_again(block);
     }},
    {"a transaction left out", "transactions", [](ledger::Block& block) { block.transactions.clear(); }},
    {"a transaction left out, roots made to fit", "results",
     [](ledger::Block& block) {
         block.transactions.clear();
         block.header.transactions_root = ledger::transactions_root({});
         sign_again(block);
     }},
};

}  // namespace

TEST_CASE("a follower that executes every block has the sequencer's state") {
    Ledger ledger;
    auto follower = Follower::create(test::small_genesis()).value();
    REQUIRE(follower.state_root() == ledger.chain->state_root());
    for (std::uint64_t nonce = 0; nonce < 10; ++nonce) {
        const auto events = follower.apply(base::encode(ledger.extend({transfer(nonce)})));
        REQUIRE(events.ok());
        REQUIRE(follower.height() == nonce + 1);
        REQUIRE(follower.state_root() == ledger.chain->state_root());
    }
    REQUIRE(contracts::read_account(follower.state(), key_of("bob").public_key()).balance ==
            test::tokens(1010));
}

TEST_CASE("a follower refuses every block that is not the next one of its chain, and names what is wrong") {
    Ledger ledger;
    const ledger::Block first = ledger.extend({transfer(0)});
    const ledger::Block second = ledger.extend({transfer(1)});
    for (const Forgery& forgery : kForgeries) {
        INFO(forgery.name);
        auto follower = Follower::create(test::small_genesis()).value();
        REQUIRE(follower.apply(base::encode(first)).ok());
        ledger::Block forged = second;
        forgery.forge(forged);
        const auto refused = follower.apply(base::encode(forged));
        REQUIRE_FALSE(refused.ok());
        INFO(refused.error().what);
        REQUIRE(refused.error().kind == ErrorKind::kVerification);
        REQUIRE(refused.error().what.find(forgery.said) != std::string::npos);
        REQUIRE(refused.error().what.find("block") != std::string::npos);
        REQUIRE(follower.height() == 1);
        REQUIRE(contracts::read_account(follower.state(), key_of("bob").public_key()).balance ==
                test::tokens(1001));
    }
}

TEST_CASE("followers of one thread that share what blocks do come to the same state, and refuse the same") {
    Ledger ledger;
    const Bytes first = base::encode(ledger.extend({transfer(0)}));
    const ledger::Block second = ledger.extend({transfer(1)});
    auto alone = Follower::create(test::small_genesis()).value();
    const auto alone_first = alone.apply(first);
    REQUIRE(alone_first.ok());
    const ledger::ExecutedBlocks memory;
    auto leader = Follower::create(test::small_genesis()).value();
    REQUIRE(leader.apply(first).ok());
    REQUIRE(leader.apply(base::encode(second)).ok());
    for (const Forgery& forgery : kForgeries) {
        INFO(forgery.name);
        auto follower = Follower::create(test::small_genesis()).value();
        // It stands on another state than the block that is remembered.
        REQUIRE_FALSE(follower.apply(base::encode(second)).ok());
        const auto events = follower.apply(first);
        REQUIRE(events.ok());
        CHECK(base::encode(*events) == base::encode(*alone_first));
        CHECK(follower.state_root() == alone.state_root());
        ledger::Block forged = second;
        forgery.forge(forged);
        REQUIRE_FALSE(follower.apply(base::encode(forged)).ok());
        REQUIRE(follower.height() == 1);
        REQUIRE(follower.apply(base::encode(second)).ok());
        CHECK(follower.height() == 2);
        CHECK(follower.state_root() == ledger.chain->state_root());
        CHECK(follower.state().scan({}) == leader.state().scan({}));
    }
    auto stranger = Follower::create(test::small_genesis("another-chain")).value();
    REQUIRE_FALSE(stranger.apply(first).ok());
}

TEST_CASE("a follower refuses blocks out of order, twice, cut short and of another chain") {
    Ledger ledger;
    const Bytes first = base::encode(ledger.extend({transfer(0)}));
    const Bytes second = base::encode(ledger.extend({transfer(1)}));
    auto follower = Follower::create(test::small_genesis()).value();
    REQUIRE_FALSE(follower.apply(second).ok());
    REQUIRE(follower.apply(first).ok());
    REQUIRE_FALSE(follower.apply(first).ok());
    for (std::size_t size = 0; size < second.size(); size += 7) {
        REQUIRE(follower.apply(base::ByteView(second).first(size)).error().kind == ErrorKind::kVerification);
    }
    Bytes longer = second;
    longer.push_back(0);
    REQUIRE(follower.apply(longer).error().kind == ErrorKind::kVerification);
    REQUIRE(follower.apply(second).ok());

    auto stranger = Follower::create(test::small_genesis("another-chain")).value();
    REQUIRE_FALSE(stranger.apply(first).ok());
    ledger::Genesis broken = test::small_genesis();
    broken.rules.pop_back();
    REQUIRE(Follower::create(broken).error().kind == ErrorKind::kVerification);
}

TEST_CASE("a chain of whose validators none decides alone is followed by nobody, and the refusal names it") {
    ledger::Genesis genesis = test::small_genesis();
    auto& all = genesis.validators.validators;
    for (const char* name : {"second", "third"}) all.push_back({test::key_of(name).public_key(), 1});
    const auto refused = Follower::create(genesis);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().kind == base::ErrorKind::kUsage);
    CHECK(refused.error().what.find("names 3 validators") != std::string::npos);
}

}  // namespace assay::node
