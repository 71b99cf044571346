// SPDX-License-Identifier: Apache-2.0
// What making a proposal costs, however many of its candidates are refused.
#include "ledger/application/application.hpp"
#include "ledger/engine/chain.hpp"
#include "ledger/engine/embedded.hpp"
#include "tests/ledger/toy_machine.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/faulty_disk.hpp"

using namespace assay;
using namespace assay::ledger;
using namespace assay::ledger::testing;

namespace {

/// The toy machine, which counts the units of what it is made to execute.
class CountedMachine final : public StateMachine {
public:
    explicit CountedMachine(std::uint64_t limit) : toy_(limit) {}
    Outcome<void> genesis(contracts::State& state, const Genesis& genesis) const override {
        return toy_.genesis(state, genesis);
    }
    base::Result<TransactionInfo, contracts::Reason> inspect(const std::string& chain,
                                                             ByteView bytes) const override {
        return toy_.inspect(chain, bytes);
    }
    std::uint64_t cost(ByteView bytes) const override { return price ? *price : toy_.cost(bytes); }
    std::uint64_t block_limit() const override { return toy_.block_limit(); }
    base::Result<std::uint64_t, contracts::Reason> next_nonce(const contracts::StateView& state,
                                                              const PublicKey& sender) const override {
        return toy_.next_nonce(state, sender);
    }
    std::vector<Bytes> begin_block(contracts::State& state, const Position& position) const override {
        return toy_.begin_block(state, position);
    }
    TransactionResult apply(contracts::State& state, const Position& position,
                            ByteView bytes) const override {
        executed += cost(bytes);
        return toy_.apply(state, position, bytes);
    }
    Outcome<void> check_schema(const contracts::StateView& state) const override {
        return toy_.check_schema(state);
    }
    Outcome<void> check_invariants(const contracts::StateView& state) const override {
        return toy_.check_invariants(state);
    }
    Outcome<void> check_changes(const contracts::Overlay& changes) const override {
        return toy_.check_changes(changes);
    }
    std::optional<std::uint64_t> next_deadline(const contracts::StateView& state) const override {
        return toy_.next_deadline(state);
    }

    mutable std::uint64_t executed = 0;
    std::optional<std::uint64_t> price;  ///< of every transaction, in place of its own

private:
    ToyMachine toy_;
};

constexpr std::uint64_t kThree = 3 * kCostly;  // units of a block here

struct Proposer {
    explicit Proposer(std::uint64_t limit = kThree) : machine(limit), store(faults) {
        application = Application::open(store, machine, toy_genesis()).value();
        REQUIRE(application->begin());
    }
    Prepared prepare(const std::vector<Bytes>& candidates) {
        machine.executed = 0;
        auto prepared = application->prepare(candidates);
        REQUIRE(prepared);
        CHECK(prepared->transactions.size() + prepared->refused.size() == prepared->decided);
        return *std::move(prepared);
    }

    CountedMachine machine;
    Faults faults;
    MemoryProvider store;
    std::unique_ptr<Application> application;
};

/// One that costs kCostly and is refused, for its nonce.
Bytes refused(std::size_t number = 0) {
    return toy_transaction(static_cast<std::uint8_t>(10 + number % 200), 9 + number, kCostly);
}

Bytes good(std::uint8_t sender) { return toy_transaction(sender, 0, kCostly); }

}  // namespace

TEST_CASE("a flood of refused candidates costs each block two blocks' work, and the good one gets in") {
    Proposer proposer;
    std::vector<Bytes> waiting;
    for (std::size_t i = 0; i < 1000; ++i) waiting.push_back(refused(i));
    waiting.push_back(good(1));
    std::size_t blocks = 0, included = 0;
    for (; !waiting.empty() && blocks < 1000; ++blocks) {
        const Prepared prepared = proposer.prepare(waiting);
        CHECK(proposer.machine.executed == prepared.work);
        CHECK(prepared.work <= kProposalWork * kThree);
        REQUIRE(prepared.decided > 0);
        included += prepared.transactions.size();
        waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(prepared.decided));
        REQUIRE(
            proposer.application->execute({proposer.application->info().height + 1, prepared.transactions}));
        REQUIRE(proposer.application->commit({}, 0));
    }
    CHECK(included == 1);
    CHECK(blocks == 167);  // six of a block's third each
}

TEST_CASE("one block's worth of refused candidates leaves room for a whole block, and no more does") {
    Proposer proposer;
    const std::vector<Bytes> whole = {good(1), good(2), good(3)};
    for (const std::size_t flood : {0U, 1U, 3U, 4U, 5U}) {
        std::vector<Bytes> candidates;
        for (std::size_t i = 0; i < flood; ++i) candidates.push_back(refused(i));
        candidates.insert(candidates.end(), whole.begin(), whole.end());
        const Prepared prepared = proposer.prepare(candidates);
        CHECK(prepared.transactions.size() == std::min<std::size_t>(3, 6 - flood));
        CHECK(prepared.refused.size() == flood);
    }
}

TEST_CASE("what no block can hold is not executed, and naming it costs the work of a block") {
    Proposer proposer;
    std::vector<Bytes> candidates;
    for (std::uint8_t sender = 1; sender < 6; ++sender)
        candidates.push_back(toy_transaction(sender, 0, kThree + 1));
    const Prepared prepared = proposer.prepare(candidates);
    CHECK(proposer.machine.executed == 0);
    CHECK(prepared.decided == 2);
    CHECK(prepared.refused.at(1).reason == "too_costly");
}

TEST_CASE("a candidate costs the proposer one unit at least") {
    Proposer proposer(3);
    proposer.machine.price = 0;
    CHECK(proposer.prepare(std::vector<Bytes>(100)).decided == 6);
}

TEST_CASE("a flood at an engine's door is answered to the last, block by block, and delays others by that") {
    Faults faults;
    FaultyDisk disk(faults);
    MemoryProvider provider(faults);
    const CountedMachine machine(kThree);
    REQUIRE(write_genesis(disk, Layout("home").genesis, toy_genesis()));
    const auto chain = Chain::open(disk, provider, machine, "home").value();
    struct : EngineClock {
        std::uint64_t now = 0;
        std::uint64_t monotonic_ms() override { return now; }
        std::uint64_t wall_ms() override { return now; }
    } clock;
    const base::SecretKey key = test_key();
    EmbeddedEngine engine(*chain, key, clock);
    std::size_t refusals = 0, receipts = 0;
    const auto submit = [&](Bytes transaction) {
        engine.submit(std::move(transaction), [&](const Outcome<Answer>& outcome) {
            REQUIRE(outcome);
            ++(*outcome ? receipts : refusals);
        });
    };
    // The first of each sender is refused, and so all that are numbered after it: what is admitted to wait
    // costs its sender nothing.
    for (std::uint8_t sender = 10; sender < 14; ++sender) {
        submit(toy_transaction(sender, 0, kRefusedValue));
        for (std::uint64_t nonce = 1; nonce < 50; ++nonce) submit(toy_transaction(sender, nonce, kCostly));
    }
    submit(good(1));
    REQUIRE(engine.pending() == 201);
    std::size_t ticks = 0;
    for (; engine.pending() > 0 && ticks < 1000; ++ticks, clock.now += 1000) {
        machine.executed = 0;
        REQUIRE(engine.tick());
        CHECK(machine.executed <= kProposalWork * kThree);
    }
    CHECK(refusals == 200);
    CHECK(receipts == 1);
    CHECK(ticks <= 4 * 50 / 6 + 2);
}
