// SPDX-License-Identifier: Apache-2.0
// The two phases of a role's process: the owner signs while nobody can reach it; who can be reached has no
// owner key.
#include "node/processes/role_process.hpp"

#include <fstream>

#include "ledger/application/rules_machine.hpp"
#include "ledger/engine/chain.hpp"
#include "ledger/store/posix_disk.hpp"
#include "node/roles/registrar.hpp"
#include "node/rpc/client.hpp"
#include "node/rpc/port.hpp"
#include "node/rpc/server.hpp"
#include "node/runtime/ledger_node.hpp"
#include "tests/node/small_chain.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace assay::node {
namespace {

using base::ErrorKind;
using test::key_of;
using test::tokens;

// A ledger node, and a home with Alice's keys.
struct Site {
    Site() {
        ledger::PosixDisk disk;
        const ledger::Layout layout((folder / "node").string());
        genesis = layout.genesis;
        REQUIRE(disk.make_directories(layout.directory).ok());
        REQUIRE(ledger::write_genesis(disk, genesis, test::small_genesis()).ok());
        LedgerNodeOptions options;
        options.home = folder / "node";
        options.block_interval_ms = 10;
        options.on_stopped = [](const base::Error& why) { FAIL(why.what); };
        node = LedgerNode::start(options, sequencer, ledger::rules_machine()).value();
        REQUIRE(create_home(home).ok());
        const Passphrase words{"alice's words"};
        const auto write = [&](const std::filesystem::path& path, const char* name, KeyRole role) {
            REQUIRE(write_key_file(path, key_of(name), words,
                                   {.role = role, .protection = KeyProtection::kInteractive})
                        .ok());
        };
        write(home.owner_key(), "alice", KeyRole::kOwner);
        write(home.node_key(), "alice-node", KeyRole::kNode);
        std::ofstream(folder / "words") << "alice's words\n";
        std::filesystem::permissions(folder / "words", std::filesystem::perms(0600));
    }
    std::unique_ptr<RoleProcess> open() {
        RoleProcessOptions options;
        options.program = "test";
        options.home = home;
        options.node_address = node->address();
        options.genesis = genesis;
        options.passphrase.file = folder / "words";
        options.needs_worker = NeedsWorker::kNo;
        return RoleProcess::open(options, stop.get_token()).value();
    }
    template <class Record>
    std::optional<Record> read(const base::Bytes& key) {
        const auto reply = node->get(key).value();
        if (!reply.value) return std::nullopt;
        return base::decode<Record>(*reply.value).value();
    }
    [[nodiscard]] static base::PublicKey alices_node() { return key_of("alice-node").public_key(); }

    test::TemporaryFolder folder;
    std::string genesis;
    base::SecretKey sequencer = key_of("sequencer");
    std::unique_ptr<LedgerNode> node;
    Home home{folder / "alice"};
    std::stop_source stop;
};

// What a stranger gets who asks the process for a blob.
ErrorKind asked_by_a_stranger(const std::string& endpoint) {
    const auto blobs = connect_blobs({.address = endpoint, .deadline = std::chrono::seconds(5)}).value();
    return blobs->describe({}).error().kind;
}

}  // namespace

TEST_CASE("the owner's key registers and stakes while nobody can reach the process, and is gone before") {
    Site site;
    const auto process = site.open();
    REQUIRE(process->parts().owner_key != nullptr);
    const std::string endpoint = process->parts().endpoint;
    REQUIRE(asked_by_a_stranger(endpoint) == ErrorKind::kUnreachable);

    REQUIRE(process->onboard_and_serve(WorkRole::kMiner, tokens(200)).ok());
    REQUIRE(process->parts().owner_key == nullptr);
    REQUIRE(process->parts().endpoint == endpoint);
    REQUIRE(asked_by_a_stranger(endpoint) == ErrorKind::kNotFound);  // served, and not held
    const auto miner = site.read<contracts::Miner>(contracts::miner_key(Site::alices_node()));
    REQUIRE(miner.has_value());
    REQUIRE(miner->endpoint == endpoint);
    const auto stake = site.read<contracts::Stake>(contracts::stake_key(Site::alices_node()));
    REQUIRE(stake.has_value());
    REQUIRE(stake->free == tokens(200));
}

TEST_CASE("a role starts again without the owner's key file, and stakes nothing twice") {
    Site site;
    REQUIRE(site.open()->onboard_and_serve(WorkRole::kVerifier, tokens(200)).ok());
    REQUIRE(site.open()->onboard_and_serve(WorkRole::kVerifier, tokens(200)).ok());
    std::filesystem::remove(site.home.owner_key());
    const auto process = site.open();
    REQUIRE(process->parts().owner_key == nullptr);
    REQUIRE(process->onboard_and_serve(WorkRole::kVerifier, tokens(200)).ok());
    REQUIRE(asked_by_a_stranger(process->parts().endpoint) == ErrorKind::kNotFound);
    REQUIRE(site.read<contracts::Stake>(contracts::stake_key(Site::alices_node()))->free == tokens(200));
}

TEST_CASE("asked to stop before the owner's work is done, a process serves nobody") {
    Site site;
    const auto process = site.open();
    const std::string endpoint = process->parts().endpoint;
    site.stop.request_stop();
    REQUIRE(process->onboard_and_serve(WorkRole::kMiner, tokens(200)).ok());
    REQUIRE(asked_by_a_stranger(endpoint) == ErrorKind::kUnreachable);
    RegistrarRole idle(process->parts(), WorkRole::kMiner, tokens(200));
    REQUIRE(process->run(idle).ok());
}

TEST_CASE("a reserved port refuses whoever connects, and the server that was meant takes it over") {
    auto reserved = std::optional(ReservedPort::take("127.0.0.1:0").value());
    const std::string address = reserved->address();
    REQUIRE(asked_by_a_stranger(address) == ErrorKind::kUnreachable);
    const test::TemporaryFolder folder;
    const auto store = BlobStore::open({.folder = folder / "blobs", .free_bytes_min = 0}).value();
    const auto server = serve_blobs(*store, {.listen = address}).value();
    reserved.reset();
    REQUIRE(server->address() == address);
    REQUIRE(asked_by_a_stranger(address) == ErrorKind::kNotFound);
    REQUIRE(ReservedPort::take(address).error().kind == ErrorKind::kFailure);  // taken
    REQUIRE(ReservedPort::take("nonsense").error().kind == ErrorKind::kUsage);
}

}  // namespace assay::node
