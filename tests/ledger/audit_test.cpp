// SPDX-License-Identifier: Apache-2.0
#include "ledger/audit/audit.hpp"

#include <random>

#include "tests/ledger/support.hpp"
#include "tests/support/catch.hpp"

using namespace assay;
using namespace assay::ledger;
using namespace assay::ledger::testing;

namespace {

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

struct Tampering {
    const char* name;
    std::function<void(Block&)> change;
    const char* expected;
};

void sign_again(Block& block) { block.signature = sign_header(block.header, "toy-1", test_key()); }

// What somebody could make of a block who has the sequencer's key, or has not.
const std::vector<Tampering> kTamperings = {
    {"a transaction removed", [](Block& b) { b.transactions.pop_back(); }, "commits to"},
    {"the time changed", [](Block& b) { ++b.header.time_ms; }, "signature"},
    {"another parent, signed again",
     [](Block& b) {
         b.header.parent = {};
         sign_again(b);
     },
     "follow"},
    {"another height, signed again",
     [](Block& b) {
         b.header.height = 9;
         sign_again(b);
     },
     "height 9"},
    {"another chain, signed again",
     [](Block& b) {
         b.header.chain = chain_hash("x");
         sign_again(b);
     },
     "chain"},
    {"another version, signed again",
     [](Block& b) {
         b.header.version = 2;
         sign_again(b);
     },
     "version"},
    {"a state root that execution does not give, signed again",
     [](Block& b) {
         b.header.state_root.bytes[0] ^= 1U;
         sign_again(b);
     },
     "another state"},
    {"a results root that execution does not give, signed again",
     [](Block& b) {
         b.header.results_root.bytes[0] ^= 1U;
         sign_again(b);
     },
     "other results"},
    {"a transaction added, signed again",
     [](Block& b) {
         b.transactions.push_back(toy_transaction(3, 0, 1));
         b.header.transactions_root = transactions_root(b.transactions);
         sign_again(b);
     },
     "other results"},
    {"another proposer, signed by it",
     [](Block& b) {
         const base::SecretKey other = test_key(9);
         b.header.proposer = other.public_key();
         b.signature = sign_header(b.header, "toy-1", other);
     },
     "no validator's"},
    {"a transaction that breaks an invariant, everything signed again",
     [](Block& b) {
         b.transactions = {toy_transaction(1, b.header.height - 1, kBreakingValue)};
         b.header.transactions_root = transactions_root(b.transactions);
         sign_again(b);
     },
     "sum of the values"},
};

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
    for (const Tampering& row : kTamperings) {
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

namespace {

// What a sequencer writes who puts `extra` into block `height` against the rules, with roots and signatures
// that fit what executing it gives, and every later block on top of it.
void forge_with(const std::string& home, std::uint64_t height, const Bytes& extra) {
    const base::SecretKey key = test_key();
    contracts::MemoryState state;
    REQUIRE(kMachine.genesis(state, toy_genesis()));
    StateTree tree = StateTree::build(state.all());
    Hash256 parent = toy_genesis().hash();
    const std::string log = Layout(home).log;
    const auto file = open_read_only(log);
    const std::uint64_t all = audit_ledger(kMachine, home)->height;
    for (std::uint64_t at = 1; at <= all; ++at) {
        replace_block(log, at, [&](Block& block) {
            if (at == height) block.transactions.push_back(extra);
            contracts::Overlay overlay(state);
            BlockResults results{at, kMachine.begin_block(overlay, {"toy-1", at}), {}};
            for (const Bytes& one : block.transactions)
                results.transactions.push_back(kMachine.apply(overlay, {"toy-1", at}, one));
            tree.update(overlay.changes());
            overlay.write_to(state);
            block.header.parent = parent;
            block.header.transactions_root = transactions_root(block.transactions);
            block.header.results_root = results_root(results);
            block.header.state_root = tree.root();
            block.signature = sign_header(block.header, "toy-1", key);
            parent = block.header.hash();
        });
    }
}

}  // namespace

TEST_CASE("a block that holds a transaction that the rules refuse does not check, whatever its roots say") {
    const std::vector<Bytes> refused = {
        toy_transaction(3, 0, kRefusedValue),
        toy_transaction(1, 0, 1),  // a nonce used long ago: the same bytes again and again
        Bytes(1000, 0xee),         // no transaction at all
    };
    for (const Bytes& extra : refused) {
        const TemporaryHome home;
        make_toy_ledger(home.path(), 4);
        forge_with(home.path(), 3, extra);
        const auto report = audit_ledger(kMachine, home.path());
        REQUIRE(report);
        REQUIRE(report->failures.size() == 1);
        INFO(report->failures[0].what);
        CHECK(report->failures[0].where == "block 3");
        CHECK(report->failures[0].what.find("transaction 2 is one that the rules refuse (toy_refused)") !=
              std::string::npos);
        CHECK(report->height == 2);
    }
    // The forger's own work is right: a transaction that the rules take goes through.
    const TemporaryHome home;
    make_toy_ledger(home.path(), 4);
    forge_with(home.path(), 3, toy_transaction(3, 0, 1));
    const auto report = audit_ledger(kMachine, home.path());
    REQUIRE(report);
    CHECK(report->ok());
    CHECK(report->transactions == 9);
}

TEST_CASE(
    "a block whose transactions cost more than a block may hold does not check, whatever its roots say") {
    const TemporaryHome home;
    make_toy_ledger(home.path(), 4);
    const Bytes extra = toy_transaction(3, 0, kToyLimit - 2);  // its two neighbours cost one each
    forge_with(home.path(), 3, extra);
    const auto full = audit_ledger(kMachine, home.path());
    REQUIRE(full);
    CHECK(full->ok());
    const ToyMachine stricter(kToyLimit - 1);
    const auto report = audit_ledger(stricter, home.path());
    REQUIRE(report);
    REQUIRE(report->failures.size() == 1);
    CHECK(report->failures[0].where == "block 3");
    CHECK(report->failures[0].what.find("cost more than the 9999999 units that a block may hold") !=
          std::string::npos);
    CHECK(report->height == 2);
    // Nor does a node that starts go on from it.
    std::filesystem::remove_all(Layout(home.path()).index);
    PosixDisk disk;
    const auto provider = leveldb_provider(Layout(home.path()).index);
    const auto chain = Chain::open(disk, *provider, stricter, home.path());
    REQUIRE_FALSE(chain);
    CHECK(chain.error().what.find("block 3: its transactions") != std::string::npos);
}

namespace {

// The log as it was at `height`: cut between two frames.
void cut_log(const std::string& home, std::uint64_t height) {
    const std::string log = Layout(home).log;
    const auto file = open_read_only(log);
    Bytes payload;
    std::uint64_t offset = kLogHeaderSize;
    for (std::uint64_t at = 1; at <= height; ++at)
        offset += kFrameHeaderSize + read_frame(**file, offset, payload).value()->length;
    const Bytes whole = read_file(log);
    write_file(log, ByteView(whole).first(static_cast<std::size_t>(offset)));
}

Hash256 header_hash(const std::string& home, std::uint64_t height) {
    Hash256 hash;
    replace_block(Layout(home).log, height, [&](Block& block) { hash = block.header.hash(); });
    return hash;
}

// Of the first transaction of a block.
Receipt receipt_for(const std::string& home, std::uint64_t height, const base::SecretKey& key = test_key()) {
    Receipt receipt;
    replace_block(Layout(home).log, height, [&](Block& block) {
        receipt = {base::hash("toy/tx", block.transactions[0]), height, 0, 0, block.header.hash(), {}};
    });
    sign_receipt(receipt, "toy-1", key);
    return receipt;
}

std::vector<AuditFailure> failures_of(const std::string& home, const Anchors& anchors) {
    const auto report = audit_ledger(kMachine, home, anchors);
    REQUIRE(report);
    return report->failures;
}

}  // namespace

TEST_CASE(
    "a log cut between two blocks passes alone, and fails against a trusted header or a receipt above the "
    "cut") {
    const TemporaryHome home;
    make_toy_ledger(home.path(), 5);
    const TrustedHeader trusted{5, header_hash(home.path(), 5)};
    const Receipt receipt = receipt_for(home.path(), 5);
    const Anchors by_header{{trusted}, {}};
    const Anchors by_receipt{{}, {{"my receipt", ReceiptSource::kGiven, receipt}}};
    for (const Anchors* anchors : {&by_header, &by_receipt}) {
        const auto whole = audit_ledger(kMachine, home.path(), *anchors);
        REQUIRE(whole);
        CHECK(whole->ok());
        CHECK(whole->anchored == 5);
    }
    const Receipt earlier = receipt_for(home.path(), 3);
    cut_log(home.path(), 3);
    const auto cut = audit_ledger(kMachine, home.path());
    REQUIRE(cut);
    CHECK(cut->ok());
    CHECK(cut->height == 3);
    CHECK_FALSE(cut->anchored.has_value());
    for (const Anchors* anchors : {&by_header, &by_receipt}) {
        const auto failures = failures_of(home.path(), *anchors);
        REQUIRE(failures.size() == 1);
        CHECK(failures[0].what == "the ledger ends at block 3: block 5 was cut off");
        CHECK(failures[0].height == 5);
    }
    CHECK(failures_of(home.path(), by_receipt)[0].where == "my receipt");
    CHECK(failures_of(home.path(), by_header)[0].where == "trusted block 5");
    // What lies below the cut tells nothing of it, and is borne out.
    const auto below = audit_ledger(kMachine, home.path(), {{}, {{"old", ReceiptSource::kFound, earlier}}});
    REQUIRE(below);
    CHECK(below->ok());
    CHECK(below->anchored == 3);
}

TEST_CASE("another history under a trusted header or a signed receipt is found, and its block named") {
    const TemporaryHome home;
    make_toy_ledger(home.path(), 5);
    const Hash256 genesis = toy_genesis().hash();
    const TrustedHeader trusted{4, header_hash(home.path(), 4)};
    const Receipt receipt = receipt_for(home.path(), 4);
    // The sequencer itself writes the past anew: everything checks but what it said before.
    forge_with(home.path(), 3, toy_transaction(3, 0, 1));
    CHECK(failures_of(home.path(), {}).empty());
    CHECK(failures_of(home.path(), {{{0, genesis}}, {}}).empty());
    const auto by_header = failures_of(home.path(), {{trusted}, {}});
    REQUIRE(by_header.size() == 1);
    CHECK(by_header[0].height == 4);
    CHECK(by_header[0].what.find("not " + trusted.hash.hex()) != std::string::npos);
    const auto by_receipt = failures_of(home.path(), {{}, {{"mine", ReceiptSource::kFound, receipt}}});
    REQUIRE(by_receipt.size() == 1);
    CHECK(by_receipt[0].what.find("which its validators signed too") != std::string::npos);
    CHECK(failures_of(home.path(), {{{0, trusted.hash}}, {}}).size() == 1);

    // A receipt for a transaction that the block it names does not hold.
    Receipt lie = receipt_for(home.path(), 4);
    for (const auto& change :
         std::vector<std::function<void()>>{[&] { lie.transaction = genesis; }, [&] { lie.index = 99; }}) {
        lie = receipt_for(home.path(), 4);
        change();
        sign_receipt(lie, "toy-1", test_key());
        const auto failures = failures_of(home.path(), {{}, {{"lie", ReceiptSource::kFound, lie}}});
        REQUIRE(failures.size() == 1);
        CHECK(failures[0].what.find("does not hold the transaction") != std::string::npos);
    }
}

TEST_CASE(
    "a receipt that another sequencer signed fails where it was given and is counted where it was found") {
    const TemporaryHome home;
    make_toy_ledger(home.path(), 3);
    const Receipt strange = receipt_for(home.path(), 3, test_key(9));
    Receipt bent = receipt_for(home.path(), 3);
    bent.height = 7;  // the signature does not cover it
    for (const Receipt& receipt : {strange, bent}) {
        const auto given = failures_of(home.path(), {{}, {{"theirs", ReceiptSource::kGiven, receipt}}});
        REQUIRE(given.size() == 1);
        CHECK(given[0].where == "theirs");
        CHECK(given[0].what.find("did not sign") != std::string::npos);
        const auto found = audit_ledger(kMachine, home.path(), {{}, {{"x", ReceiptSource::kFound, receipt}}});
        REQUIRE(found);
        CHECK(found->ok());
        CHECK(found->strange_receipts == 1);
        CHECK_FALSE(found->anchored.has_value());
    }
}

TEST_CASE("an audit says when there is no ledger, and reads without the right to write") {
    const TemporaryHome home;
    const auto report = audit_ledger(kMachine, home.path());
    REQUIRE_FALSE(report);
    CHECK(report.error().kind == base::ErrorKind::kNotFound);
    CHECK(std::filesystem::is_empty(home.path()));
}
