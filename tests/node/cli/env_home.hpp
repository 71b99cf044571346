// SPDX-License-Identifier: Apache-2.0
// A chain that the rules' own test language played, as the ledger of a home.
#pragma once

#include <filesystem>

#include "ledger/application/rules_machine.hpp"
#include "ledger/engine/chain.hpp"
#include "ledger/store/posix_disk.hpp"
#include "tests/contracts/rules/env.hpp"
#include "tests/support/catch.hpp"

namespace assay::test {

inline ledger::Genesis genesis_of(const contracts::test::Env& env) {
    return {.chain_id = env.chain(),
            .validators = contracts::validators_of(env.configuration()),
            .rules = base::encode(env.configuration())};
}

/// REQUIRES that only transactions changed the state.
inline void write_ledger(contracts::test::Env& env, const std::filesystem::path& folder) {
    const std::string home = folder.string();
    ledger::PosixDisk disk;
    REQUIRE(write_genesis(disk, ledger::Layout(home).genesis, genesis_of(env)));
    const auto provider = ledger::leveldb_provider(ledger::Layout(home).index);
    auto chain = ledger::Chain::open(disk, *provider, ledger::rules_machine(), home);
    REQUIRE(chain);
    std::uint64_t time = 0;
    for (const auto& transactions : env.blocks())
        REQUIRE((*chain)->append(transactions, ledger::EmptyBlock::kMake, time += 36'000,
                                 env.person("sequencer").node));
}

}  // namespace assay::test
