// SPDX-License-Identifier: Apache-2.0
// Gives processes and tests a ledger node in one object: an engine on one strand,
// LedgerService for everybody else.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "contracts/base/error.hpp"
#include "contracts/base/sign.hpp"
#include "ledger/application/machine.hpp"
#include "node/rpc/server.hpp"
#include "node/seams/ledger_service.hpp"

namespace assay::node {

struct LedgerNodeOptions {
    std::filesystem::path home;             ///< holds ledger/, whose genesis file must exist
    std::string engine = "embedded";        ///< its name (ledger/engine/engines.hpp)
    std::uint64_t block_interval_ms = 100;  ///< no two blocks closer than this
    ServerOptions server;                   ///< listen address, TLS, limits
    /// Below this, transactions are refused and nothing else changes (ledger/store/block_log.hpp).
    std::uint64_t min_free_bytes = 64ULL << 20U;
    std::string version;  ///< of the program, for status()
    /// Called once, on the strand, when the chain cannot go on (first failed write). It should end the
    /// process: only opening the ledger again decides what is on disk.
    std::function<void(const base::Error&)> on_stopped;
    /// Called on the strand with the reason when the engine makes no more blocks (LedgerEngine::held_up), and
    /// with an empty text when it goes on.
    std::function<void(const std::string&)> on_held = {};
    /// Starts although the clock is more than a year after the last block (ledger::EngineParts).
    bool accepts_far_clock = false;
    std::int64_t clock_offset_ms = 0;  ///< how far its wall clock is off; not 0 only in drills
    /// The node key whose every other move in disputes is left out; only in drills (move_dropper.hpp).
    std::optional<base::PublicKey> drops_moves_of = std::nullopt;
    /// Called on the submitter's thread with a sentence about each move that is left out.
    std::function<void(const std::string&)> on_left_out = {};
};

/// Thread-safe. Serves from start() until it is stopped or destroyed; submissions that wait at that time get
/// kUnreachable.
class LedgerNode : public LedgerService {
public:
    /// Opens the engine and listens. `key` is the validator's (kKey when it is not). `key` and `machine`
    /// outlive the node. Other errors are those of open_engine (ledger/engine/engines.hpp) and serve_ledger.
    static Outcome<std::unique_ptr<LedgerNode>> start(const LedgerNodeOptions& options,
                                                      const base::SecretKey& key,
                                                      const ledger::StateMachine& machine);

    /// Refuses every call from now on with kUnreachable, those that wait among them, soon after this returns.
    /// REQUIRED before whatever waits for an answer of this node is destroyed: a chain that is held up
    /// answers no submission.
    virtual void stop_answering() = 0;

    /// "host:port" that clients connect to.
    [[nodiscard]] virtual std::string address() const = 0;
    /// What was repaired when the ledger was opened, one sentence each.
    [[nodiscard]] virtual std::vector<std::string> notes() const = 0;
};

}  // namespace assay::node
