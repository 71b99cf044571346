// SPDX-License-Identifier: Apache-2.0
// The ledger node with the real rules, through its gRPC port as a stranger sees it.
#include <sys/resource.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <thread>

#include "contracts/base/codec.hpp"
#include "ledger/application/rules_machine.hpp"
#include "ledger/engine/chain.hpp"
#include "ledger/store/posix_disk.hpp"
#include "ledger/store/state_tree.hpp"
#include "node/rpc/client.hpp"
#include "node/runtime/ledger_link.hpp"
#include "node/runtime/ledger_node.hpp"
#include "node/runtime/loop.hpp"
#include "tests/contracts/rules/env.hpp"
#include "tests/node/small_chain.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace assay::node {
namespace {

using base::ErrorKind;
using test::key_of;
using test::tokens;
using test::transfer;

// A home with a genesis, and nodes started in it one after the other.
struct NodeSite {
    NodeSite() {
        ledger::PosixDisk disk;
        const ledger::Layout layout(folder.path().string());
        REQUIRE(disk.make_directories(layout.directory).ok());
        REQUIRE(ledger::write_genesis(disk, layout.genesis, test::small_genesis()).ok());
        options.home = folder.path();
        options.block_interval_ms = 10;
        options.version = "test";
        options.on_stopped = [this](const base::Error& why) {
            stopped_because = why.what;
            stopped = true;
        };
    }

    Outcome<std::unique_ptr<LedgerNode>> start() {
        return LedgerNode::start(options, sequencer, ledger::rules_machine());
    }

    [[nodiscard]] base::Bytes log() const {
        std::ifstream file(folder.path() / "ledger" / "blocks.log", std::ios::binary);
        return {std::istreambuf_iterator<char>(file), {}};
    }

    test::TemporaryFolder folder;
    base::SecretKey sequencer = key_of("sequencer");
    LedgerNodeOptions options;
    std::string stopped_because;
    std::atomic<bool> stopped = false;
};

std::unique_ptr<LedgerService> client_of(const LedgerNode& node) {
    return connect_ledger({.address = node.address()}).value();
}

std::uint64_t balance_of(LedgerService& ledger, const std::string& name) {
    const auto value = ledger.get(contracts::account_key(key_of(name).public_key())).value();
    REQUIRE(value.value.has_value());
    return base::decode<contracts::Account>(*value.value)->balance.units();
}

}  // namespace

TEST_CASE("a submitted transaction comes back with a receipt that proves its block") {
    NodeSite site;
    const auto node = site.start().value();
    const auto ledger = client_of(*node);
    const base::Bytes transaction = transfer(0, 5);
    const SubmitReply reply = ledger->submit(transaction).value();
    REQUIRE((reply.accepted && reply.height == 1));
    auto receipt = base::decode<ledger::Receipt>(reply.receipt).value();
    const auto validators = contracts::ValidatorSet::of_one(site.sequencer.public_key());
    REQUIRE(ledger::verify_receipt(receipt, test::kChainId, validators));
    const auto block = base::decode<ledger::Block>(ledger->block(1).value()).value();
    REQUIRE((receipt.height == 1 && receipt.header == block.header.hash()));
    REQUIRE(block.transactions.at(receipt.index) == transaction);
    REQUIRE(balance_of(*ledger, "alice") == tokens(995).units());
    REQUIRE(balance_of(*ledger, "bob") == tokens(1005).units());

    receipt.height = 2;
    REQUIRE_FALSE(ledger::verify_receipt(receipt, test::kChainId, validators));
}

TEST_CASE(
    "a record is served with a proof under the state's root, present or not, and a range page by page") {
    NodeSite site;
    const auto node = site.start().value();
    const auto ledger = client_of(*node);
    REQUIRE(ledger->submit(transfer(0, 5)).value().accepted);
    const auto tip = base::decode<ledger::Block>(ledger->block(1).value()).value();
    const auto proven = [&](const base::Bytes& key) {
        const StateValue got = ledger->get(key).value();
        REQUIRE(got.height == 1);
        REQUIRE(got.state_root == tip.header.state_root);
        const auto proof = base::decode<ledger::StateProof>(got.proof).value();
        REQUIRE((got.value ? ledger::verify_present(got.state_root, key, *got.value, proof)
                           : ledger::verify_absent(got.state_root, key, proof)));
        return got.value.has_value();
    };
    REQUIRE(proven(contracts::account_key(key_of("alice").public_key())));
    REQUIRE_FALSE(proven(contracts::account_key(key_of("carol").public_key())));
    ScanRequest request{.prefix = {}, .from = {}, .limit = 3};
    std::vector<std::pair<Bytes, Bytes>> all;
    for (bool more = true; more;) {
        StatePage page = ledger->scan(request).value();
        REQUIRE(page.state_root == tip.header.state_root);
        REQUIRE(page.entries.size() <= 3);
        all.insert(all.end(), page.entries.begin(), page.entries.end());
        more = page.next.has_value();
        if (more) request.from = *page.next;
    }
    // All of it, since the root of what came is the state's.
    REQUIRE(ledger::StateTree::build({all.begin(), all.end()}).root() == tip.header.state_root);
}

TEST_CASE(
    "a job that was cancelled leaves the state by itself, and a stranger reads it by the hashes of its "
    "records") {
    NodeSite site;
    const auto node = site.start().value();
    const auto ledger = client_of(*node);
    const auto alice = key_of("alice");
    const auto own = key_of("alice's node");
    const program::JobSpec spec = contracts::test::small_job();
    std::uint64_t nonce = 0;
    const auto send = [&](const contracts::Payload& payload) {
        const Bytes transaction = test::signed_by(alice, nonce++, payload);
        const SubmitReply reply = ledger->submit(transaction).value();
        INFO(reply.reason_text);
        REQUIRE(reply.accepted);
        return base::decode<ledger::Receipt>(reply.receipt).value().transaction;
    };
    send(contracts::NodeRegister{own.public_key(),
                                 contracts::prove_node_key(own, alice.public_key(), test::kChainId)});
    const base::Hash256 id = contracts::job_id(
        send(contracts::JobSubmit{spec, own.public_key(), "127.0.0.1:7000",
                                  contracts::chain_tip(base::hash("test/seed", {}), spec.rounds)}));
    const auto read = [&](const Bytes& key) { return ledger->get(key).value(); };
    REQUIRE(read(contracts::job_terms_key(id)).value.has_value());
    send(contracts::JobCancel{id});
    const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (read(contracts::job_progress_key(id)).value) {
        REQUIRE(std::chrono::steady_clock::now() < give_up);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    const StateValue left = read(contracts::ended_job_key(id));
    REQUIRE(left.value.has_value());
    const auto ended = base::decode<contracts::EndedJob>(*left.value).value();
    CHECK(ended.reason == contracts::Reason::kJobCancelled);
    CHECK(ended.spec == contracts::hash_of_spec(spec));
    CHECK_FALSE(ended.groups.empty());
    for (const contracts::RecordGroup& group : ended.groups) {
        const auto records = contracts::read_group(id, group, [&](base::ByteView key) {
            const StateValue row = read(base::to_bytes(key));
            CHECK(row.proof.empty());
            return row.value;
        });
        REQUIRE(records.ok());
        CHECK(records->size() == group.records);
    }
}

TEST_CASE("a refused transaction is answered with the reason's number and name and changes nothing") {
    NodeSite site;
    const auto node = site.start().value();
    const auto ledger = client_of(*node);
    REQUIRE(ledger->submit(transfer(0)).value().accepted);
    const auto before = ledger->status().value();
    base::Bytes forged = transfer(1);
    forged.back() ^= 1;
    const auto other_chain =
        test::signed_by(key_of("alice"), 1,
                        contracts::Transfer{.to = key_of("bob").public_key(), .amount = tokens(1)}, "other");
    const auto nobody = test::signed_by(
        key_of("carol"), 0, contracts::Transfer{.to = key_of("bob").public_key(), .amount = tokens(1)});
    const std::vector<std::pair<base::Bytes, contracts::Reason>> cases{
        {transfer(1, 100'000), contracts::Reason::kInsufficientBalance},
        {transfer(1, 0), contracts::Reason::kZeroAmount},
        {forged, contracts::Reason::kBadSignature},
        {other_chain, contracts::Reason::kBadSignature},
        {base::Bytes(40, 7), contracts::Reason::kMalformed},
        {{}, contracts::Reason::kMalformed},
        {nobody, contracts::Reason::kUnknownSender},
        // Nonces are refused at the door, before the rules see them.
        {transfer(7), contracts::Reason::kNonceGap},
        {transfer(0, 3), contracts::Reason::kNonceUsed},
    };
    for (const auto& [bytes, reason] : cases) {
        const SubmitReply reply = ledger->submit(bytes).value();
        INFO(contracts::to_text(reason) << " expected, said: " << reply.reason_text);
        REQUIRE_FALSE(reply.accepted);
        REQUIRE(reply.reason == static_cast<std::uint32_t>(reason));
        REQUIRE(reply.reason_text == contracts::to_text(reason));
        REQUIRE(reply.receipt.empty());
    }
    const auto after = ledger->status().value();
    REQUIRE((after.height == before.height && after.state_root == before.state_root));
}

TEST_CASE("a subscriber gets every block from a past height on, in order, while new ones are made") {
    NodeSite site;
    const auto node = site.start().value();
    const auto ledger = client_of(*node);
    for (std::uint64_t nonce = 0; nonce < 5; ++nonce) REQUIRE(ledger->submit(transfer(nonce))->accepted);
    std::vector<std::uint64_t> seen;
    base::Hash256 parent = base::decode<ledger::Block>(ledger->block(1).value())->header.hash();
    const auto ended = ledger->subscribe(2, {}, [&](const BlockNotice& block) {
        seen.push_back(block.height);
        const auto head = base::decode<std::pair<ledger::Header, base::Signature>>(block.header).value();
        REQUIRE((head.first.height == block.height && head.first.parent == parent));
        parent = head.first.hash();
        if (block.height == 5) REQUIRE(client_of(*node)->submit(transfer(5))->accepted);
        return block.height < 6;
    });
    REQUIRE(ended.ok());
    REQUIRE(seen == std::vector<std::uint64_t>{2, 3, 4, 5, 6});
}

TEST_CASE("a node started again in its home has the same chain and knows what it included") {
    NodeSite site;
    SubmitReply first;
    LedgerStatus before;
    {
        const auto node = site.start().value();
        const auto ledger = client_of(*node);
        first = ledger->submit(transfer(0, 3)).value();
        REQUIRE(ledger->submit(transfer(1, 4))->accepted);
        before = ledger->status().value();
    }
    const auto node = site.start().value();
    const auto ledger = client_of(*node);
    const auto after = ledger->status().value();
    REQUIRE((after.height == before.height && after.state_root == before.state_root));
    REQUIRE(balance_of(*ledger, "bob") == tokens(1007).units());
    // A submitter that never got its answer asks again and gets the very same one.
    REQUIRE(ledger->submit(transfer(0, 3))->receipt == first.receipt);
    REQUIRE(ledger->submit(transfer(2))->height == before.height + 1);
}

TEST_CASE("what a node cannot be started with is said before anything is served or written") {
    NodeSite site;
    const auto holder = site.start().value();
    REQUIRE(client_of(*holder)->submit(transfer(0))->accepted);
    const base::Bytes log = site.log();

    const auto twice = site.start();
    REQUIRE_FALSE(twice.ok());
    REQUIRE_FALSE(twice.error().fix.empty());

    NodeSite other;
    other.options.server.listen = holder->address();
    const auto taken = other.start();
    REQUIRE(taken.error().kind == ErrorKind::kFailure);
    REQUIRE(taken.error().what.find("taken") != std::string::npos);
    other.options.server.listen = "0.0.0.0:0";
    REQUIRE(other.start().error().kind == ErrorKind::kUsage);
    other.options.server.listen = "127.0.0.1:0";
    other.sequencer = key_of("alice");
    REQUIRE(other.start().error().kind == ErrorKind::kKey);
    std::filesystem::remove(other.folder / "ledger/genesis.bin");
    const auto missing = other.start();
    REQUIRE(missing.error().kind == ErrorKind::kNotFound);
    REQUIRE_FALSE(missing.error().fix.empty());

    REQUIRE(site.log() == log);
    REQUIRE(client_of(*holder)->submit(transfer(1))->accepted);
}

TEST_CASE("below the reserve of free disk a node refuses transactions, says so, and goes on serving") {
    NodeSite site;
    site.options.min_free_bytes = 1ULL << 60U;
    std::promise<std::string> held;
    site.options.on_held = [&](const std::string& why) { held.set_value(why); };  // once
    auto told = held.get_future();
    const auto node = site.start().value();
    const auto ledger = client_of(*node);
    const base::Bytes log = site.log();
    const auto before = ledger->status().value();
    const auto refused = ledger->submit(transfer(0));
    REQUIRE(refused.error().kind == ErrorKind::kFailure);
    REQUIRE(refused.error().what.find("reserve") != std::string::npos);
    REQUIRE_FALSE(refused.error().fix.empty());
    const auto after = ledger->status().value();
    REQUIRE((after.height == before.height && after.state_root == before.state_root));
    REQUIRE_FALSE(site.stopped);
    REQUIRE(site.log() == log);
    // The operator is told too: where only deadlines are due there is no submitter.
    REQUIRE(told.wait_for(std::chrono::seconds(60)) == std::future_status::ready);
    CHECK(told.get().find("reserve") != std::string::npos);
    REQUIRE_FALSE(ledger->submit(transfer(0)).ok());
}

namespace {

/// Submits as soon as it starts.
struct SubmittingRole final : Role {
    void step(const RoleEvent& event) override {
        if (std::holds_alternative<Started>(event)) port->submit(RequestId{1}, transfer(1));
    }
    std::unique_ptr<LedgerPort> port;
};

}  // namespace

TEST_CASE(
    "a node whose chain is held up ends within seconds, with submissions in flight of a port and a client") {
    NodeSite site;
    REQUIRE(site.start().value()->submit(transfer(0))->accepted);
    site.options.clock_offset_ms = -3'600'000;
    std::promise<std::string> held;
    site.options.on_held = [&](const std::string& why) { held.set_value(why); };  // once
    auto told = held.get_future();
    auto node = site.start().value();
    Loop loop;
    SubmittingRole role;
    role.port = make_ledger_port(*node, loop);
    loop.attach(role);
    std::thread runs([&] { loop.run(); });
    const base::Bytes of_another = test::signed_by(
        key_of("bob"), 0, contracts::Transfer{.to = key_of("carol").public_key(), .amount = tokens(1)});
    auto client = std::async(std::launch::async, [&] { return client_of(*node)->submit(of_another); });
    REQUIRE(told.wait_for(std::chrono::seconds(60)) == std::future_status::ready);
    CHECK(told.get().find("ahead of this machine's clock") != std::string::npos);
    loop.stop();
    runs.join();
    const auto began = std::chrono::steady_clock::now();
    node->stop_answering();
    role.port.reset();
    const auto after = node->submit(transfer(1));
    REQUIRE_FALSE(after.ok());
    CHECK(after.error().kind == ErrorKind::kUnreachable);
    const auto answer = client.get();
    REQUIRE_FALSE(answer.ok());
    CHECK(answer.error().kind == ErrorKind::kUnreachable);
    node.reset();
    CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(5));
    CHECK_FALSE(site.stopped);  // nothing failed: the next start goes on
    site.options.clock_offset_ms = 0;
    site.options.on_held = {};
    CHECK(site.start().value()->submit(transfer(1))->height == 2);
}

namespace {

// A node that runs into a full disk `room` bytes after its first block, and is started again.
void fill_the_disk(std::uint64_t room, const rlimit& before) {
    NodeSite site;
    std::uint64_t accepted = 0;
    {
        const auto node = site.start().value();
        REQUIRE(node->submit(transfer(accepted++))->accepted);
        const rlimit full{site.log().size() + room, before.rlim_max};
        REQUIRE(setrlimit(RLIMIT_FSIZE, &full) == 0);
        bool failed = false;
        while (!failed && accepted < 100) {
            const auto reply = node->submit(transfer(accepted));
            failed = !reply.ok();
            if (reply && reply->accepted) ++accepted;
        }
        // There is room again, as after a clean-up: the stopped node must not believe that.
        REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
        REQUIRE(failed);
        REQUIRE_FALSE(node->submit(transfer(accepted)).ok());
        for (int i = 0; i < 200 && !site.stopped; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        REQUIRE(site.stopped);
        REQUIRE_FALSE(site.stopped_because.empty());
    }
    const auto node = site.start().value();
    const auto ledger = client_of(*node);
    // The one that failed may be on disk or not; asking for it again settles that, and it counts once.
    const std::uint64_t found = balance_of(*ledger, "bob");
    REQUIRE((found == tokens(1000 + accepted).units() || found == tokens(1001 + accepted).units()));
    REQUIRE(ledger->submit(transfer(accepted))->accepted);
    REQUIRE(balance_of(*ledger, "bob") == tokens(1001 + accepted).units());
}

}  // namespace

TEST_CASE(
    "F5: after the first write that the disk refuses the node stops, and nothing acknowledged is lost") {
    rlimit before{};
    REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
    std::signal(SIGXFSZ, SIG_IGN);  // a write beyond the limit fails with EFBIG
    // Whether log or index meets the end of the disk first, and where in a record, depends on the room.
    for (const std::uint64_t room : {0U, 1U, 100U, 333U, 700U, 1500U, 4000U}) {
        INFO("room for " << room << " bytes");
        fill_the_disk(room, before);
    }
}

TEST_CASE("many clients at once: every transaction is in one block exactly, in the order of its nonces") {
    NodeSite site;
    const auto node = site.start().value();
    std::vector<std::thread> threads;
    std::atomic<int> accepted = 0;
    for (const char* name : {"alice", "bob"}) {
        threads.emplace_back([&, name] {
            const auto ledger = client_of(*node);
            for (std::uint64_t nonce = 0; nonce < 40; ++nonce) {
                const auto reply = ledger->submit(test::signed_by(
                    key_of(name), nonce,
                    contracts::Transfer{.to = key_of("carol").public_key(), .amount = tokens(1)}));
                if (reply && reply->accepted) ++accepted;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    REQUIRE(accepted == 80);
    const auto ledger = client_of(*node);
    REQUIRE(balance_of(*ledger, "carol") == tokens(80).units());
    std::size_t included = 0;
    for (std::uint64_t height = 1; height <= ledger->status()->height; ++height) {
        included += base::decode<ledger::Block>(ledger->block(height).value())->transactions.size();
    }
    REQUIRE(included == 80);
}

}  // namespace assay::node
