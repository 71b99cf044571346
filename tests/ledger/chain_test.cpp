// SPDX-License-Identifier: Apache-2.0
#include "ledger/engine/chain.hpp"

#include <sys/resource.h>

#include "tests/ledger/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/faulty_disk.hpp"

using namespace assay;
using namespace assay::ledger;
using namespace assay::ledger::testing;

namespace {

Outcome<std::unique_ptr<Chain>> open_home(const TemporaryHome& home) {
    static PosixDisk disk;
    static std::map<std::string, std::unique_ptr<KeyValueProvider>> providers;
    auto& provider = providers[home.path()];
    if (!provider) provider = leveldb_provider(Layout(home.path()).index);
    return Chain::open(disk, *provider, kMachine, home.path());
}

// The first regular file of the index whose name begins with a digit: LevelDB's own log or table.
void damage_index(const std::string& index) {
    for (const auto& entry : std::filesystem::directory_iterator(index)) {
        const std::string name = entry.path().filename().string();
        if (std::isdigit(static_cast<unsigned char>(name[0])) == 0) continue;
        Bytes bytes = read_file(entry.path().string());
        if (bytes.empty()) continue;
        bytes[bytes.size() / 2] ^= 4U;
        write_file(entry.path().string(), bytes);
    }
}

}  // namespace

TEST_CASE("a restart loads the state from the index and continues the same chain") {
    const TemporaryHome home;
    make_toy_ledger(home.path(), 3);
    const auto chain = open_home(home);
    REQUIRE(chain);
    CHECK((*chain)->height() == 3);
    CHECK((*chain)->notes().empty());
    CHECK((*chain)->block(3)->header.hash() == (*chain)->tip());
    CHECK((*chain)->block(3)->header.state_root == (*chain)->state_root());
    CHECK((*chain)->results(2)->transactions.size() == 2);
    const Hash256 id = base::hash("toy/tx", toy_transaction(2, 1, 5));
    const auto place = (*chain)->find(id);
    REQUIRE(place);
    REQUIRE(*place);
    CHECK((**place).height == 2);
    CHECK((**place).index == 1);
    CHECK_FALSE((*chain)->find(Hash256{}).value());
    CHECK((*chain)->block(4).error().kind == base::ErrorKind::kNotFound);
    CHECK((*chain)->block(0).error().kind == base::ErrorKind::kNotFound);
}

TEST_CASE("an index that is deleted or damaged is rebuilt from the log, with the same answers") {
    for (const bool remove : {true, false}) {
        const TemporaryHome home;
        make_toy_ledger(home.path(), 6);
        Hash256 root;
        {
            const auto chain = open_home(home);
            root = (*chain)->state_root();
        }
        const std::string index = Layout(home.path()).index;
        if (remove) {
            std::filesystem::remove_all(index);
        } else {
            damage_index(index);
        }
        const auto chain = open_home(home);
        REQUIRE(chain);
        CHECK((*chain)->height() == 6);
        CHECK((*chain)->state_root() == root);
        CHECK((*chain)->results(6)->transactions.size() == 2);
        REQUIRE_FALSE((*chain)->notes().empty());
        CHECK((*chain)->notes().back().find("rebuilt from 6 blocks") != std::string::npos);
    }
}

TEST_CASE("a failure to open or read the index that is no damage ends the start, and the next one goes on") {
    Faults faults;
    FaultyDisk disk(faults);
    MemoryProvider provider(faults);
    faults.fault = Fault::kIoError;
    REQUIRE(write_genesis(disk, Layout("home").genesis, toy_genesis()));
    for (std::uint64_t height = 1; height <= 3; ++height) {
        const auto chain = Chain::open(disk, provider, kMachine, "home");
        REQUIRE((*chain)->append({toy_transaction(1, height - 1, 5)}, EmptyBlock::kSkip, height, test_key()));
    }
    const auto stored = provider.values;
    const Bytes log = disk.bytes(Layout("home").log);
    std::uint64_t refused = 0;
    for (bool opens = false; !opens; refused += opens ? 0 : 1) {
        CAPTURE(refused);
        provider.failing_read = refused + 1;
        const auto tried = Chain::open(disk, provider, kMachine, "home");
        opens = tried.ok();
        if (!opens) CHECK(tried.error().kind == base::ErrorKind::kFailure);
        CHECK(provider.values == stored);
        CHECK(disk.bytes(Layout("home").log) == log);
        provider.failing_read = 0;
        const auto chain = Chain::open(disk, provider, kMachine, "home");
        REQUIRE(chain);
        CHECK((*chain)->height() == 3);
        CHECK((*chain)->notes().empty());
    }
    CHECK(refused >= 3);  // to open it, its head and its state
}

TEST_CASE("a process without a free descriptor does not start, says so, and deletes no index") {
    const TemporaryHome home;
    make_toy_ledger(home.path(), 3);
    PosixDisk disk;
    const auto provider = leveldb_provider(Layout(home.path()).index);
    rlimit before{};
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
    int refused_by_leveldb = 0;
    bool opens = false;
    for (rlim_t most = 3; most < 64 && !opens; ++most) {
        CAPTURE(most);
        const rlimit few{most, before.rlim_max};
        REQUIRE(setrlimit(RLIMIT_NOFILE, &few) == 0);
        {
            const auto tried = Chain::open(disk, *provider, kMachine, home.path());
            REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
            opens = tried.ok();
            if (!opens) {
                const base::Error& why = tried.error();
                INFO(why.what);
                const bool by_leveldb = why.what.find("index: cannot open: IO error") != std::string::npos;
                CHECK((by_leveldb || why.what.find("Too many open files") != std::string::npos));
                if (by_leveldb) {
                    ++refused_by_leveldb;
                    CHECK(why.kind == base::ErrorKind::kFailure);
                    CHECK(why.fix.find("limit of open files") != std::string::npos);
                }
            }
        }
        const auto chain = Chain::open(disk, *provider, kMachine, home.path());
        REQUIRE(chain);
        CHECK((*chain)->height() == 3);
        CHECK((*chain)->notes().empty());
    }
    CHECK(opens);
    CHECK(refused_by_leveldb >= 3);
}

TEST_CASE("two nodes cannot use one home, and the second does not delete the first one's index") {
    const TemporaryHome home;
    make_toy_ledger(home.path(), 2);
    const auto first = open_home(home);
    REQUIRE(first);
    PosixDisk disk;
    const auto provider = leveldb_provider(Layout(home.path()).index);
    const auto second = Chain::open(disk, *provider, kMachine, home.path());
    REQUIRE_FALSE(second);
    CHECK(second.error().kind == base::ErrorKind::kUsage);
    CHECK((*first)->append({toy_transaction(1, 2, 5)}, EmptyBlock::kSkip, 1, test_key()));
}

TEST_CASE("a log that lost acknowledged blocks is refused, as is damage to any of them") {
    const TemporaryHome home;
    make_toy_ledger(home.path(), 4);
    const std::string log = Layout(home.path()).log;
    const Bytes whole = read_file(log);
    write_file(log, ByteView(whole).first(whole.size() - 7));
    auto chain = open_home(home);
    REQUIRE_FALSE(chain);
    CHECK(chain.error().kind == base::ErrorKind::kVerification);
    CHECK(chain.error().what.find("block 4") != std::string::npos);

    Bytes flipped = whole;
    flipped[whole.size() / 2] ^= 1U;
    for (const bool with_index : {true, false}) {
        write_file(log, flipped);
        if (!with_index) std::filesystem::remove_all(Layout(home.path()).index);
        chain = open_home(home);
        REQUIRE_FALSE(chain);
        CHECK(chain.error().kind == base::ErrorKind::kVerification);
        CHECK(chain.error().what.find("block ") != std::string::npos);
        CHECK(read_file(log) == flipped);  // nothing was cut off
    }
}

TEST_CASE("a ledger takes the blocks that another made, and what does not follow changes nothing") {
    const TemporaryHome made;
    make_toy_ledger(made.path(), 5);
    const auto theirs = open_home(made);
    const TemporaryHome home;
    PosixDisk disk;
    REQUIRE(write_genesis(disk, Layout(home.path()).genesis, toy_genesis()));
    {
        const auto chain = open_home(home);
        for (std::uint64_t height = 1; height <= 5; ++height) {
            const Block next = (*theirs)->block(height).value();
            Block forged = next;
            forged.signature.bytes[0] ^= 1U;
            std::vector<Block> wrong{forged};
            forged = next;
            forged.transactions.pop_back();
            wrong.push_back(forged);
            forged = next;
            forged.header.state_root.bytes[0] ^= 1U;
            forged.signature = sign_header(forged.header, "toy-1", test_key());
            wrong.push_back(forged);
            forged = next;
            forged.header.time_ms = 0;
            forged.signature = sign_header(forged.header, "toy-1", test_key());
            if (height > 2) wrong.push_back(forged);  // the first two have the times 0 and 1
            if (height > 1) wrong.push_back((*theirs)->block(height - 1).value());
            if (height < 5) wrong.push_back((*theirs)->block(height + 1).value());
            for (const Block& block : wrong) {
                const auto refused = (*chain)->adopt(block);
                REQUIRE_FALSE(refused);
                CHECK(refused.error().kind == base::ErrorKind::kVerification);
                CHECK(refused.error().what.find("block " + std::to_string(height)) == 0);
                CHECK((*chain)->height() == height - 1);
            }
            REQUIRE((*chain)->adopt(next));
        }
        CHECK((*chain)->tip() == (*theirs)->tip());
        CHECK((*chain)->state_root() == (*theirs)->state_root());
    }
    CHECK(read_file(Layout(home.path()).log) == read_file(Layout(made.path()).log));
    const auto again = open_home(home);
    REQUIRE(again);
    CHECK((*again)->height() == 5);
    CHECK((*again)->notes().empty());
}

TEST_CASE("a block that is not stored stops a ledger that takes another's, and the next start goes on") {
    const TemporaryHome made;
    make_toy_ledger(made.path(), 3);
    const auto theirs = open_home(made);
    int failed = 0;
    for (std::uint64_t call = 1;; ++call) {
        INFO("call " << call);
        Faults faults;
        FaultyDisk disk(faults);
        MemoryProvider provider(faults);
        REQUIRE(write_genesis(disk, Layout("home").genesis, toy_genesis()));
        {
            const auto chain = Chain::open(disk, provider, kMachine, "home");
            REQUIRE((*chain)->adopt((*theirs)->block(1).value()));
            faults.at = faults.calls + call;
            if ((*chain)->adopt((*theirs)->block(2).value())) break;  // it makes fewer calls than this
            ++failed;
            CHECK_FALSE((*chain)->adopt((*theirs)->block(2).value()));
        }
        faults.restart();
        const auto chain = Chain::open(disk, provider, kMachine, "home");
        REQUIRE(chain);
        while ((*chain)->height() < 3)
            REQUIRE((*chain)->adopt((*theirs)->block((*chain)->height() + 1).value()));
        CHECK((*chain)->tip() == (*theirs)->tip());
    }
    CHECK(failed >= 3);  // written, synced, and the state behind it
}

TEST_CASE("refused transactions stay out of the block, and nothing to do makes no block") {
    const TemporaryHome home;
    make_toy_ledger(home.path(), 1);
    const auto chain = open_home(home);
    const base::SecretKey key = test_key();
    auto appended = (*chain)->append({toy_transaction(3, 0, kRefusedValue)}, EmptyBlock::kSkip, 1, key);
    REQUIRE(appended);
    CHECK_FALSE(appended->block);
    REQUIRE(appended->refused.size() == 1);
    CHECK(appended->refused[0].code == 7);
    CHECK((*chain)->height() == 1);
    appended = (*chain)->append({toy_transaction(3, 0, kRefusedValue), toy_transaction(3, 0, 1)},
                                EmptyBlock::kSkip, 1, key);
    REQUIRE(appended->block);
    CHECK(appended->refused.size() == 1);
    CHECK(appended->block->results.transactions.size() == 1);
    appended = (*chain)->append({}, EmptyBlock::kMake, 1, key);
    CHECK(appended->block);
    CHECK((*chain)->height() == 3);
}

TEST_CASE("a broken invariant stops the chain before anything is written") {
    const TemporaryHome home;
    make_toy_ledger(home.path(), 2);
    const Bytes before = read_file(Layout(home.path()).log);
    const auto chain = open_home(home);
    const auto broken =
        (*chain)->append({toy_transaction(1, 2, kBreakingValue)}, EmptyBlock::kSkip, 1, test_key());
    REQUIRE_FALSE(broken);
    CHECK(broken.error().what.find("sum of the values") != std::string::npos);
    CHECK((*chain)->stopped());
    CHECK_FALSE((*chain)->append({toy_transaction(1, 2, 5)}, EmptyBlock::kSkip, 1, test_key()));
    CHECK(read_file(Layout(home.path()).log) == before);
}

TEST_CASE("a genesis file is not replaced by another, and a missing one is named") {
    const TemporaryHome home;
    make_toy_ledger(home.path(), 1);
    PosixDisk disk;
    const auto other = write_genesis(disk, Layout(home.path()).genesis, toy_genesis("toy-2"));
    REQUIRE_FALSE(other);
    CHECK(other.error().kind == base::ErrorKind::kUsage);
    CHECK(write_genesis(disk, Layout(home.path()).genesis, toy_genesis()));
    CHECK_FALSE(write_genesis(disk, home.path() + "/x/genesis.bin", toy_genesis("Toy 1")));
    const TemporaryHome empty;
    CHECK(open_home(empty).error().kind == base::ErrorKind::kNotFound);
}

TEST_CASE("an index whose state was changed is not believed") {
    Faults faults;
    FaultyDisk disk(faults);
    MemoryProvider provider(faults);
    REQUIRE(write_genesis(disk, Layout("home").genesis, toy_genesis()));
    {
        const auto chain = Chain::open(disk, provider, kMachine, "home");
        REQUIRE((*chain)->append({toy_transaction(1, 0, 5)}, EmptyBlock::kSkip, 1, test_key()));
    }
    for (auto& [key, value] : provider.values) {
        if (key.front() == 's' && !value.empty()) value.back() ^= 1U;
    }
    const auto chain = Chain::open(disk, provider, kMachine, "home");
    REQUIRE(chain);
    CHECK(ToyMachine::number((*chain)->state(), "total") == 5);
    const auto& notes = (*chain)->notes();
    CHECK(notes.front().find("another root") != std::string::npos);
    // Nothing is deleted without a word.
    CHECK(std::any_of(notes.begin(), notes.end(), [](const std::string& note) {
        return note.find("the index is deleted") != std::string::npos;
    }));
}

TEST_CASE("a block counts when its proposer is a validator whose power alone decides") {
    const base::SecretKey key = test_key();
    const PublicKey other = test_key(9).public_key();
    Block block;
    block.header.chain = chain_hash("toy-1");
    block.header.height = 1;
    block.header.transactions_root = transactions_root({});
    block.header.proposer = key.public_key();
    block.signature = sign_header(block.header, "toy-1", key);
    const auto verdict = [&](std::uint64_t power, std::uint64_t of_the_other) {
        const auto checked =
            check_block(block, "toy-1", 1, {}, {{{key.public_key(), power}, {other, of_the_other}}});
        return checked ? std::string() : checked.error().what;
    };
    CHECK(check_block(block, "toy-1", 1, {}, contracts::ValidatorSet::of_one(key.public_key())));
    CHECK(verdict(3, 1).empty());
    CHECK(verdict(2, 1).find("2 of 3 votes") != std::string::npos);
    CHECK(verdict(1, 5).find("1 of 6 votes") != std::string::npos);
    const auto strange = check_block(block, "toy-1", 1, {}, contracts::ValidatorSet::of_one(other));
    REQUIRE_FALSE(strange);
    CHECK(strange.error().what.find("no validator's") != std::string::npos);
    // A header that nobody signed is refused before what it commits to is hashed.
    Block forged = block;
    forged.transactions = {Bytes{1}};
    const auto own = contracts::ValidatorSet::of_one(key.public_key());
    CHECK(check_block(forged, "toy-1", 1, {}, own).error().what.find("commits to") != std::string::npos);
    forged.signature = {};
    CHECK(check_block(forged, "toy-1", 1, {}, own).error().what.find("signature") != std::string::npos);
}
