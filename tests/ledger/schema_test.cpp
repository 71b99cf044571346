// SPDX-License-Identifier: Apache-2.0
// Opening the state that another version of the program left behind.
#include "contracts/rules/apply.hpp"
#include "contracts/rules/migration.hpp"
#include "contracts/rules/state/store.hpp"
#include "ledger/application/rules_machine.hpp"
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

TEST_CASE(
    "a ledger whose state is of a newer or an older schema is refused when it is opened, and left as it is") {
    const std::uint32_t schema = GENERATE(contracts::kSchemaVersion + 1, contracts::kOldestSchema - 1);
    const TemporaryHome home;
    const Genesis genesis = rules_genesis();
    contracts::MemoryState state;
    REQUIRE(contracts::genesis(state, config_of(genesis)).ok());
    contracts::Meta meta = contracts::read_meta(state);
    meta.schema = schema;
    contracts::store(state, contracts::meta_key(), meta);
    write_home(home.path(), genesis, state);
    PosixDisk disk;
    for (int attempt = 0; attempt < 2; ++attempt) {
        const auto provider = leveldb_provider(Layout(home.path()).index);
        const auto chain = Chain::open(disk, *provider, rules_machine(), home.path());
        REQUIRE_FALSE(chain.ok());
        CHECK(chain.error().kind == base::ErrorKind::kVerification);
        CHECK(chain.error().what.find("the state has schema " + std::to_string(schema)) != std::string::npos);
        CHECK(chain.error().fix.find("the version of assay that wrote this ledger") != std::string::npos);
    }
}
