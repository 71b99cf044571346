// SPDX-License-Identifier: Apache-2.0
#include "ledger/genesis.hpp"

#include "contracts/rules/apply.hpp"
#include "contracts/rules/state/limits.hpp"
#include "ledger/posix_disk.hpp"
#include "ledger/rules_machine.hpp"
#include "tests/ledger/toy_machine.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace assay;
using namespace assay::ledger;
using namespace assay::ledger::testing;

namespace {

Genesis genesis_of(std::size_t accounts) {
    contracts::GenesisConfig config;
    config.chain_id = std::string(contracts::kMaxChainIdBytes, 'c');
    for (std::size_t i = 0; i < accounts; ++i) {
        PublicKey owner;
        owner.bytes.fill(7);
        for (std::size_t byte = 0; byte < 4; ++byte) {
            owner.bytes[byte] = static_cast<std::uint8_t>(i >> (24 - 8 * byte));
        }
        config.balances.emplace_back(owner, base::units(1));
    }
    config.sequencer_owner = test_key(2).public_key();
    config.sequencer_node = test_key().public_key();
    config.sequencer_endpoint = "127.0.0.1:1";
    return {.version = 1,
            .chain_id = config.chain_id,
            .sequencer = config.sequencer_node,
            .rules = base::encode(config)};
}

}  // namespace

TEST_CASE("a genesis with as many accounts as the rules take is written, read and obeyed") {
    const test::TemporaryFolder folder;
    PosixDisk disk;
    const std::string path = (folder / "genesis.bin").string();
    const Genesis genesis = genesis_of(contracts::kMaxGenesisAccounts);
    REQUIRE(write_genesis(disk, path, genesis).ok());
    const auto read = read_genesis(disk, path);
    REQUIRE(read.ok());
    REQUIRE(read->hash() == genesis.hash());
    // Written once more, as at every start that names the file, it is found to be the same.
    REQUIRE(write_genesis(disk, path, genesis).ok());
    contracts::MemoryState state;
    REQUIRE(rules_machine().genesis(state, read->chain_id, read->rules).ok());
    const Genesis one_more = genesis_of(contracts::kMaxGenesisAccounts + 1);
    contracts::MemoryState unused;
    REQUIRE_FALSE(rules_machine().genesis(unused, one_more.chain_id, one_more.rules).ok());
}

TEST_CASE("a genesis file longer than any genesis is refused by its length") {
    const test::TemporaryFolder folder;
    PosixDisk disk;
    const std::string path = (folder / "genesis.bin").string();
    {
        const auto file = disk.open(path).value();
        REQUIRE(file->append(Bytes(5U << 20U, 1)).ok());
    }
    const auto read = read_genesis(disk, path);
    REQUIRE(read.error().kind == base::ErrorKind::kUsage);
    REQUIRE(read.error().what.find("100000 balances") != std::string::npos);
    REQUIRE(write_genesis(disk, (folder / "more.bin").string(),
                          genesis_of(contracts::kMaxGenesisAccounts + 10'000))
                .error()
                .kind == base::ErrorKind::kUsage);
}
