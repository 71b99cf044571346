// SPDX-License-Identifier: Apache-2.0
// A real chain in memory, as the sequencer has it: for tests of those who follow it.
#pragma once

#include "ledger/application/rules_machine.hpp"
#include "ledger/engine/chain.hpp"
#include "tests/node/small_chain.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/faulty_disk.hpp"

namespace assay::test {

struct MemoryLedger {
    MemoryLedger() {
        REQUIRE(ledger::write_genesis(disk, ledger::Layout("home").genesis, small_genesis()).ok());
        chain = ledger::Chain::open(disk, provider, ledger::rules_machine(), "home").value();
    }
    /// Makes the next block of these transactions.
    ledger::Block extend(const std::vector<base::Bytes>& transactions) {
        const base::SecretKey key = key_of("sequencer");
        REQUIRE(chain->append(transactions, ledger::EmptyBlock::kMake, ++time, key)->refused.empty());
        return chain->block(chain->height()).value();
    }
    /// The next `count` blocks, with one transfer each.
    void extend_by(int count) {
        for (int i = 0; i < count; ++i) extend({transfer(next_transfer++)});
    }
    [[nodiscard]] base::Bytes block(std::uint64_t height) const {
        return base::encode(chain->block(height).value());
    }

    ledger::testing::Faults faults;
    ledger::testing::FaultyDisk disk{faults};
    ledger::testing::MemoryProvider provider{faults};
    std::unique_ptr<ledger::Chain> chain;
    std::uint64_t time = 0;
    std::uint64_t next_transfer = 0;
};

}  // namespace assay::test
