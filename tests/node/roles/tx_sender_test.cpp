// SPDX-License-Identifier: Apache-2.0
#include "node/roles/tx_sender.hpp"

#include <vector>

#include "contracts/rules/apply.hpp"
#include "ledger/application/rules_machine.hpp"
#include "node/roles/receipt_keeper.hpp"
#include "tests/node/roles/quiet_ports.hpp"
#include "tests/node/small_chain.hpp"
#include "tests/support/catch.hpp"

namespace assay::node {
namespace {

using test::key_of;

// A ledger that keeps what it is sent until the test answers.
struct SlowLedger final : LedgerPort {
    void submit(RequestId request, Bytes transaction) override {
        sent.push_back(
            {request, contracts::check_static(test::kChainId, transaction).value().body, transaction});
    }
    void get(RequestId, Bytes) override { FAIL("the sender reads its followed state only"); }
    void scan(RequestId, Bytes) override { FAIL("the sender reads its followed state only"); }
    void subscribe(std::uint64_t) override { FAIL("the sender does not subscribe"); }
    void subscribe_again(std::uint64_t, std::uint64_t) override { FAIL("the sender does not subscribe"); }

    struct Sent {
        RequestId request = 0;
        contracts::TxBody body;
        Bytes bytes;
    };
    std::vector<Sent> sent;
};

struct SenderBench {
    SenderBench() {
        const assay::ledger::Genesis genesis = test::small_genesis();
        REQUIRE(assay::ledger::rules_machine().genesis(state, genesis).ok());
    }
    void offer(const std::string& name, std::uint64_t amount) {
        sender.offer(name,
                     contracts::Transfer{.to = key_of("bob").public_key(), .amount = test::tokens(amount)});
    }
    void pump() { sender.pump(state, height); }
    /// What a role does after an event: it plans anew, and what it still wants is offered.
    void plan(const std::string& name, std::uint64_t amount) {
        sender.begin(height);
        offer(name, amount);
        pump();
    }
    void answer(Outcome<SubmitReply> reply) {
        if (reply.ok() && reply->accepted && reply->receipt.empty())
            reply->receipt = receipt_of_last(reply->height);
        answer_as_is(std::move(reply));
    }
    void answer_as_is(Outcome<SubmitReply> reply) {
        requests.answer(SubmitDone{.request = ledger.sent.back().request, .reply = std::move(reply)});
    }
    [[nodiscard]] Bytes receipt_of_last(std::uint64_t at, const std::string& signer = "sequencer") const {
        assay::ledger::Receipt receipt;
        receipt.transaction = contracts::transaction_id(contracts::encode_body(ledger.sent.back().body));
        receipt.height = at;
        assay::ledger::sign_receipt(receipt, test::kChainId, key_of(signer));
        return base::encode(receipt);
    }
    /// The next block holds what was sent last.
    void include() {
        ++height;
        REQUIRE(
            contracts::apply_transaction(state, {test::kChainId, height}, ledger.sent.back().bytes).applied);
    }
    [[nodiscard]] std::uint64_t last_amount() const {
        return std::get<contracts::Transfer>(ledger.sent.back().body.payload).amount.units() /
               base::kUnitsPerToken;
    }

    contracts::MemoryState state;
    std::uint64_t height = 1;
    SlowLedger ledger;
    test::KeptLog log;
    Requests requests;
    base::SecretKey key = key_of("alice");
    std::vector<RefusedOffer> told;
    test::MemoryDisk disk;
    ReceiptKeeper receipts{disk, test::kChainId,
                           contracts::ValidatorSet::of_one(key_of("sequencer").public_key())};
    TxSender sender{ledger,
                    log,
                    requests,
                    key,
                    test::kChainId,
                    [this](const base::Hash256& transaction, base::ByteView receipt) {
                        return receipts.block_of(transaction, receipt);
                    },
                    [this](const RefusedOffer& offer) { told.push_back(offer); }};
};

SubmitReply accepted_at(std::uint64_t height) { return {.accepted = true, .height = height}; }
SubmitReply refused(contracts::Reason reason) {
    return {.accepted = false,
            .reason = static_cast<std::uint32_t>(reason),
            .reason_text = std::string(contracts::to_text(reason))};
}

}  // namespace

TEST_CASE("an answer without a receipt of the ledger's validators is no answer, whatever block it names") {
    for (const char* what : {"none", "noise", "another signer's", "of another transaction"}) {
        INFO(what);
        SenderBench bench;
        bench.plan("send", 1);
        SubmitReply lie = accepted_at(UINT64_MAX);
        if (what == std::string("noise")) lie.receipt = {1, 2, 3};
        if (what == std::string("another signer's")) lie.receipt = bench.receipt_of_last(UINT64_MAX, "bob");
        if (what == std::string("of another transaction")) {
            SenderBench other;
            other.plan("other", 2);
            lie.receipt = other.receipt_of_last(UINT64_MAX);
        }
        bench.answer_as_is(lie);
        bench.plan("send", 1);
        REQUIRE(bench.ledger.sent.size() == 1);
        bench.sender.tick();
        bench.plan("send", 1);
        REQUIRE(bench.ledger.sent.size() == 2);
        CHECK(bench.ledger.sent.back().body.nonce == 0);
        CHECK(bench.log.lines_with("no receipt of its validators for 'send'") == 1);
        // Honest answers go on as ever.
        bench.answer(accepted_at(bench.height + 1));
        bench.plan("send", 1);
        CHECK(bench.ledger.sent.size() == 2);
    }
}

TEST_CASE("a block that a receipt names and that does not come is waited for two minutes and no longer") {
    SenderBench bench;
    bench.plan("send", 1);
    bench.answer(accepted_at(UINT64_MAX));
    int ticks = 0;
    while (bench.ledger.sent.size() == 1 && ticks < 1000) {
        ++ticks;
        ++bench.height;
        bench.sender.tick();
        bench.plan("send", 1);
    }
    CHECK(ticks == 241);  // the first plan behind it
    CHECK(bench.last_amount() == 1);
    CHECK(bench.log.lines_with("has not come") == 1);
}

TEST_CASE("transactions go one at a time, in the order they were offered, with the nonces of the state") {
    SenderBench bench;
    for (const std::uint64_t amount : {1U, 2U, 3U}) bench.offer("send " + std::to_string(amount), amount);
    for (std::uint64_t nonce = 0; nonce < 3; ++nonce) {
        bench.pump();
        bench.pump();
        REQUIRE(bench.ledger.sent.size() == nonce + 1);
        REQUIRE(bench.ledger.sent.back().body.nonce == nonce);
        REQUIRE(bench.last_amount() == nonce + 1);
        bench.answer(accepted_at(bench.height + 1));
        bench.pump();  // accepted, but the block is not followed yet: its nonce is not in the state
        REQUIRE(bench.ledger.sent.size() == nonce + 1);
        bench.include();
    }
    bench.pump();
    REQUIRE(bench.ledger.sent.size() == 3);
}

TEST_CASE("an offer repeated under its name is sent once, until it is done with") {
    SenderBench bench;
    for (int i = 0; i < 5; ++i) bench.offer("send", 1);
    bench.pump();
    bench.offer("send", 1);
    bench.answer(accepted_at(2));
    bench.offer("send", 1);  // accepted at a height that is not followed yet
    bench.pump();
    bench.include();
    bench.pump();
    REQUIRE(bench.ledger.sent.size() == 1);
    bench.offer("send", 1);  // followed: a new wish
    bench.pump();
    REQUIRE(bench.ledger.sent.size() == 2);
    REQUIRE(bench.ledger.sent.back().body.nonce == 1);
}

TEST_CASE("what the ledger will never accept is sent once, told once, and holds up nothing else") {
    SenderBench bench;
    bench.plan("send", 1);
    bench.answer(refused(contracts::Reason::kBadSpec));
    for (int i = 0; i < 100; ++i) {
        ++bench.height;
        bench.sender.tick();
        bench.plan("send", 1);
    }
    REQUIRE(bench.ledger.sent.size() == 1);
    REQUIRE(bench.told.size() == 1);
    REQUIRE(bench.told[0].name == "send");
    REQUIRE(bench.told[0].type == contracts::TxType::kTransfer);
    REQUIRE(bench.told[0].refusal.number == 8);
    REQUIRE(bench.told[0].retry == contracts::Retry::kNever);
    bench.plan("other", 2);
    REQUIRE(bench.ledger.sent.size() == 2);
    REQUIRE(bench.ledger.sent.back().body.nonce == 0);  // a refusal uses no nonce
    bench.answer(refused(contracts::Reason::kBadSpec));
    // Under the same name, but another wish.
    bench.plan("send", 3);
    REQUIRE(bench.last_amount() == 3);
}

TEST_CASE("what the state may mend is tried again after 1, 2, 4 and then every 8 blocks or ticks") {
    for (const std::uint32_t reason : {23U, 999U}) {  // 999: a newer node's, which may be anything
        for (const bool blocks_come : {true, false}) {
            SenderBench bench;
            std::vector<int> sent_at;
            for (int i = 0; i < 25; ++i) {
                const std::size_t before = bench.ledger.sent.size();
                bench.plan("send", 1);
                bench.plan("send", 1);  // many events happen between two blocks
                if (bench.ledger.sent.size() > before) {
                    sent_at.push_back(i);
                    bench.answer(SubmitReply{.accepted = false, .reason = reason, .reason_text = "x"});
                    bench.plan("other", 2);  // lacks nothing, so it does not wait
                    REQUIRE(bench.last_amount() == 2);
                    bench.answer(base::fail(base::ErrorKind::kUnreachable, "nobody answered", "wait"));
                }
                if (blocks_come) {
                    ++bench.height;
                } else {
                    bench.sender.tick();
                }
            }
            REQUIRE(sent_at == std::vector<int>{0, 1, 3, 7, 15, 23});
            REQUIRE(bench.told.size() == 1);
            REQUIRE(bench.told[0].retry.has_value() == (reason == 23));
        }
    }
}

TEST_CASE("a busy node gets nothing at all for a while") {
    SenderBench bench;
    bench.plan("send", 1);
    bench.answer(refused(contracts::Reason::kNodeBusy));
    bench.plan("other", 2);
    REQUIRE(bench.ledger.sent.size() == 1);
    ++bench.height;
    bench.plan("other", 2);
    REQUIRE(bench.ledger.sent.size() == 2);
    bench.answer(refused(contracts::Reason::kNodeBusy));
    ++bench.height;
    bench.plan("other", 2);
    REQUIRE(bench.ledger.sent.size() == 2);  // the second pause is longer
    bench.sender.tick();
    bench.sender.tick();
    bench.plan("other", 2);
    REQUIRE(bench.ledger.sent.size() == 3);
}

TEST_CASE("what a plan wants no longer is not sent: an answer that was lost may have been a yes") {
    SenderBench bench;
    bench.plan("buy", 1);
    bench.answer(base::fail(base::ErrorKind::kUnreachable, "nobody answered", "wait"));
    bench.plan("buy", 1);  // the state knows nothing of it yet
    bench.include();
    bench.sender.begin(bench.height);  // now it does
    bench.pump();
    REQUIRE(bench.ledger.sent.size() == 1);
}

TEST_CASE("after no answer the transaction is sent again with the nonce that the state then asks for") {
    for (const bool was_included : {false, true}) {
        SenderBench bench;
        bench.offer("send", 1);
        bench.pump();
        bench.answer(base::fail(base::ErrorKind::kUnreachable, "nobody answered", "wait"));
        bench.pump();
        REQUIRE(bench.ledger.sent.size() == 1);
        if (was_included)
            bench.include();
        else
            ++bench.height;
        // The plan sees the state and offers again only what is still missing.
        bench.offer(was_included ? "next" : "send", was_included ? 9 : 1);
        bench.pump();
        REQUIRE(bench.ledger.sent.size() == 2);
        REQUIRE(bench.ledger.sent.back().body.nonce == (was_included ? 1U : 0U));
        REQUIRE(bench.last_amount() == (was_included ? 9U : 1U));
    }
}

TEST_CASE("a tick does not hasten past a transaction whose block is not followed yet") {
    SenderBench bench;
    bench.offer("first", 1);
    bench.offer("second", 2);
    bench.pump();
    bench.answer(accepted_at(5));
    bench.sender.tick();
    bench.pump();
    REQUIRE(bench.ledger.sent.size() == 1);
}

}  // namespace assay::node
