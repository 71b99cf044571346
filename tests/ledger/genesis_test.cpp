// SPDX-License-Identifier: Apache-2.0
#include "ledger/store/genesis.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "contracts/rules/apply.hpp"
#include "contracts/rules/state/limits.hpp"
#include "ledger/application/rules_machine.hpp"
#include "ledger/audit/audit.hpp"
#include "ledger/engine/chain.hpp"
#include "ledger/store/certificate.hpp"
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

TEST_CASE("a genesis is read without the right to write it, and reading makes no file") {
    const test::TemporaryFolder folder;
    PosixDisk disk;
    const std::string path = (folder / "genesis.bin").string();
    CHECK(read_genesis(disk, path).error().kind == base::ErrorKind::kNotFound);
    CHECK_FALSE(std::filesystem::exists(path));
    REQUIRE(write_genesis(disk, path, toy_genesis()).ok());
    // A superuser may write whatever the permissions say: the kernel tells how the file was opened.
    const int queue = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    REQUIRE(::inotify_add_watch(queue, path.c_str(), IN_CLOSE) >= 0);
    REQUIRE(read_genesis(disk, path).ok());
    inotify_event event{};
    REQUIRE(::read(queue, &event, sizeof event) == static_cast<ssize_t>(sizeof event));
    CHECK(event.mask == IN_CLOSE_NOWRITE);
    ::close(queue);
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
        CHECK(check_served(set_of(powers)));
    for (const auto& powers : std::vector<std::vector<std::uint64_t>>{{1, 1}, {1, 1, 1, 1}, {2, 1}}) {
        const auto refused = check_served(set_of(powers));
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

TEST_CASE("a genesis of an earlier law is refused as such and not as damage; a later version is unknown") {
    // As the program before validator sets wrote it: version, chain id, key, rules.
    const PublicKey key = test_key().public_key();
    const Bytes first = base::encode(
        std::pair(std::pair(std::uint32_t{1}, std::string("toy-1")), std::pair(key, Bytes{1, 2, 3})));
    Genesis second = toy_genesis();
    second.version = 2;
    const test::TemporaryFolder folder;
    PosixDisk disk;
    for (const Bytes& record : {first, base::encode(second)}) {
        Bytes file = base::to_bytes(base::as_bytes("AGENES01"));
        const Hash256 hash = base::hash("assay/genesis", record);
        file.insert(file.end(), record.begin(), record.end());
        file.insert(file.end(), hash.bytes.begin(), hash.bytes.end());
        const auto read = parse_genesis(file);
        REQUIRE_FALSE(read);
        CHECK(read.error().kind == base::ErrorKind::kUsage);
        CHECK(read.error().what.find("version " + std::to_string(record[0]) +
                                     " is of an earlier law and not damaged") != std::string::npos);
        CHECK(read.error().fix.find("the program that began this network") != std::string::npos);
        // A home that it began is refused by the same words.
        const std::string path = (folder / ("genesis-" + std::to_string(record[0]))).string();
        const auto opened = disk.open(path);
        REQUIRE(opened);
        REQUIRE((*opened)->append(file));
        CHECK(read_genesis(disk, path).error().what == read.error().what);
    }
    for (const std::uint32_t version : {0U, kGenesisVersion + 1}) {
        Genesis other = toy_genesis();
        other.version = version;
        const auto unknown = parse_genesis(genesis_file(other));
        REQUIRE_FALSE(unknown);
        CHECK(unknown.error().kind == base::ErrorKind::kVerification);
        CHECK(unknown.error().what == "genesis file: version " + std::to_string(version) + " is unknown");
    }
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

namespace {

// A genesis file with this record, and the hash that belongs to it.
Bytes file_with(const Bytes& record) {
    Bytes file = base::to_bytes(base::as_bytes("AGENES01"));
    file.insert(file.end(), record.begin(), record.end());
    const Hash256 hash = base::hash("assay/genesis", record);
    file.insert(file.end(), hash.bytes.begin(), hash.bytes.end());
    return file;
}

void refused_by(const Bytes& file, const std::string& expected) {
    const auto refused = parse_genesis(file);
    INFO(expected);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().kind == base::ErrorKind::kVerification);
    CHECK(refused.error().what.find(expected) != std::string::npos);
    CHECK_FALSE(refused.error().fix.empty());
}

}  // namespace

TEST_CASE("a genesis file that is anything but one whole record under its hash is refused by what is wrong") {
    const Genesis genesis = toy_genesis();
    const Bytes file = genesis_file(genesis);
    const Bytes record = base::encode(genesis);
    REQUIRE(parse_genesis(file));
    REQUIRE(file == file_with(record));

    refused_by({}, "does not begin as a genesis file does");
    refused_by(Bytes(file.begin(), file.begin() + 39), "does not begin as a genesis file does");
    Bytes changed = file;
    changed[0] ^= 1;
    refused_by(changed, "does not begin as a genesis file does");
    for (const std::size_t at : {std::size_t{8}, file.size() / 2, file.size() - 1}) {
        changed = file;
        changed[at] ^= 1;
        refused_by(changed, "damaged: its hash does not match");
    }
    changed = file;
    changed.push_back(0);
    refused_by(changed, "damaged: its hash does not match");
    refused_by(Bytes(file.begin(), file.end() - 1), "damaged: its hash does not match");

    // From here on the hash is the right one: whoever writes the file can compute it.
    refused_by(file_with({}), "not canonical");
    Bytes other = record;
    other.push_back(0);
    refused_by(file_with(other), "not canonical: " + std::string(to_text(base::DecodeError::kTrailingBytes)));
    for (std::size_t length = 0; length < record.size(); ++length)
        refused_by(file_with(Bytes(record.begin(), record.begin() + static_cast<std::ptrdiff_t>(length))),
                   "not canonical");
    // Lengths that lie, of the chain id and of the validators: refused before anything is made of them.
    const std::size_t validators_at = 4 + 4 + genesis.chain_id.size();
    for (const std::size_t at : {std::size_t{4}, validators_at}) {
        other = record;
        std::fill_n(other.begin() + static_cast<std::ptrdiff_t>(at), 4, std::uint8_t{0xff});
        refused_by(file_with(other), "not canonical: " + std::string(to_text(base::DecodeError::kTooLong)));
    }
    for (const std::string& id : {std::string(), std::string(65, 'a'), std::string("Toy"), std::string("a b"),
                                  std::string("a\0b", 3), std::string("a/../b")}) {
        Genesis named = genesis;
        named.chain_id = id;
        refused_by(genesis_file(named), "the chain id must be 1 to 64 of a-z, 0-9 and '-'");
    }
    Genesis crowd = genesis;
    crowd.validators.validators.assign(contracts::kMaxValidators + 1, {});
    for (std::size_t i = 0; i < crowd.validators.validators.size(); ++i) {
        crowd.validators.validators[i].key.bytes[0] = static_cast<std::uint8_t>(i);
        crowd.validators.validators[i].power = 1;
    }
    refused_by(genesis_file(crowd), "at most " + std::to_string(contracts::kMaxValidators) + " validators");
    crowd.validators.validators.pop_back();
    CHECK(parse_genesis(genesis_file(crowd)));
}

TEST_CASE("a genesis file is read to its limit and judged; one byte more is refused by its length") {
    const test::TemporaryFolder folder;
    PosixDisk disk;
    const std::size_t limit = (64U << 10U) + contracts::kMaxGenesisAccounts * 40;
    for (const std::size_t more : {std::size_t{0}, std::size_t{1}}) {
        const std::string path = (folder / std::to_string(more)).string();
        {
            const auto file = disk.open(path).value();
            REQUIRE(file->append(Bytes(limit + more, 1)).ok());
        }
        const auto read = read_genesis(disk, path);
        REQUIRE_FALSE(read);
        CHECK(read.error().kind == (more == 0 ? base::ErrorKind::kVerification : base::ErrorKind::kUsage));
    }
    const auto missing = read_genesis(disk, (folder / "none").string());
    REQUIRE_FALSE(missing);
    CHECK(missing.error().kind == base::ErrorKind::kNotFound);
    CHECK_FALSE(disk.exists((folder / "none").string()).value());  // asking made no file
}

TEST_CASE("a genesis whose configuration breaks a rule of the ledger makes no state, and says which") {
    const PublicKey owner = test_key(2).public_key();
    const PublicKey node = test_key().public_key();
    const auto made = [](const contracts::GenesisConfig& config) {
        const Genesis genesis{.chain_id = "toy-1",
                              .validators = contracts::validators_of(config),
                              .rules = base::encode(config)};
        contracts::MemoryState state;
        const auto result = rules_machine().genesis(state, genesis);
        if (!result) CHECK(state.all().empty());
        return result ? std::string("made") : result.error().what;
    };
    contracts::GenesisConfig good;
    good.chain_id = "toy-1";
    good.balances = {{test_key(3).public_key(), base::units(5)}, {test_key(4).public_key(), base::units(5)}};
    std::sort(good.balances.begin(), good.balances.end());
    good.validators = {{owner, node}};
    REQUIRE(made(good) == "made");

    const auto with = [&](const std::function<void(contracts::GenesisConfig&)>& change) {
        contracts::GenesisConfig config = good;
        change(config);
        return made(config);
    };
    CHECK(with([](auto& config) { config.balances[1].first = config.balances[0].first; }) ==
          "genesis: balances must ascend by key");
    CHECK(with([](auto& config) { std::swap(config.balances[0], config.balances[1]); }) ==
          "genesis: balances must ascend by key");
    CHECK(with([](auto& config) {
              config.balances[0].second = base::Amount::of(base::kAmountMax).value();
          }) == "genesis: the balances add up to more than the largest amount");
    CHECK(with([&](auto& config) {
              config.balances = {{node, base::units(5)}};
          }) == "genesis: a node key cannot hold a balance");
    CHECK(with([&](auto& config) { config.validators[0].owner = node; }) ==
          "genesis: a validator's owner key and the validators' node keys must differ");
    CHECK(with([](auto& config) { config.chain_id = "toy-2"; }) ==
          "genesis: the rules' configuration names another chain");
    CHECK(with([](auto& config) {
              config.params.commit_window = 0;
          }).find("genesis: parameter out of range: ") == 0);
    CHECK(with([](auto& config) { config.validators.clear(); }) == "genesis: there is no validator");

    Genesis longer{
        .chain_id = "toy-1", .validators = contracts::validators_of(good), .rules = base::encode(good)};
    // Behind the validators stand the market's parameters where they are not the defaults; behind those,
    // nothing.
    contracts::GenesisConfig other = good;
    other.market.history_epochs += 1;
    longer.rules = base::encode(other);
    longer.rules.push_back(0);
    contracts::MemoryState state;
    const auto trailing = rules_machine().genesis(state, longer);
    REQUIRE_FALSE(trailing);
    CHECK(trailing.error().what.find("configuration is not canonical: " +
                                     std::string(to_text(base::DecodeError::kTrailingBytes))) !=
          std::string::npos);
    CHECK(state.all().empty());
}
