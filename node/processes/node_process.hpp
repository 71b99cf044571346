// SPDX-License-Identifier: Apache-2.0
// Gives `assay node run` the ledger node as a process: chain, engine, gRPC, and the sequencer's part in
// the jobs' beacons.
#pragma once

#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>

#include "contracts/base/sign.hpp"
#include "node/key/key_file.hpp"
#include "node/rpc/tls.hpp"
#include "node/runtime/home.hpp"

namespace assay::node {

struct NodeProcessOptions {
    Home home;
    std::string listen;
    std::optional<TlsFiles> tls;
    std::optional<std::filesystem::path> genesis;  ///< kept in the home at the first start
    PassphraseSource passphrase;
    std::string engine = "embedded";
    std::uint64_t block_interval_ms = 100;
    /// Starts although this machine's clock is more than a year after the last block.
    bool accepts_far_clock = false;
    std::int64_t clock_offset_ms = 0;  ///< how far this node's wall clock is off; devnets only
    /// The node key whose every other move in disputes is left out; devnets only.
    std::optional<base::PublicKey> drops_moves_of = std::nullopt;
    std::string version;
};

/// Serves until stopped. Writes HOME/node.address once it answers, and removes it at the end. Errors: kKey,
/// kNotFound (no genesis), kVerification (damaged ledger), kUsage (address, a clock that is far ahead),
/// kFailure (port taken, disk).
base::Outcome<void> run_ledger_node(const NodeProcessOptions& options, std::stop_token stop);

/// The file to which run_ledger_node writes its address.
std::filesystem::path address_file(const Home& home);

}  // namespace assay::node
