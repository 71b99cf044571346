// SPDX-License-Identifier: Apache-2.0
// A log of years: what a node keeps of it in memory, and how it finds a block.
#include "ledger/store/block_log.hpp"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <random>
#include <vector>

#include "ledger/store/posix_disk.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/faulty_disk.hpp"
#include "tests/support/heap_peak.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace assay;
using namespace assay::ledger;
using namespace assay::ledger::testing;

namespace {

/// Blocks of different lengths, which a log takes for what they are: it judges no header.
Block block_of(std::uint64_t height) {
    Block block;
    block.header.height = height;
    block.transactions = {Bytes(height % 37, 7)};
    return block;
}

constexpr std::uint64_t kBlocks = 2 * kMarkEvery + 100;

struct LongLog {
    LongLog() {
        open();
        for (std::uint64_t height = 1; height <= kBlocks; ++height) REQUIRE(log->append(block_of(height)));
    }
    void open() { log = BlockLog::open(disk, "d/log", {}, std::nullopt).value(); }
    [[nodiscard]] bool gives(std::uint64_t height) const {
        const auto block = log->read(height);
        REQUIRE(block);
        return base::encode(*block) == base::encode(block_of(height));
    }
    Faults faults;
    FaultyDisk disk{faults};
    std::unique_ptr<BlockLog> log;
};

}  // namespace

TEST_CASE("a log of a million blocks opens with little memory, and goes on") {
    constexpr std::uint64_t kMany = 1'000'000;
    const test::TemporaryFolder folder;
    const std::string path = (folder / "log").string();
    {
        std::ofstream file(path, std::ios::binary);
        const auto write = [&](ByteView bytes) {
            file.write(reinterpret_cast<const char*>(bytes.data()),
                       static_cast<std::streamsize>(bytes.size()));
        };
        write(log_header({}));
        const Bytes frame = make_frame({});
        for (std::uint64_t i = 0; i < kMany; ++i) write(frame);
    }
    PosixDisk disk;
    tests::forget_heap_peak();
    const std::uint64_t before = tests::heap_in_use();
    const auto log = BlockLog::open(disk, path, {}, kMany);
    REQUIRE(log);
    CHECK((*log)->height() == kMany);
    CHECK(tests::heap_peak() - before < 256 * 1024);
    REQUIRE((*log)->append(block_of(kMany + 1)));
    CHECK((*log)->read(kMany + 1)->header.height == kMany + 1);
}

TEST_CASE("a log gives every block in any order, before and after it is opened again") {
    LongLog logged;
    std::vector<std::uint64_t> order(kBlocks);
    std::iota(order.begin(), order.end(), 1);
    std::mt19937_64 random(20);
    for (int life = 0; life < 2; ++life, logged.open()) {
        CHECK(std::all_of(order.begin(), order.end(), [&](auto height) { return logged.gives(height); }));
        CHECK(std::all_of(order.rbegin(), order.rend(), [&](auto height) { return logged.gives(height); }));
        std::vector<std::uint64_t> mixed = order;
        std::shuffle(mixed.begin(), mixed.end(), random);
        CHECK(std::all_of(mixed.begin(), mixed.end(), [&](auto height) { return logged.gives(height); }));
    }
}

TEST_CASE("a frame that is damaged while a node runs is named, and hides only what its length leads to") {
    LongLog logged;
    Bytes& bytes = logged.disk.bytes("d/log");
    std::size_t offset = kLogHeaderSize;
    const std::uint64_t damaged = kMarkEvery + 40;
    for (std::uint64_t height = 1; height < damaged; ++height)
        offset += make_frame(base::encode(block_of(height))).size();
    bytes[offset + 5] ^= 1U;
    for (const std::uint64_t height : {damaged, damaged + 1, 2 * kMarkEvery}) {
        const auto lost = logged.log->read(height);
        REQUIRE_FALSE(lost);
        CHECK(lost.error().kind == base::ErrorKind::kVerification);
        CHECK(lost.error().what.find("block " + std::to_string(damaged) + " is damaged") !=
              std::string::npos);
    }
    CHECK(logged.gives(damaged - 1));
    CHECK(logged.gives(1));
    CHECK(logged.gives(2 * kMarkEvery + 1));
    CHECK(logged.gives(kBlocks));
}
