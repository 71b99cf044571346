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
    /// Called once, on the strand, when the chain cannot go on (first failed write): end the process, as
    /// what is on disk is decided when it is opened again.
    std::function<void(const base::Error&)> on_stopped;
    /// Called on the strand when the engine begins to wait for its clock, with the reason, and with an empty
    /// text when it goes on.
    std::function<void(const std::string&)> on_held = {};
    std::int64_t clock_offset_ms = 0;  ///< how far its wall clock is off: not 0 in drills alone
    /// The node key whose every other move in disputes is not taken: in drills alone (move_dropper.hpp).
    std::optional<base::PublicKey> drops_moves_of = std::nullopt;
    /// Called on the caller's thread with a sentence about each.
    std::function<void(const std::string&)> on_left_out = {};
};

/// Thread-safe. Serves from start() until destroyed; submissions that wait when it goes get kUnreachable.
class LedgerNode : public LedgerService {
public:
    /// Opens the engine and listens. `key` is the validator's (kKey when it is not) and outlives the node, as
    /// does `machine`. What open_engine (ledger/engine/engines.hpp) and serve_ledger give.
    static Outcome<std::unique_ptr<LedgerNode>> start(const LedgerNodeOptions& options,
                                                      const base::SecretKey& key,
                                                      const ledger::StateMachine& machine);

    /// "host:port" that clients connect to.
    [[nodiscard]] virtual std::string address() const = 0;
    /// What opening the ledger had to repair, one sentence each.
    [[nodiscard]] virtual std::vector<std::string> notes() const = 0;
};

}  // namespace assay::node
