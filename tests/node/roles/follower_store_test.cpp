// SPDX-License-Identifier: Apache-2.0
// A role starts from what it verified itself, and from nothing else: whatever happens to its store, it comes
// to the ledger's state or says why it cannot.
#include <filesystem>
#include <fstream>

#include "node/processes/store_files.hpp"
#include "node/roles/following_role.hpp"
#include "tests/contracts/rules/env.hpp"
#include "tests/node/memory_ledger.hpp"
#include "tests/node/roles/quiet_ports.hpp"
#include "tests/support/temporary_folder.hpp"

namespace assay::node {
namespace {

using base::Bytes;
using base::ErrorKind;
using ledger::testing::Fault;
using ledger::testing::Faults;
using ledger::testing::MemoryProvider;
using test::HandClock;
using test::KeptLog;
using test::key_of;
using test::MemoryLedger;
using test::NoBlobs;
using test::NoDisk;
using test::NoTimers;
using test::NoWorker;

struct ZeroRandom final : Random {
    void fill(std::span<std::uint8_t>) override {}
};
struct Subscription final : LedgerPort {
    void submit(RequestId, Bytes) override {}
    void get(RequestId, Bytes) override {}
    void scan(RequestId, Bytes) override {}
    void subscribe(std::uint64_t from_height) override { from = from_height; }
    void subscribe_again(std::uint64_t, std::uint64_t) override { FAIL("the chain's times are the clock's"); }
    std::optional<std::uint64_t> from;
};

/// A role that looks at every job, and does nothing.
class Onlooker final : public FollowingRole {
public:
    using FollowingRole::FollowingRole;
    using FollowingRole::height;
    using FollowingRole::state;
    int plans = 0;

private:
    void plan() override {
        ++plans;
        plan_jobs([](const contracts::Job&) {}, [](const contracts::Job&) {});
    }
};

/// One life of a role's process in a home that holds `store`.
struct Life {
    Life(const MemoryLedger& ledger, ledger::KeyValueProvider& state_store) : ledger_(ledger) {
        parts.emplace(RoleParts{.seams = {clock, random, timers, port, blobs, disk, worker, log},
                                .files = *files,
                                .genesis = genesis,
                                .node_key = key,
                                .endpoint = "127.0.0.1:2",
                                .start_height = ledger.chain->height(),
                                .finish = [this](std::optional<base::Error> why) { ended = std::move(why); },
                                .state_store = &state_store});
        role.emplace(*parts);
        role->step(Started{});
    }
    /// Hands over what the subscription asks for, up to the tip; returns how many blocks that were.
    std::uint64_t follow() {
        std::uint64_t fetched = 0;
        for (; port.from && *port.from <= ledger_.chain->height() && !ended; ++*port.from, ++fetched)
            role->step(BlockSeen{*port.from, ledger_.block(*port.from)});
        return fetched;
    }
    [[nodiscard]] bool is_at_tip() const {
        return role->height() == ledger_.chain->height() &&
               role->state().scan({}) == ledger_.chain->state().scan({});
    }

    const MemoryLedger& ledger_;
    const ledger::Genesis genesis = test::small_genesis();
    const base::SecretKey key = key_of("alice's node");
    test::TemporaryFolder folder;
    std::unique_ptr<BlobStore> store =
        BlobStore::open({.folder = folder / "blobs", .free_bytes_min = 0}).value();
    std::unique_ptr<BlobFiles> files = make_blob_files(*store);
    HandClock clock;
    ZeroRandom random;
    NoTimers timers;
    Subscription port;
    NoBlobs blobs;
    NoDisk disk;
    NoWorker worker;
    KeptLog log;
    std::optional<base::Error> ended;
    std::optional<RoleParts> parts;
    std::optional<Onlooker> role;
};

// Keys of a store, as ledger/store/index.hpp lays them out.
const Bytes kHead = base::to_bytes(base::as_bytes("m"));
Bytes stored_key(const Bytes& key) {
    Bytes stored(key.size() + 1, 's');
    std::copy(key.begin(), key.end(), stored.begin() + 1);
    return stored;
}

using StoredRecords = std::map<Bytes, Bytes>;

std::string joined(const std::vector<std::string>& lines) {
    std::string all;
    for (const std::string& line : lines) all += line + "\n";
    return all;
}

}  // namespace

TEST_CASE("a role that starts again late fetches no block that it has verified before") {
    MemoryLedger ledger;
    Faults faults;
    MemoryProvider store(faults);
    ledger.extend_by(20);
    {
        Life first(ledger, store);
        CHECK(first.port.from == 1);
        CHECK(first.follow() == 20);
        CHECK(first.is_at_tip());
        CHECK(first.role->plans > 0);
    }
    ledger.extend_by(5);
    {
        Life second(ledger, store);
        CHECK(second.port.from == 21);
        CHECK(second.role->plans == 0);
        CHECK(second.follow() == 5);
        CHECK(second.is_at_tip());
        CHECK(second.role->plans > 0);
    }
    Life third(ledger, store);
    CHECK(third.port.from == 26);
    CHECK(third.follow() == 0);
    third.role->step(TimerFired{});
    CHECK(third.role->plans == 1);  // nothing is missing: it acts without waiting for a block
}

TEST_CASE("a role keeps the records of ended jobs, finds them after a restart, and says which are damaged") {
    MemoryLedger ledger;
    const auto alice = key_of("alice");
    const auto own = key_of("alice's node");
    const program::JobSpec spec = contracts::test::small_job();
    const Bytes submission =
        test::signed_by(alice, 1,
                        contracts::JobSubmit{spec, own.public_key(), "127.0.0.1:7000",
                                             contracts::chain_tip(base::hash("test/seed", {}), spec.rounds)});
    const auto body = base::decode<contracts::SignedTransaction>(submission).value().body;
    const base::Hash256 id = contracts::job_id(contracts::transaction_id(body));
    ledger.extend({test::signed_by(
        alice, 0,
        contracts::NodeRegister{own.public_key(),
                                contracts::prove_node_key(own, alice.public_key(), test::kChainId)})});
    ledger.extend({submission});
    ledger.extend({test::signed_by(alice, 2, contracts::JobCancel{id})});
    ledger.extend({});
    Faults faults;
    MemoryProvider store(faults);
    const auto found = [&](const Life& life) {
        CHECK(life.is_at_tip());
        CHECK(contracts::has_ended(life.role->state(), id));
        const auto job = contracts::read_job(life.role->state(), id);
        return job && job->end_reason == contracts::Reason::kJobCancelled && job->spec == spec;
    };
    {
        Life first(ledger, store);
        REQUIRE(first.follow() == 4);
        CHECK(found(first));
    }
    CHECK_FALSE(contracts::read_job(ledger.chain->state(), id).has_value());
    {
        const Life second(ledger, store);
        CHECK(found(second));
        CHECK(second.log.lines_with("damaged") == 0);
    }
    for (auto& [key, row] : store.values)
        if (key.front() == 'h') row.back() ^= 1U;
    const Life third(ledger, store);
    CHECK_FALSE(found(third));  // no state is lost by it, and nobody is told something else
    CHECK(third.log.said("job " + id.hex(), "history is damaged"));
}

TEST_CASE("a follower that starts from its store judges the next block by the time of the stored one") {
    MemoryLedger ledger;
    ledger.extend_by(2);
    Faults faults;
    MemoryProvider store(faults);
    {
        Life first(ledger, store);
        REQUIRE(first.follow() == 2);
    }
    ledger.extend_by(1);
    ledger::Block early = ledger.chain->block(3).value();
    early.header.time_ms = ledger.chain->block(2)->header.time_ms - 1;
    early.signature = ledger::sign_header(early.header, test::kChainId, key_of("sequencer"));
    Follower follower = Follower::open(test::small_genesis(), store).value();
    REQUIRE(follower.height() == 2);
    const auto refused = follower.apply(base::encode(early));
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().what.find("block interval") != std::string::npos);
    CHECK(follower.height() == 2);
    CHECK(follower.apply(ledger.block(3)).ok());
}

TEST_CASE("a stored state whose content or head was altered is deleted and every block executed again") {
    MemoryLedger ledger;
    ledger.extend_by(6);
    const auto alterations = std::vector<std::pair<const char*, std::function<void(StoredRecords&)>>>{
        {"a balance",
         [](StoredRecords& values) {
             values.at(stored_key(contracts::account_key(key_of("bob").public_key()))).front() ^= 1;
         }},
        {"a record more", [](StoredRecords& values) { values[stored_key(Bytes(5, 0x77))] = Bytes{1}; }},
        {"a record less",
         [](StoredRecords& values) { values.erase(stored_key(contracts::validators_key())); }},
        {"the head's root",
         [](StoredRecords& values) {
             auto head = base::decode<ledger::IndexHead>(values.at(kHead)).value();
             head.state_root.bytes[3] ^= 1;
             values[kHead] = base::encode(head);
         }},
        {"the head's genesis",
         [](StoredRecords& values) {
             auto head = base::decode<ledger::IndexHead>(values.at(kHead)).value();
             head.genesis.bytes[3] ^= 1;
             values[kHead] = base::encode(head);
         }},
        {"the head's schema",
         [](StoredRecords& values) {
             auto head = base::decode<ledger::IndexHead>(values.at(kHead)).value();
             ++head.schema;
             values[kHead] = base::encode(head);
         }},
        {"the head itself", [](StoredRecords& values) { values.at(kHead).pop_back(); }},
    };
    for (const auto& [name, alter] : alterations) {
        INFO(name);
        Faults faults;
        MemoryProvider store(faults);
        {
            Life first(ledger, store);
            REQUIRE(first.follow() == 6);
        }
        alter(store.values);
        Follower follower = Follower::open(test::small_genesis(), store).value();
        CHECK(joined(follower.take_notes()).find("executed again") != std::string::npos);
        CHECK(follower.height() == 0);
        for (std::uint64_t height = 1; height <= 6; ++height)
            REQUIRE(follower.apply(ledger.block(height)).ok());
        CHECK(follower.state_root() == ledger.chain->state_root());
        CHECK(Follower::open(test::small_genesis(), store).value().height() == 6);
    }
}

TEST_CASE("a role whose store cannot be opened or read at a start ends, and the next start goes on from it") {
    MemoryLedger ledger;
    ledger.extend_by(6);
    Faults faults;
    MemoryProvider store(faults);
    faults.fault = Fault::kNoSpace;
    {
        Life first(ledger, store);
        REQUIRE(first.follow() == 6);
    }
    const StoredRecords kept = store.values;
    for (std::uint64_t read = 1; read <= 3; ++read) {  // to open it, its head, its state
        CAPTURE(read);
        store.failing_read = read;
        const Life failed(ledger, store);
        REQUIRE(failed.ended);
        CHECK(failed.ended->kind == ErrorKind::kFailure);
        CHECK_FALSE(failed.port.from);
        CHECK(store.values == kept);
        const Life next(ledger, store);
        CHECK_FALSE(next.ended);
        CHECK(next.port.from == 7);
    }
}

TEST_CASE("a damaged store is left as it is when the ledger's first block does not give the root it names") {
    // The first block of a chain that began under an older schema: signed, and of another state.
    ledger::Block block = MemoryLedger().extend({test::transfer(0)});
    block.header.state_root.bytes[0] ^= 1;
    block.signature = ledger::sign_header(block.header, test::kChainId, key_of("sequencer"));
    MemoryLedger ledger;
    ledger.extend_by(3);
    Faults faults;
    MemoryProvider store(faults);
    REQUIRE(Life(ledger, store).follow() == 3);
    store.values.at(kHead).pop_back();
    const StoredRecords damaged = store.values;

    Follower follower = Follower::open(test::small_genesis(), store).value();
    CHECK(store.values == damaged);
    const auto refused = follower.apply(base::encode(block));
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().kind == ErrorKind::kVerification);
    CHECK(refused.error().fix.find("began under an older schema") != std::string::npos);
    CHECK(store.values == damaged);
    // A ledger that makes it again replaces it.
    REQUIRE(follower.apply(ledger.block(1)).ok());
    CHECK(Follower::open(test::small_genesis(), store).value().height() == 1);
}

TEST_CASE("a role killed at any write to its store starts again from a block that it verified") {
    MemoryLedger ledger;
    ledger.extend_by(4);
    for (const Fault fault : {Fault::kKillBefore, Fault::kKillAfter}) {
        for (std::uint64_t call = 1; call <= 6; ++call) {
            CAPTURE(call);
            Faults faults;
            MemoryProvider store(faults);
            faults.at = call;
            faults.fault = fault;
            {
                Life first(ledger, store);
                first.follow();
            }
            faults.restart();
            Life second(ledger, store);
            CHECK(second.port.from <= 5);
            second.follow();
            CHECK_FALSE(second.ended);
            CHECK(second.is_at_tip());
            CHECK(Life(ledger, store).port.from == 5);
        }
    }
}

TEST_CASE("a role whose disk is full goes on in memory, says so once, and loses nothing") {
    MemoryLedger ledger;
    ledger.extend_by(8);
    Faults faults;
    MemoryProvider store(faults);
    faults.at = 5;  // deleting, the first state, two blocks: the third block's write fails
    faults.fault = Fault::kNoSpace;
    {
        Life first(ledger, store);
        CHECK(first.follow() == 8);
        CHECK_FALSE(first.ended);
        CHECK(first.is_at_tip());
    }
    faults.restart();
    Life second(ledger, store);
    CHECK(second.port.from == 3);
    CHECK(second.follow() == 6);
    CHECK(second.is_at_tip());

    // From the first moment on, and as notes.
    Faults full;
    MemoryProvider nowhere(full);
    full.at = 2;
    full.fault = Fault::kNoSpace;
    auto follower = Follower::open(test::small_genesis(), nowhere).value();
    CHECK(joined(follower.take_notes()).find("goes on in memory") != std::string::npos);
    for (std::uint64_t height = 1; height <= 8; ++height) REQUIRE(follower.apply(ledger.block(height)).ok());
    CHECK(follower.take_notes().empty());
    CHECK(follower.state_root() == ledger.chain->state_root());
}

TEST_CASE("a ledger with another past, or with fewer blocks, is refused, with the way to start again") {
    MemoryLedger ledger;
    ledger.extend_by(3);
    Faults faults;
    MemoryProvider store(faults);
    {
        Life first(ledger, store);
        REQUIRE(first.follow() == 3);
    }
    const auto says_how = [](const std::optional<base::Error>& error) {
        REQUIRE(error.has_value());
        CHECK(error->kind == ErrorKind::kVerification);
        CHECK(error->fix.find("move the folder state") != std::string::npos);
    };
    MemoryLedger other;  // same genesis, same sequencer, another block 3
    other.extend_by(2);
    other.extend({test::transfer(2, 5)});
    other.extend({test::transfer(3, 5)});
    Life elsewhere(other, store);
    CHECK(elsewhere.port.from == 4);
    elsewhere.follow();
    says_how(elsewhere.ended);
    CHECK(elsewhere.role->height() == 3);

    MemoryLedger shorter;
    shorter.extend_by(2);
    Life early(shorter, store);
    CHECK_FALSE(early.port.from);
    says_how(early.ended);
    CHECK(Life(ledger, store).port.from == 4);  // neither cost the store anything
}

TEST_CASE("on a real disk the store is read back, and rebuilt when its files are damaged") {
    MemoryLedger ledger;
    ledger.extend_by(5);
    const test::TemporaryFolder home;
    const std::string folder = (home / "state").string();
    const auto store = ledger::leveldb_provider(
        folder, {.durability = ledger::Durability::kInOrder, .name = "verified state"});
    CHECK(Life(ledger, *store).follow() == 5);
    CHECK(Life(ledger, *store).follow() == 0);
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        if (name.ends_with(".log") || name.ends_with(".ldb")) std::filesystem::resize_file(entry.path(), 50);
        if (name == "CURRENT") std::ofstream(entry.path()) << "nothing";
    }
    Life damaged(ledger, *store);
    CHECK(damaged.follow() == 5);
    CHECK(damaged.is_at_tip());
}

}  // namespace assay::node
