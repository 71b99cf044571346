// SPDX-License-Identifier: Apache-2.0
#include "ledger/audit.hpp"

#include <random>

#include "tests/ledger/support.hpp"
#include "tests/support/catch.hpp"

using namespace assay;
using namespace assay::ledger;
using namespace assay::ledger::testing;

namespace {

const ToyMachine kMachine;

// Rewrites block `height` of a log with checksums that are right, as somebody with an editor would.
void replace_block(const std::string& path, std::uint64_t height, const std::function<void(Block&)>& change) {
    const auto file = open_read_only(path);
    Bytes out = (*file)->read(0, kLogHeaderSize).value(), payload;
    std::uint64_t offset = kLogHeaderSize;
    for (std::uint64_t at = 1;; ++at) {
        const auto frame = read_frame(**file, offset, payload).value();
        if (!frame) break;
        Block block = base::decode<Block>(payload).value();
        if (at == height) change(block);
        const Bytes framed = make_frame(base::encode(block));
        out.insert(out.end(), framed.begin(), framed.end());
        offset += kFrameHeaderSize + frame->length;
    }
    write_file(path, out);
}

}  // namespace

TEST_CASE("an untouched ledger passes its audit with the heights, counts and roots of the chain") {
    const TemporaryHome home;
    make_toy_ledger(home.path(), 5);
    const auto report = audit_ledger(kMachine, home.path());
    REQUIRE(report);
    CHECK(report->ok());
    CHECK(report->height == 5);
    CHECK(report->transactions == 10);
    CHECK(report->chain_id == "toy-1");
    CHECK(ToyMachine::number(report->state, "total") == 0 + 1 + 2 + 3 + 4 + 25);
}

TEST_CASE("a flip of any bit position in any byte of the log is found and its block is named") {
    const TemporaryHome home;
    make_toy_ledger(home.path(), 4);
    const std::string log = Layout(home.path()).log;
    const Bytes whole = read_file(log);
    // Where each block's frame ends, to know which block a byte belongs to.
    std::vector<std::size_t> ends;
    Bytes payload;
    const auto file = open_read_only(log);
    for (std::uint64_t offset = kLogHeaderSize;;) {
        const auto frame = read_frame(**file, offset, payload).value();
        if (!frame) break;
        offset += kFrameHeaderSize + frame->length;
        ends.push_back(static_cast<std::size_t>(offset));
    }
    REQUIRE(ends.size() == 4);
    for (std::size_t at = 0; at < whole.size(); ++at) {
        Bytes flipped = whole;
        flipped[at] ^= static_cast<std::uint8_t>(1U << (at % 8));
        write_file(log, flipped);
        const auto report = audit_ledger(kMachine, home.path());
        REQUIRE(report);
        REQUIRE(report->failures.size() == 1);
        if (at < kLogHeaderSize) {
            REQUIRE(report->failures[0].where == log);
            continue;
        }
        std::size_t block = 0;
        while (at >= ends[block]) ++block;
        REQUIRE(report->failures[0].where == "block " + std::to_string(block + 1));
        REQUIRE(report->failures[0].height == block + 1);
    }
}

TEST_CASE("a flip of any byte of the genesis file is found") {
    const TemporaryHome home;
    make_toy_ledger(home.path(), 1);
    const std::string path = Layout(home.path()).genesis;
    const Bytes whole = read_file(path);
    for (std::size_t at = 0; at < whole.size(); ++at) {
        Bytes flipped = whole;
        flipped[at] ^= 0x10U;
        write_file(path, flipped);
        const auto report = audit_ledger(kMachine, home.path());
        REQUIRE(report);
        REQUIRE_FALSE(report->ok());
    }
}

TEST_CASE("changes with correct checksums are found by hashes, signatures and execution") {
    struct Row {
        const char* name;
        std::function<void(Block&)> change;
        const char* expected;
    };
    const base::SecretKey key = test_key();
    const auto sign = [&](Block& block) { block.signature = sign_header(block.header, "toy-1", key); };
    const std::vector<Row> rows = {
        {"a transaction removed", [](Block& b) { b.transactions.pop_back(); }, "commits to"},
        {"the time changed", [](Block& b) { ++b.header.time_ms; }, "signature"},
        {"another parent, signed again",
         [&](Block& b) {
             b.header.parent = {};
             sign(b);
         },
         "follow"},
        {"another height, signed again",
         [&](Block& b) {
             b.header.height = 9;
             sign(b);
         },
         "height 9"},
        {"another chain, signed again",
         [&](Block& b) {
             b.header.chain = chain_hash("x");
             sign(b);
         },
         "chain"},
        {"another version, signed again",
         [&](Block& b) {
             b.header.version = 2;
             sign(b);
         },
         "version"},
        {"a state root that execution does not give, signed again",
         [&](Block& b) {
             b.header.state_root.bytes[0] ^= 1U;
             sign(b);
         },
         "another state"},
        {"a results root that execution does not give, signed again",
         [&](Block& b) {
             b.header.results_root.bytes[0] ^= 1U;
             sign(b);
         },
         "other results"},
        {"a transaction added, signed again",
         [&](Block& b) {
             b.transactions.push_back(toy_transaction(3, 0, 1));
             b.header.transactions_root = transactions_root(b.transactions);
             sign(b);
         },
         "other results"},
        {"another proposer, signed by it",
         [](Block& b) {
             const base::SecretKey other = test_key(9);
             b.header.proposer = other.public_key();
             b.signature = sign_header(b.header, "toy-1", other);
         },
         "sequencer"},
        {"a transaction that breaks an invariant, everything signed again",
         [&](Block& b) {
             b.transactions = {toy_transaction(1, b.header.height - 1, kBreakingValue)};
             b.header.transactions_root = transactions_root(b.transactions);
             sign(b);
         },
         "sum of the values"},
    };
    for (const Row& row : rows) {
        const TemporaryHome home;
        make_toy_ledger(home.path(), 4);
        replace_block(Layout(home.path()).log, 3, row.change);
        const auto report = audit_ledger(kMachine, home.path());
        INFO(row.name);
        REQUIRE(report);
        REQUIRE(report->failures.size() == 1);
        INFO(report->failures[0].what);
        CHECK(report->failures[0].where == "block 3");
        CHECK(report->failures[0].what.find(row.expected) != std::string::npos);
        CHECK(report->height == 2);
    }
}

TEST_CASE("an audit says when there is no ledger, and reads without the right to write") {
    const TemporaryHome home;
    const auto report = audit_ledger(kMachine, home.path());
    REQUIRE_FALSE(report);
    CHECK(report.error().kind == base::ErrorKind::kNotFound);
    CHECK(std::filesystem::is_empty(home.path()));
}
