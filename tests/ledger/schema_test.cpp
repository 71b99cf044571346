// SPDX-License-Identifier: Apache-2.0
// Opening the state that another version of the program left behind.
#include "contracts/rules/apply.hpp"
#include "contracts/rules/migration.hpp"
#include "contracts/rules/state/store.hpp"
#include "ledger/application/rules_machine.hpp"
#include "tests/contracts/rules/old_state.hpp"
#include "tests/ledger/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/faulty_disk.hpp"

using namespace assay;
using namespace assay::ledger;
using namespace assay::ledger::testing;

namespace {

/// A home with a genesis, no blocks, and an index that holds `state`.
void write_home(const std::string& home, const Genesis& genesis, const contracts::MemoryState& state) {
    PosixDisk disk;
    const Layout layout(home);
    REQUIRE(write_genesis(disk, layout.genesis, genesis).ok());
    auto store = leveldb_provider(layout.index)->open();
    REQUIRE(store.ok());
    Index index(std::move(store).value());
    std::map<Bytes, std::optional<Bytes>> changes;
    for (const auto& [key, value] : state.all()) changes.emplace(key, value);
    const Hash256 root = StateTree::build(state.all()).root();
    REQUIRE(index.commit({kIndexSchema, genesis.hash(), 0, genesis.hash(), root}, nullptr, changes, {}).ok());
}

contracts::GenesisConfig config_of(const Genesis& genesis) {
    contracts::GenesisConfig config;
    config.chain_id = genesis.chain_id;
    config.validators = {{test_key(2).public_key(), genesis.validators.validators.front().key}};
    return config;
}

Genesis rules_genesis() {
    Genesis genesis = toy_genesis("test-chain");
    genesis.rules = base::encode(config_of(genesis));
    return genesis;
}

}  // namespace

TEST_CASE("a ledger whose state is of a newer schema is refused when it is opened, and left as it is") {
    const TemporaryHome home;
    const Genesis genesis = rules_genesis();
    contracts::MemoryState state;
    REQUIRE(contracts::genesis(state, config_of(genesis)).ok());
    contracts::Meta meta = contracts::read_meta(state);
    meta.schema = contracts::kSchemaVersion + 1;
    contracts::store(state, contracts::meta_key(), meta);
    write_home(home.path(), genesis, state);
    PosixDisk disk;
    for (int attempt = 0; attempt < 2; ++attempt) {
        const auto provider = leveldb_provider(Layout(home.path()).index);
        const auto chain = Chain::open(disk, *provider, rules_machine(), home.path());
        REQUIRE_FALSE(chain.ok());
        CHECK(chain.error().kind == base::ErrorKind::kVerification);
        CHECK(chain.error().what.find("the state has schema " +
                                      std::to_string(contracts::kSchemaVersion + 1)) != std::string::npos);
        CHECK(chain.error().fix.find("newer") != std::string::npos);
    }
}

TEST_CASE("a ledger whose state is of schema 1 goes on: its next block migrates, and a restart finds it so") {
    const TemporaryHome home;
    const Genesis genesis = rules_genesis();
    write_home(home.path(), genesis, contracts::test::OldState().state);
    PosixDisk disk;
    Hash256 root;
    {
        const auto provider = leveldb_provider(Layout(home.path()).index);
        const auto chain = Chain::open(disk, *provider, rules_machine(), home.path());
        REQUIRE(chain.ok());
        CHECK(contracts::schema_of((*chain)->state()) == 1);
        REQUIRE((*chain)->append({}, EmptyBlock::kMake, 1, test_key()).ok());
        CHECK((*chain)->height() == 1);
        CHECK(contracts::schema_of((*chain)->state()) == contracts::kSchemaVersion);
        root = (*chain)->state_root();
    }
    const auto provider = leveldb_provider(Layout(home.path()).index);
    const auto chain = Chain::open(disk, *provider, rules_machine(), home.path());
    REQUIRE(chain.ok());
    CHECK((*chain)->height() == 1);
    CHECK((*chain)->state_root() == root);
    CHECK((*chain)->notes().empty());
}

TEST_CASE(
    "a damaged index of a chain that began under an older schema is left as it is, and the chain says why") {
    Faults faults;
    FaultyDisk disk(faults);
    MemoryProvider provider(faults);
    const Genesis genesis = rules_genesis();
    REQUIRE(write_genesis(disk, Layout("home").genesis, genesis).ok());
    const contracts::MemoryState old = contracts::test::OldState().state;
    const VerifiedState stored{.state = old, .tree = StateTree::build(old.all()), .tip = genesis.hash()};
    REQUIRE(store_anew(provider, stored, genesis).ok());
    const auto open = [&] { return Chain::open(disk, provider, rules_machine(), "home"); };
    REQUIRE((*open())->append({}, EmptyBlock::kMake, 1, test_key()).ok());

    const auto sound = provider.values;
    auto damaged = sound;
    damaged.at(Bytes{'m'}).push_back(0);  // the head
    for (const bool gone : {false, true}) {
        CAPTURE(gone);
        provider.values = gone ? std::map<Bytes, Bytes>{} : damaged;
        for (int attempt = 0; attempt < 2; ++attempt) {
            const auto refused = open();
            REQUIRE_FALSE(refused.ok());
            CHECK(refused.error().kind == base::ErrorKind::kVerification);
            CHECK(refused.error().what.find("began under an older schema") != std::string::npos);
            CHECK(refused.error().fix.find("put back a copy") != std::string::npos);
            if (!gone) CHECK(provider.values == damaged);
        }
    }
    provider.values = sound;
    CHECK((*open())->height() == 1);
}
