// SPDX-License-Identifier: Apache-2.0
// Gives tests of processes a ledger node, and a home with the keys of Alice.
#pragma once

#include <fstream>

#include "ledger/application/rules_machine.hpp"
#include "ledger/engine/chain.hpp"
#include "ledger/store/posix_disk.hpp"
#include "node/key/key_file.hpp"
#include "node/rpc/client.hpp"
#include "node/runtime/home.hpp"
#include "node/runtime/ledger_node.hpp"
#include "tests/node/small_chain.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace assay::node::test_site {

using assay::test::key_of;
using assay::test::tokens;

struct Site {
    Site() {
        ledger::PosixDisk disk;
        const ledger::Layout layout((folder / "node").string());
        genesis = layout.genesis;
        REQUIRE(disk.make_directories(layout.directory).ok());
        REQUIRE(ledger::write_genesis(disk, genesis, assay::test::small_genesis()).ok());
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
    template <class Record>
    std::optional<Record> read(const base::Bytes& key) {
        const auto reply = node->get(key);
        INFO((reply.ok() ? std::string() : reply.error().what));
        REQUIRE(reply.ok());
        if (!reply->value) return std::nullopt;
        return base::decode<Record>(*reply->value).value();
    }
    [[nodiscard]] static base::PublicKey alices_node() { return key_of("alice-node").public_key(); }

    assay::test::TemporaryFolder folder;
    std::string genesis;
    base::SecretKey sequencer = key_of("sequencer");
    std::unique_ptr<LedgerNode> node;
    Home home{folder / "alice"};
};

}  // namespace assay::node::test_site
