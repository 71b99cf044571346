// SPDX-License-Identifier: Apache-2.0
// The crash campaign: a ledger is killed at every single call that changes the disk or the index, the machine
// forgets or tears what was not synced, and the next start must have every acknowledged block. A second crash
// hits the recovery itself. Below it, torn tails of which a sender chose the bytes.
#include <random>

#include "ledger/engine/chain.hpp"
#include "tests/ledger/toy_machine.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/faulty_disk.hpp"

using namespace assay;
using namespace assay::ledger;
using namespace assay::ledger::testing;

namespace {

constexpr int kBlocks = 6;

struct Campaign {
    std::uint64_t runs = 0, lost = 0, torn = 0, recovery_crashes = 0;
};

// Starts the ledger and appends until `kBlocks` blocks or a failure. Returns the acknowledged header hashes
// by height.
std::map<std::uint64_t, Hash256> work(FaultyDisk& disk, MemoryProvider& provider,
                                      const ChainOptions& options) {
    std::map<std::uint64_t, Hash256> acknowledged;
    const base::SecretKey key = test_key();
    if (!write_genesis(disk, Layout("home").genesis, toy_genesis())) return acknowledged;
    auto chain = Chain::open(disk, provider, kMachine, "home", options);
    if (!chain) return acknowledged;
    while ((*chain)->height() < kBlocks) {
        const std::uint64_t nonce = (*chain)->height();
        const auto appended =
            (*chain)->append({toy_transaction(1, nonce, nonce + 5)}, EmptyBlock::kSkip, nonce, key);
        if (!appended) break;
        acknowledged[(*chain)->height()] = appended->block->hash;
    }
    return acknowledged;
}

void check_recovered(FaultyDisk& disk, MemoryProvider& provider,
                     const std::map<std::uint64_t, Hash256>& acknowledged, Campaign& campaign) {
    const auto chain = Chain::open(disk, provider, kMachine, "home");
    if (!chain) {
        // Nothing was acknowledged before the genesis file was durable.
        if (!acknowledged.empty()) ++campaign.lost;
        if (acknowledged.empty() && chain.error().kind != base::ErrorKind::kNotFound) {
            INFO(chain.error().what);
            CHECK(chain.error().what.find("genesis") != std::string::npos);
        }
        return;
    }
    if (!(*chain)->notes().empty()) ++campaign.torn;
    for (const auto& [height, hash] : acknowledged) {
        const auto block = (*chain)->block(height);
        if (!block || block->header.hash() != hash) ++campaign.lost;
    }
}

// Every crash point once, for one way of losing unsynced bytes.
Campaign run(Unsynced mode, Fault fault, const ChainOptions& options, std::uint64_t seed) {
    Campaign campaign;
    Faults count;
    {
        FaultyDisk disk(count);
        MemoryProvider provider(count);
        REQUIRE(work(disk, provider, options).size() == kBlocks);
    }
    std::mt19937_64 random(seed);
    for (std::uint64_t at = 1; at <= count.calls; ++at) {
        Faults faults;
        faults.at = at;
        faults.fault = fault;
        FaultyDisk disk(faults);
        MemoryProvider provider(faults);
        auto acknowledged = work(disk, provider, options);
        disk.crash(mode, random);
        faults.restart();
        // A crash during recovery, at a random one of its calls, and then work again.
        faults.at = faults.calls + 1 + random() % 6;
        const std::uint64_t before = faults.calls;
        for (auto& [height, hash] : work(disk, provider, options)) acknowledged[height] = hash;
        if (faults.dead && faults.calls > before) ++campaign.recovery_crashes;
        disk.crash(mode, random);
        faults.restart();
        ++campaign.runs;
        check_recovered(disk, provider, acknowledged, campaign);
    }
    return campaign;
}

// A log of blocks that hold these transactions, one each.
Bytes log_of(const std::vector<Bytes>& transactions) {
    Bytes file = log_header({});
    Hash256 parent;
    std::uint64_t height = 0;
    for (const Bytes& transaction : transactions) {
        Block block;
        block.header.height = ++height;
        block.header.parent = parent;
        block.transactions = {transaction};
        block.header.transactions_root = transactions_root(block.transactions);
        parent = block.header.hash();
        const Bytes frame = make_frame(base::encode(block));
        file.insert(file.end(), frame.begin(), frame.end());
    }
    return file;
}

// What opening a log gave, and the file that it left.
struct OpenedLog {
    std::optional<std::uint64_t> height;  // nothing when it was refused
    std::string word;                     // the note, or the error
    Bytes file;
    std::uint64_t read = 0;  // bytes of the file
};

// Counts what is read of a file.
class ReadCountingDisk final : public Disk {
public:
    explicit ReadCountingDisk(FaultyDisk& disk) : disk_(disk) {}
    Outcome<std::unique_ptr<LogFile>> open(const std::string& path) override {
        ASSAY_ASSIGN(auto file, disk_.open(path));
        return std::unique_ptr<LogFile>(std::make_unique<CountedFile>(std::move(file), read));
    }
    Outcome<std::unique_ptr<LogFile>> open_to_read(const std::string& path) override { return open(path); }
    Outcome<bool> exists(const std::string& path) override { return disk_.exists(path); }
    Outcome<void> make_directories(const std::string& path) override { return disk_.make_directories(path); }
    Outcome<void> sync_directory(const std::string& path) override { return disk_.sync_directory(path); }
    Outcome<std::uint64_t> free_bytes(const std::string& path) override { return disk_.free_bytes(path); }

    std::uint64_t read = 0;

private:
    class CountedFile final : public LogFile {
    public:
        CountedFile(std::unique_ptr<LogFile> file, std::uint64_t& read)
            : file_(std::move(file)), read_(read) {}
        Outcome<void> append(ByteView bytes) override { return file_->append(bytes); }
        Outcome<void> sync() override { return file_->sync(); }
        Outcome<Bytes> read(std::uint64_t offset, std::size_t size) const override {
            auto bytes = file_->read(offset, size);
            if (bytes) read_ += bytes->size();
            return bytes;
        }
        Outcome<std::uint64_t> size() const override { return file_->size(); }
        Outcome<void> truncate(std::uint64_t size) override { return file_->truncate(size); }

    private:
        std::unique_ptr<LogFile> file_;
        std::uint64_t& read_;
    };

    FaultyDisk& disk_;
};

OpenedLog open_log(const Bytes& file, std::optional<std::uint64_t> acknowledged) {
    Faults faults;
    FaultyDisk disk(faults);
    REQUIRE((*disk.open("d/log"))->append(file));
    ReadCountingDisk counting(disk);
    const auto log = BlockLog::open(counting, "d/log", {}, acknowledged);
    OpenedLog opened{{}, log ? (*log)->note() : log.error().what, disk.bytes("d/log"), counting.read};
    if (log) opened.height = (*log)->height();
    if (!log) CHECK(log.error().kind == base::ErrorKind::kVerification);
    return opened;
}

Bytes first_bytes(const Bytes& file, std::size_t size) { return base::to_bytes(ByteView(file).first(size)); }

// The file with `count` bytes from `offset` on set to zero, as where a page never reached the disk.
Bytes without_bytes(Bytes file, std::size_t offset, std::size_t count) {
    for (std::size_t i = offset; i < std::min(offset + count, file.size()); ++i) file[i] = 0;
    return file;
}

Bytes with_other_end(Bytes file) {
    file.back() ^= 1U;
    return file;
}

// The bytes of a whole frame that holds a block above all others. A sender may put them into a transaction.
Bytes planted_block() {
    Block block;
    block.header.height = 1000;
    block.transactions = {Bytes(10, 7)};
    block.header.transactions_root = transactions_root(block.transactions);
    return make_frame(base::encode(block));
}

}  // namespace

TEST_CASE("F6: no crash point loses an acknowledged block, and recovery survives crashes too") {
    Campaign all;
    std::uint64_t seed = 1;
    for (const Unsynced mode : {Unsynced::kKeep, Unsynced::kDrop, Unsynced::kTear, Unsynced::kGarbage}) {
        for (const Fault fault : {Fault::kKillBefore, Fault::kKillAfter}) {
            for (int repeat = 0; repeat < 5; ++repeat, ++seed) {
                const Campaign one = run(mode, fault, {}, seed);
                INFO("mode " << static_cast<int>(mode) << " seed " << seed);
                REQUIRE(one.lost == 0);
                all.runs += one.runs;
                all.torn += one.torn;
                all.recovery_crashes += one.recovery_crashes;
            }
        }
    }
    CAPTURE(all.runs, all.torn, all.recovery_crashes);
    CHECK(all.runs > 500);
    CHECK(all.torn > 0);
    CHECK(all.recovery_crashes > 100);
}

TEST_CASE("F6: the harness notices a ledger that acknowledges before it syncs") {
    ChainOptions options;
    options.log.sync_before_acknowledge = false;
    CHECK(run(Unsynced::kDrop, Fault::kKillBefore, options, 1).lost > 0);
    // As reliability measurements say: killing the process alone would never show it.
    CHECK(run(Unsynced::kKeep, Fault::kKillBefore, options, 1).lost == 0);
}

TEST_CASE("F5: the first failed write or sync stops the ledger, even when later ones would work") {
    for (const Fault fault : {Fault::kNoSpace, Fault::kIoError}) {
        Faults count;
        {
            FaultyDisk disk(count);
            MemoryProvider provider(count);
            REQUIRE(work(disk, provider, {}).size() == kBlocks);
        }
        for (std::uint64_t at = 1; at <= count.calls; ++at) {
            Faults faults;
            faults.at = at;
            faults.fault = fault;
            FaultyDisk disk(faults);
            MemoryProvider provider(faults);
            const base::SecretKey key = test_key();
            std::map<std::uint64_t, Hash256> acknowledged;
            if (write_genesis(disk, Layout("home").genesis, toy_genesis())) {
                auto chain = Chain::open(disk, provider, kMachine, "home");
                for (std::uint64_t n = 0; chain && n < 2 * kBlocks; ++n) {
                    const bool was_stopped = (*chain)->stopped();
                    const std::uint64_t nonce = (*chain)->height();
                    const auto appended =
                        (*chain)->append({toy_transaction(1, nonce, 5)}, EmptyBlock::kSkip, nonce, key);
                    if (was_stopped) REQUIRE_FALSE(appended.ok());
                    if (appended) acknowledged[(*chain)->height()] = appended->block->hash;
                }
                if (chain && (*chain)->height() < 2 * kBlocks) REQUIRE((*chain)->stopped());
            }
            std::mt19937_64 random(at);
            disk.crash(Unsynced::kTear, random);
            faults.restart();
            Campaign campaign;
            check_recovered(disk, provider, acknowledged, campaign);
            REQUIRE(campaign.lost == 0);
        }
    }
}

TEST_CASE("a disk below the free-space reserve refuses blocks, changes nothing, and works again when freed") {
    Faults faults;
    FaultyDisk disk(faults);
    MemoryProvider provider(faults);
    const base::SecretKey key = test_key();
    REQUIRE(write_genesis(disk, Layout("home").genesis, toy_genesis()));
    const auto chain = Chain::open(disk, provider, kMachine, "home");
    REQUIRE(chain);
    const Hash256 root = (*chain)->state_root();
    disk.set_free(1000);
    const auto refused = (*chain)->append({toy_transaction(1, 0, 5)}, EmptyBlock::kSkip, 1, key);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().what.find("in reserve") != std::string::npos);
    CHECK_FALSE((*chain)->stopped());
    CHECK((*chain)->state_root() == root);
    disk.set_free(1ULL << 40U);
    CHECK((*chain)->append({toy_transaction(1, 0, 5)}, EmptyBlock::kSkip, 1, key));
    CHECK((*chain)->height() == 1);
}

TEST_CASE("a torn block whose transaction holds the bytes of a frame is cut off, and the ledger starts") {
    const std::string path = Layout("home").log;
    Faults faults;
    FaultyDisk disk(faults);
    MemoryProvider provider(faults);
    REQUIRE(write_genesis(disk, Layout("home").genesis, toy_genesis()));
    const base::SecretKey key = test_key();
    std::map<Bytes, Bytes> index;  // as it is before the second block is acknowledged
    std::size_t kept = 0;
    Hash256 tip;
    {
        const auto chain = Chain::open(disk, provider, kMachine, "home");
        REQUIRE(chain);
        REQUIRE((*chain)->append({toy_transaction(1, 0, 5)}, EmptyBlock::kSkip, 0, key));
        index = provider.values;
        kept = disk.bytes(path).size();
        tip = (*chain)->tip();
        ToyTransaction planted{{}, 0, 5};
        const Bytes frame = make_frame({});  // 16 bytes, which fit any free field of 32
        std::copy(frame.begin(), frame.end(), planted.sender.bytes.begin());
        const std::vector<Bytes> candidates = {base::encode(planted), toy_transaction(2, 0, 5)};
        REQUIRE((*chain)->append(candidates, EmptyBlock::kSkip, 1, key));
        REQUIRE((*chain)->height() == 2);
    }
    const Bytes whole = disk.bytes(path);
    const auto starts_at_one = [&](const Bytes& file) {
        disk.bytes(path) = file;
        provider.values = index;
        const auto chain = Chain::open(disk, provider, kMachine, "home");
        if (!chain) FAIL(chain.error().what);
        REQUIRE((*chain)->height() == 1);
        REQUIRE((*chain)->tip() == tip);
        REQUIRE((*chain)->notes().size() == 1);
        REQUIRE((*chain)->notes()[0].find("were cut off") != std::string::npos);
        REQUIRE(disk.bytes(path) == first_bytes(whole, kept));
        REQUIRE((*chain)->append({toy_transaction(1, 1, 5)}, EmptyBlock::kSkip, 1, key));
    };
    for (std::size_t size = kept + 1; size < whole.size(); ++size) starts_at_one(first_bytes(whole, size));
    // The length reached the disk, and what the block begins with did not.
    for (const std::size_t lost : {1U, 16U, 24U, 228U, 296U}) starts_at_one(without_bytes(whole, kept, lost));
    starts_at_one(with_other_end(whole));
}

TEST_CASE("a torn block is cut off whatever blocks its transactions hold the bytes of") {
    Bytes planted = planted_block();
    for (int copy = 0; copy < 3; ++copy) {
        const Bytes more = planted_block();
        planted.insert(planted.end(), more.begin(), more.end());
    }
    const Bytes whole = log_of({Bytes(40, 1), planted});
    const std::size_t kept = log_of({Bytes(40, 1)}).size();
    for (std::size_t size = kept + 1; size < whole.size(); ++size) {
        for (const std::optional<std::uint64_t> acknowledged : {std::optional<std::uint64_t>{}, {0}, {1}}) {
            const OpenedLog opened = open_log(first_bytes(whole, size), acknowledged);
            INFO(size << " bytes: " << opened.word);
            REQUIRE(opened.height == 1U);
            REQUIRE(opened.file == first_bytes(whole, kept));
        }
        REQUIRE_FALSE(open_log(first_bytes(whole, size), 2).height);
        if (size < kept + kFrameHeaderSize) continue;
        // Without its frame header too, when the index says that nobody was told of it.
        const Bytes headless = without_bytes(first_bytes(whole, size), kept, kFrameHeaderSize);
        REQUIRE(open_log(headless, 1).file == first_bytes(whole, kept));
        REQUIRE_FALSE(open_log(headless, {}).height);
    }
}

TEST_CASE("a flip in a block that others follow is refused, whatever the index says was acknowledged") {
    const std::vector<Bytes> all = {Bytes(40, 1), Bytes(50, 2), Bytes(60, 3), Bytes(70, 4)};
    const Bytes whole = log_of(all);
    const std::size_t last = log_of({all[0], all[1], all[2]}).size();
    const std::vector<std::optional<std::uint64_t>> words = {{}, {0}, {1}, {2}, {3}, {4}};
    for (std::size_t at = kLogHeaderSize; at < whole.size(); ++at) {
        Bytes flipped = whole;
        flipped[at] ^= static_cast<std::uint8_t>(1U << (at % 8));
        for (const auto& acknowledged : words) {
            const OpenedLog opened = open_log(flipped, acknowledged);
            INFO("byte " << at << ", acknowledged "
                         << (acknowledged ? std::to_string(*acknowledged) : "unknown") << ": "
                         << opened.word);
            // Only of the last block can nobody have been told, and then the block before it is the index's.
            const bool torn = at >= last && acknowledged == 3U;
            REQUIRE(opened.height.has_value() == torn);
            REQUIRE(opened.file == (torn ? first_bytes(whole, last) : flipped));
            REQUIRE(opened.word.find("block ") != std::string::npos);
        }
    }
}

TEST_CASE("a damaged end that is longer than the longest block is refused: one append cannot have torn it") {
    Bytes file = log_of({Bytes(40, 1)});
    const std::size_t kept = file.size();
    file.resize(kept + kFrameHeaderSize + kMaxBlockBytes);
    CHECK(open_log(file, 1).height == 1U);
    file.push_back(0);
    const OpenedLog opened = open_log(file, 1);
    CHECK_FALSE(opened.height);
    CHECK(opened.word.find("bytes follow it") != std::string::npos);
}

TEST_CASE("opening a log reads no byte of a payload twice, whatever a sender wrote into it") {
    // Headers of frames that check, whose payloads do not: a search would sum up every one of these payloads.
    Bytes header = make_frame(Bytes(32'768));
    header.resize(kFrameHeaderSize);
    Bytes planted;
    for (int i = 0; i < 4096; ++i) planted.insert(planted.end(), header.begin(), header.end());
    const Bytes whole = log_of({Bytes(40, 1), planted});
    const std::size_t kept = log_of({Bytes(40, 1)}).size();
    const std::vector<Bytes> torn = {first_bytes(whole, whole.size() - 1),
                                     first_bytes(whole, whole.size() - planted.size() / 2),
                                     with_other_end(whole),
                                     without_bytes(whole, kept, kFrameHeaderSize),
                                     without_bytes(whole, kept, 300),
                                     without_bytes(whole, kept, 4096)};
    for (const Bytes& file : torn) {
        const OpenedLog opened = open_log(file, 1);
        INFO(opened.word);
        CHECK(opened.height == 1U);
        CHECK(opened.file == first_bytes(whole, kept));
        CHECK(opened.read <= file.size() + kFrameHeaderSize);
    }
}
