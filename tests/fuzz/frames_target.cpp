// SPDX-License-Identifier: Apache-2.0
// The reader of the block log: any file opens or is refused, never half of both; opening it a second time
// finds nothing left to repair.
#include <random>

#include "ledger/store/block_log.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/support/faulty_disk.hpp"

namespace assay::fuzz {

std::vector<base::Bytes> seeds() {
    base::Bytes file = ledger::log_header({});
    for (std::uint8_t height = 1; height <= 3; ++height) {
        ledger::Block block;
        block.header.height = height;
        block.transactions = {base::Bytes(height, height)};
        const base::Bytes frame = ledger::make_frame(base::encode(block));
        file.insert(file.end(), frame.begin(), frame.end());
    }
    return {file};
}

void run(base::ByteView input) {
    for (const std::optional<std::uint64_t> acknowledged : {std::optional<std::uint64_t>{}, {0}, {2}}) {
        ledger::testing::Faults faults;
        ledger::testing::FaultyDisk disk(faults);
        ASSAY_CHECK((*disk.open("d/log"))->append(input).ok());
        {
            const auto log = ledger::BlockLog::open(disk, "d/log", {}, acknowledged);
            if (!log) {
                ASSAY_CHECK(disk.bytes("d/log") == base::to_bytes(input));  // refused means untouched
                continue;
            }
            ASSAY_CHECK(!acknowledged || (*log)->height() >= *acknowledged);
            for (std::uint64_t height = 1; height <= (*log)->height(); ++height) {
                const auto block = (*log)->read(height);
                ASSAY_CHECK(block.ok() || block.error().kind == base::ErrorKind::kVerification);
            }
        }
        const auto again = ledger::BlockLog::open(disk, "d/log", {}, acknowledged);
        ASSAY_CHECK(again.ok() && (*again)->note().empty());
    }
}

}  // namespace assay::fuzz
