// SPDX-License-Identifier: Apache-2.0
#include "ledger/store/genesis.hpp"

#include <algorithm>

#include "contracts/rules/apply.hpp"
#include "contracts/rules/state/limits.hpp"
#include "ledger/application/rules_machine.hpp"
#include "ledger/audit/audit.hpp"
#include "ledger/engine/chain.hpp"
#include "ledger/store/posix_disk.hpp"
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
    config.validators = {{test_key(2).public_key(), test_key().public_key()}};
    return {.chain_id = config.chain_id,
            .validators = contracts::validators_of(config),
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
    REQUIRE(rules_machine().genesis(state, *read).ok());
    const Genesis one_more = genesis_of(contracts::kMaxGenesisAccounts + 1);
    contracts::MemoryState unused;
    REQUIRE_FALSE(rules_machine().genesis(unused, one_more).ok());
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

TEST_CASE("a genesis names a validator set, in order and weighed, or is refused by what is wrong") {
    const test::TemporaryFolder folder;
    PosixDisk disk;
    Genesis genesis = toy_genesis();
    const PublicKey one = genesis.validators.validators.front().key;
    const PublicKey other = test_key(9).public_key();
    const auto [low, high] = std::minmax(one, other);
    genesis.validators = {{{low, 2}, {high, 5}}};
    const auto read = parse_genesis(genesis_file(genesis));
    REQUIRE(read);
    CHECK(read->validators == genesis.validators);
    CHECK(read->hash() == genesis.hash());
    const std::vector<std::pair<contracts::ValidatorSet, std::string>> wrong = {
        {{}, "no validator"},
        {{{{high, 1}, {low, 1}}}, "ascend"},
        {{{{low, 1}, {low, 1}}}, "ascend"},
        {{{{low, 0}}}, "above zero"},
        {{{{low, contracts::kMaxTotalPower}, {high, 1}}}, "too much"},
    };
    for (const auto& [set, expected] : wrong) {
        genesis.validators = set;
        const auto refused = parse_genesis(genesis_file(genesis));
        REQUIRE_FALSE(refused);
        CHECK(refused.error().kind == base::ErrorKind::kVerification);
        CHECK(refused.error().what.find(expected) != std::string::npos);
        CHECK_FALSE(write_genesis(disk, (folder / "genesis.bin").string(), genesis));
    }
    // The embedded engine orders alone.
    genesis.validators = {{{low, 2}, {high, 5}}};
    const std::string home = (folder / "home").string();
    REQUIRE(write_genesis(disk, Layout(home).genesis, genesis));
    const auto provider = leveldb_provider(Layout(home).index);
    const auto chain = Chain::open(disk, *provider, kMachine, home);
    REQUIRE_FALSE(chain);
    CHECK(chain.error().kind == base::ErrorKind::kUsage);
    CHECK(chain.error().what.find("names 2 validators") != std::string::npos);
}

TEST_CASE("a set of whose validators none decides alone has no block log, and its readers say so by name") {
    const auto set_of = [](const std::vector<std::uint64_t>& powers) {
        contracts::ValidatorSet set;
        for (std::size_t i = 0; i < powers.size(); ++i)
            set.validators.push_back({test_key(static_cast<std::uint8_t>(i + 1)).public_key(), powers[i]});
        std::sort(set.validators.begin(), set.validators.end(),
                  [](const auto& a, const auto& b) { return a.key < b.key; });
        return set;
    };
    for (const auto& powers : std::vector<std::vector<std::uint64_t>>{{1}, {3, 1}, {1, 9, 2}})
        CHECK(check_one_signature(set_of(powers)));
    for (const auto& powers : std::vector<std::vector<std::uint64_t>>{{1, 1}, {1, 1, 1, 1}, {2, 1}}) {
        const auto refused = check_one_signature(set_of(powers));
        REQUIRE_FALSE(refused);
        CHECK(refused.error().kind == base::ErrorKind::kUsage);
        CHECK(refused.error().what.find("more than two thirds") != std::string::npos);
        CHECK_FALSE(refused.error().fix.empty());
    }
    const test::TemporaryFolder folder;
    const std::string home = (folder / "home").string();
    PosixDisk disk;
    Genesis genesis = toy_genesis();
    genesis.validators = set_of({1, 1, 1, 1});
    REQUIRE(write_genesis(disk, Layout(home).genesis, genesis));
    const auto report = audit_ledger(kMachine, home);
    REQUIRE(report);
    REQUIRE(report->failures.size() == 1);
    CHECK(report->failures[0].what.find("names 4 validators") != std::string::npos);
}

TEST_CASE(
    "a genesis of version 1 is a set of its one key under the hash that it had; an unknown version is "
    "named") {
    // As the program before validator sets wrote it: version, chain id, key, rules.
    const PublicKey key = test_key().public_key();
    const Bytes record = base::encode(
        std::pair(std::pair(std::uint32_t{1}, std::string("toy-1")), std::pair(key, Bytes{1, 2, 3})));
    Bytes file = base::to_bytes(base::as_bytes("AGENES01"));
    const auto add = [&](ByteView bytes) { file.insert(file.end(), bytes.begin(), bytes.end()); };
    add(record);
    const Hash256 hash = base::hash("assay/genesis", record);
    add(hash.view());
    const auto read = parse_genesis(file);
    REQUIRE(read);
    CHECK(read->version == kGenesisOfOneKey);
    CHECK(read->validators == contracts::ValidatorSet::of_one(key));
    CHECK(read->rules == Bytes{1, 2, 3});
    CHECK(read->hash() == hash);
    CHECK(genesis_file(*read) == file);
    // Its ledger's state is there or lost: the rules cannot make its first one again.
    contracts::MemoryState state;
    const auto made = rules_machine().genesis(state, *read);
    REQUIRE_FALSE(made);
    CHECK(made.error().what.find("version 1 is of an earlier program") != std::string::npos);

    Genesis later = toy_genesis();
    later.version = 3;
    const auto unknown = parse_genesis(genesis_file(later));
    REQUIRE_FALSE(unknown);
    CHECK(unknown.error().what == "genesis file: version 3 is unknown");
}

TEST_CASE("a genesis whose rules name other validators than its own makes no state") {
    Genesis genesis = genesis_of(1);
    genesis.validators = contracts::ValidatorSet::of_one(test_key(5).public_key());
    contracts::MemoryState state;
    const auto made = rules_machine().genesis(state, genesis);
    REQUIRE_FALSE(made);
    CHECK(made.error().what.find("names other validators") != std::string::npos);
    CHECK(state.all().empty());
}
