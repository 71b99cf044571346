// SPDX-License-Identifier: Apache-2.0
// The application alone, as an engine meets it: admission, proposals and verdicts, limits, what lies between
// execute and commit, and queries.
#include "ledger/application/application.hpp"

#include "contracts/rules/state/transaction_cost.hpp"
#include "ledger/application/rules_machine.hpp"
#include "ledger/engine/chain.hpp"
#include "tests/ledger/toy_machine.hpp"
#include "tests/node/small_chain.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/faulty_disk.hpp"
#include "tests/support/properties.hpp"

using namespace assay;
using namespace assay::ledger;
using namespace assay::ledger::testing;
using contracts::Reason;

namespace {

/// An application on a store of its own, begun.
struct Node {
    explicit Node(const StateMachine& machine = kMachine, const Genesis& genesis = toy_genesis())
        : store(faults), application(Application::open(store, machine, genesis).value()) {
        REQUIRE(application->begin());
    }
    Application* operator->() { return application.get(); }

    /// The verdict on the next block with these transactions: its fault, or nothing.
    std::optional<BlockFault> verdict(const std::vector<Bytes>& transactions) {
        const auto judged = application->process({application->info().height + 1, transactions});
        REQUIRE(judged);
        if (*judged) return std::nullopt;
        CHECK_FALSE(judged->error().what.empty());
        return judged->error().fault;
    }
    /// Executes and commits the next block.
    void extend(const std::vector<Bytes>& transactions) {
        const std::uint64_t height = application->info().height + 1;
        REQUIRE(application->execute({height, transactions}));
        REQUIRE(application->commit(base::Hasher("test/block").add_u64(height).finish(), 0));
    }
    std::optional<Reason> refusal(const Bytes& transaction) {
        const auto checked = application->check(transaction);
        REQUIRE(checked);
        return *checked ? std::nullopt : std::optional(checked->error());
    }

    Faults faults;
    MemoryProvider store;
    std::unique_ptr<Application> application;
};

std::uint64_t total(Node& node) { return ToyMachine::number(node->state(), "total"); }

}  // namespace

TEST_CASE("a transaction is admitted by its form, its cost, its sender and its nonce") {
    Node node;
    CHECK(node.refusal(Bytes{1, 2, 3}) == Reason::kMalformed);
    ToyTransaction stranger{{}, 0, 5};
    stranger.sender.bytes.fill(kStranger);
    CHECK(node.refusal(base::encode(stranger)) == Reason::kUnknownSender);
    CHECK(node.refusal(toy_transaction(1, 0, kToyLimit)) == std::nullopt);
    CHECK(node.refusal(toy_transaction(1, 0, kToyLimit + 1)) == Reason::kTooCostly);

    const Bytes sent = toy_transaction(1, 0, 5);
    auto admitted = node->check(sent);
    REQUIRE(admitted);
    CHECK((*admitted)->next_nonce == 0);
    CHECK_FALSE((*admitted)->place);
    node.extend({toy_transaction(2, 0, 5), sent});
    // What is in a block is answered with its place, and its nonce is used for everything else.
    admitted = node->check(sent);
    REQUIRE((*admitted)->place);
    CHECK((*admitted)->place->height == 1);
    CHECK((*admitted)->place->index == 1);
    CHECK(node.refusal(toy_transaction(1, 0, 6)) == Reason::kNonceUsed);
    CHECK((*node->check(toy_transaction(1, 3, 6)))->next_nonce == 1);
}

TEST_CASE("a block with a refused transaction is rejected by name, and nothing of it is lost") {
    Node node;
    const Bytes good = toy_transaction(1, 0, 5);
    const Bytes refused = toy_transaction(2, 0, kRefusedValue);
    for (const std::vector<Bytes>& bad :
         {std::vector<Bytes>{good, refused}, {refused}, {good, good}, {good, Bytes(1000, 0xee)}}) {
        CHECK(node.verdict(bad) == BlockFault::kRefusedTransaction);
        CHECK(to_text(BlockFault::kRefusedTransaction) == "refused_transaction");
        CHECK(node->info().height == 0);
        CHECK(total(node) == 0);
        CHECK(node.refusal(good) == std::nullopt);  // and its nonce is unused
    }
    // Decided all the same, by validators that break the rules: it is not executed.
    const auto executed = node->execute({1, {good, refused}});
    REQUIRE_FALSE(executed);
    CHECK(executed.error().what.find("transaction 1 is one that the rules refuse (toy_refused)") !=
          std::string::npos);
    CHECK_FALSE(node->commit({}, 0));
    // The proposer that leaves it out makes a block of the rest.
    const auto prepared = node->prepare({good, refused});
    REQUIRE(prepared);
    CHECK(prepared->transactions == std::vector<Bytes>{good});
    REQUIRE(prepared->refused.size() == 1);
    CHECK(prepared->refused[0].reason == "toy_refused");
    CHECK(prepared->decided == 2);
    CHECK(node.verdict(prepared->transactions) == std::nullopt);
    node.extend(prepared->transactions);
    CHECK(total(node) == 5);
}

TEST_CASE("a block of another height than the next is rejected by name") {
    Node node;
    node.extend({});
    for (const std::uint64_t height : {0U, 1U, 3U}) {
        const auto judged = node->process({height, {}});
        REQUIRE(judged);
        REQUIRE_FALSE(*judged);
        CHECK(judged->error().fault == BlockFault::kWrongHeight);
        CHECK_FALSE(node->execute({height, {}}));
    }
    CHECK(node.verdict({}) == std::nullopt);
}

TEST_CASE("a block holds transactions up to its limit of cost and not one unit more") {
    const ToyMachine machine(3 * kCostly);
    Node node(machine);
    const Bytes one = toy_transaction(1, 0, kCostly);
    const Bytes rest = toy_transaction(2, 0, 2 * kCostly);
    const Bytes above = toy_transaction(2, 0, 2 * kCostly + 1);
    const Bytes last = toy_transaction(3, 0, 5);  // costs 1
    CHECK(node.verdict({one, rest}) == std::nullopt);
    CHECK(node.verdict({one, above}) == BlockFault::kOverLimit);
    CHECK(node.verdict({one, rest, last}) == BlockFault::kOverLimit);
    CHECK(to_text(BlockFault::kOverLimit) == "over_limit");
    CHECK_FALSE(node->execute({1, {one, above}}));

    auto prepared = node->prepare({one, rest, last});
    CHECK(prepared->transactions == std::vector<Bytes>{one, rest});
    CHECK(prepared->decided == 2);  // what found no room waits for the next block
    prepared = node->prepare({one, above, last});
    CHECK(prepared->transactions == std::vector<Bytes>{one});
    CHECK(prepared->decided == 1);
    // A refused one takes no room; one that no block holds is refused instead of waiting for ever.
    prepared = node->prepare({toy_transaction(4, 9, 2 * kCostly), one, rest});
    CHECK(prepared->transactions == std::vector<Bytes>{one, rest});
    prepared = node->prepare({toy_transaction(1, 0, 3 * kCostly + 1), one});
    CHECK(prepared->transactions == std::vector<Bytes>{one});
    CHECK(prepared->refused.at(0).reason == "too_costly");
    CHECK(prepared->decided == 2);
}

TEST_CASE("an engine's own limit of bytes bounds a proposal") {
    Node node;
    const std::vector<Bytes> candidates = {toy_transaction(1, 0, 5), toy_transaction(2, 0, 5),
                                           toy_transaction(3, 0, 5)};
    const std::size_t each = candidates[0].size();
    CHECK(node->prepare(candidates, {2 * each})->transactions.size() == 2);
    CHECK(node->prepare(candidates, {2 * each - 1})->transactions.size() == 1);
    const auto none = node->prepare(candidates, {each - 1});
    CHECK(none->transactions.empty());
    CHECK(none->refused.at(0).reason == "too_large");
    CHECK(none->decided == 3);
}

namespace {

/// A candidate as it is drawn: its nonce counts from its sender's next.
struct Drawn {
    std::uint8_t sender = 0;
    std::uint64_t ahead = 0;
    std::uint64_t value = 0;
    std::size_t junk = 0;  ///< not zero: so many bytes that are no transaction

    [[nodiscard]] Bytes bytes(Node& node) const {
        if (junk > 0) return Bytes(junk, 7);
        PublicKey key;
        key.bytes.fill(sender);
        return toy_transaction(sender, kMachine.next_nonce(node->state(), key).value() + ahead, value);
    }
};

struct Candidates {
    std::vector<Drawn> drawn;
    std::size_t bytes = 0;  ///< that the engine allows the block
};

rc::Gen<Candidates> candidate_blocks() {
    using tests::between;
    const auto junk = rc::gen::weightedOneOf<std::size_t>(
        {{8, rc::gen::just(std::size_t{0})}, {1, between<std::size_t>(1, 60)}});
    const auto one = rc::gen::build<Drawn>(
        rc::gen::set(&Drawn::sender, between<std::uint8_t>(0, 2)),
        rc::gen::set(&Drawn::ahead, between<std::uint64_t>(0, 2)),
        rc::gen::set(&Drawn::value, rc::gen::element<std::uint64_t>(1, kRefusedValue, kTimerValue, kCostly,
                                                                    2 * kCostly, 5 * kCostly)),
        rc::gen::set(&Drawn::junk, junk));
    const auto bytes = rc::gen::weightedOneOf<std::size_t>(
        {{3, rc::gen::just(std::size_t{1} << 20U)}, {1, between<std::size_t>(0, 400)}});
    return rc::gen::build<Candidates>(
        rc::gen::set(&Candidates::drawn, rc::gen::resize(12, rc::gen::container<std::vector<Drawn>>(one))),
        rc::gen::set(&Candidates::bytes, bytes));
}

}  // namespace

TEST_CASE("whatever one node prepares, another one accepts, and both come to the same roots") {
    std::size_t included = 0, refused = 0, left = 0;
    const auto blocks = rc::gen::resize(12, rc::gen::container<std::vector<Candidates>>(candidate_blocks()));
    tests::check_property(60, [&] {
        const ToyMachine machine(4 * kCostly);
        Node proposer(machine), validator(machine);
        for (const Candidates& next : *blocks) {
            std::vector<Bytes> candidates;
            for (const Drawn& drawn : next.drawn) candidates.push_back(drawn.bytes(proposer));
            const auto prepared = proposer->prepare(candidates, {next.bytes});
            RC_ASSERT(prepared.ok());
            RC_ASSERT(prepared->transactions.size() + prepared->refused.size() == prepared->decided);
            RC_ASSERT(prepared->work <= kProposalWork * machine.block_limit());
            included += prepared->transactions.size();
            refused += prepared->refused.size();
            left += candidates.size() - prepared->decided;
            const ProposedBlock block{proposer->info().height + 1, prepared->transactions};
            const auto judged = validator->process(block);
            RC_ASSERT((judged.ok() && judged->ok()));
            const auto here = proposer->execute(block);
            const auto there = validator->execute(block);
            RC_ASSERT((here.ok() && there.ok()));
            RC_ASSERT(here->app_hash == there->app_hash);
            RC_ASSERT(here->results_root == there->results_root);
            RC_ASSERT(here->results_root == results_root(prepared->results));
            RC_ASSERT(proposer->commit({}, 0).ok());
            RC_ASSERT(validator->commit({}, 0).ok());
        }
    });
    // Every kind of end is among the draws.
    CAPTURE(included, refused, left);
    CHECK(included > 200);
    CHECK(refused > 200);
    CHECK(left > 20);
}

TEST_CASE("between execute and commit nothing is visible and nothing is stored") {
    Node node;
    node.extend({toy_transaction(1, 0, 5)});
    const ApplicationInfo before = node->info();
    const auto stored = node.store.values;
    const ProposedBlock block{2, {toy_transaction(1, 1, 7)}};
    const auto first = node->execute(block);
    REQUIRE(first);
    CHECK(first->app_hash != before.app_hash);
    CHECK(node->info().height == 1);
    CHECK(node->info().app_hash == before.app_hash);
    CHECK(total(node) == 5);
    CHECK(node.store.values == stored);
    const auto again = node->execute(block);
    REQUIRE(again);
    CHECK(again->app_hash == first->app_hash);
    CHECK(again->results_root == first->results_root);
    // Another block of the same height, in another round of an engine, and back.
    const auto other = node->execute({2, {toy_transaction(2, 0, 9)}});
    REQUIRE(other);
    CHECK(other->app_hash != first->app_hash);
    REQUIRE(node->execute(block)->app_hash == first->app_hash);
    REQUIRE(node->commit(Hash256{}, 0));
    CHECK(node->info().app_hash == first->app_hash);
    CHECK(total(node) == 12);
    CHECK_FALSE(node->commit(Hash256{}, 0));  // nothing is executed

    const auto reopened = Application::open(node.store, kMachine, toy_genesis());
    REQUIRE(reopened);
    REQUIRE((*reopened)->begun());
    CHECK((*reopened)->info().height == 2);
    CHECK((*reopened)->info().app_hash == first->app_hash);
}

TEST_CASE(
    "a commit whose write fails stops the application, which is at one of the two heights when it opens") {
    for (const Fault fault : {Fault::kNoSpace, Fault::kKillBefore, Fault::kKillAfter}) {
        Node node;
        node.extend({toy_transaction(1, 0, 5)});
        REQUIRE(node->execute({2, {toy_transaction(1, 1, 7)}}));
        node.faults.at = node.faults.calls + 1;
        node.faults.fault = fault;
        CHECK_FALSE(node->commit(Hash256{}, 0));
        CHECK(node->stopped());
        CHECK_FALSE(node->execute({2, {}}));
        CHECK_FALSE(node->commit(Hash256{}, 0));
        node.faults.restart();
        const auto reopened = Application::open(node.store, kMachine, toy_genesis());
        REQUIRE(reopened);
        REQUIRE((*reopened)->begun());
        CHECK((*reopened)->info().height == (fault == Fault::kKillAfter ? 2 : 1));
    }
}

TEST_CASE("beginning anew deletes nothing that is stored; discarding it is an act of its own") {
    using Values = std::map<Bytes, Bytes>;
    const std::vector<std::pair<const char*, std::function<void(MemoryProvider&)>>> stores = {
        {"a state", [](MemoryProvider&) {}},
        {"a damaged head", [](MemoryProvider& store) { store.values.begin()->second.push_back(0); }},
        {"records without a head", [](MemoryProvider& store) { store.values.erase(store.values.begin()); }},
        {"a store that does not open", [](MemoryProvider& store) { store.refuse_to_open = true; }}};
    for (const auto& [name, change] : stores) {
        INFO(name);
        Node node;
        node.extend({toy_transaction(1, 0, 5)});
        change(node.store);
        const Values kept = node.store.values;
        node.application.reset();
        node.application = Application::open(node.store, kMachine, toy_genesis()).value();
        const bool usable = std::string(name) == "a state";
        CHECK(node->stored() == (usable ? Stored::kState : Stored::kUnusable));
        CHECK(node->begun() == usable);
        CHECK(node->notes().empty() == usable);
        const auto begun = node->begin();
        REQUIRE_FALSE(begun);
        CHECK(begun.error().kind == base::ErrorKind::kUsage);
        CHECK(node.store.values == kept);
        CHECK(node->begun() == usable);
        // Whoever says so deletes it, and only then something new is begun.
        REQUIRE(node->discard());
        CHECK(node.store.values.empty());
        CHECK(node->stored() == Stored::kNothing);
        CHECK_FALSE(node->begun());
        REQUIRE(node->begin());
        CHECK(node->stored() == Stored::kState);
        CHECK(node->info().height == 0);
        CHECK(total(node) == 0);
    }
}

TEST_CASE("a query is answered with a proof that leads to the app hash, also between execute and commit") {
    Node node;
    node.extend({toy_transaction(1, 0, 5)});
    const Hash256 id = base::hash("toy/tx", toy_transaction(1, 0, 5));
    for (const bool pending : {false, true}) {
        if (pending) REQUIRE(node->execute({2, {toy_transaction(1, 1, 7)}}));
        const Bytes key = base::to_bytes(base::as_bytes("total"));
        const auto present = node->query({"state", key, 0});
        REQUIRE(present);
        CHECK(present->height == 1);
        CHECK(present->app_hash == node->info().app_hash);
        REQUIRE(present->value);
        CHECK(verify_present(present->app_hash, key, *present->value, *present->proof));
        const Bytes none = base::to_bytes(base::as_bytes("nothing"));
        const auto absent = node->query({"state", none, 1});
        REQUIRE(absent);
        CHECK_FALSE(absent->value);
        CHECK(verify_absent(absent->app_hash, none, *absent->proof));

        const auto place = node->query({"transaction", base::to_bytes(id.view()), 0});
        REQUIRE(place);
        CHECK(base::decode<TransactionPlace>(place->value.value())->height == 1);
        const auto results = node->query({"results", base::encode(std::uint64_t{1}), 0});
        REQUIRE(results);
        CHECK(base::decode<BlockResults>(results->value.value())->transactions.size() == 1);
        CHECK_FALSE(node->query({"results", base::encode(std::uint64_t{2}), 0})->value);

        const RangeQuery whole{base::to_bytes(base::as_bytes("n")), {}, 10};
        const auto range = node->query({"range", base::encode(whole), 0});
        REQUIRE(range);
        CHECK(range->app_hash == node->info().app_hash);
        CHECK(base::decode<RangeAnswer>(range->value.value())->records ==
              node->state().scan(base::as_bytes("n")));
    }
    REQUIRE(node->commit(Hash256{}, 0));  // the queries left the executed block as it was
    CHECK(total(node) == 12);
    CHECK(node->query({"state", {}, 1}).error().kind == base::ErrorKind::kNotFound);
    CHECK(node->query({"state", {}, 3}).error().kind == base::ErrorKind::kNotFound);
    CHECK(node->query({"nothing", {}, 0}).error().kind == base::ErrorKind::kNotFound);
    CHECK(node->query({"transaction", Bytes(31, 1), 0}).error().kind == base::ErrorKind::kUsage);
    CHECK(node->query({"results", Bytes(9, 1), 0}).error().kind == base::ErrorKind::kUsage);
    CHECK(node->query({"range", Bytes(9, 1), 0}).error().kind == base::ErrorKind::kUsage);
}

TEST_CASE("a broken invariant is an error of the program and no verdict on the block") {
    Node node;
    const std::vector<Bytes> breaking = {toy_transaction(1, 0, kBreakingValue)};
    CHECK(node->prepare(breaking).error().what.find("sum of the values") != std::string::npos);
    CHECK(node->process({1, breaking}).error().kind == base::ErrorKind::kVerification);
    CHECK_FALSE(node->execute({1, breaking}));
}

TEST_CASE("the rules' own blocks: what they refuse is rejected, and a transfer costs what the table says") {
    Node node(rules_machine(), test::small_genesis());
    const Bytes good = test::transfer(0);
    CHECK(rules_machine().cost(good) == contracts::type_costs().front().units + good.size());
    CHECK(node.verdict({good}) == std::nullopt);
    CHECK(node.verdict({good, test::transfer(0, 2)}) == BlockFault::kRefusedTransaction);
    CHECK(node.verdict({test::transfer(0, 5000)}) == BlockFault::kRefusedTransaction);
    CHECK(node.refusal(good) == std::nullopt);
    CHECK(node.refusal(test::signed_by(test::key_of("carol"), 0, contracts::JobCancel{})) ==
          Reason::kUnknownSender);
}
