// SPDX-License-Identifier: Apache-2.0
// Gives a ledger node LedgerEngine, whatever decides on the blocks of a chain and keeps them. A node submits,
// follows what was committed and reads, and knows no kind of engine; engines.hpp opens one by its name. An
// engine drives the application (ledger/application) and is its only writer. One strand: the owner makes all
// calls there, and an engine with threads of its own hands over there what they bring.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ledger/application/application.hpp"

namespace assay::ledger {

/// A block that is durable, with what it did.
struct Committed {
    Header header;
    Hash256 hash;  ///< header hash
    BlockResults results;
};

/// What became of a submitted transaction: its receipt, or the rule that refused it.
using Answer = base::Result<Receipt, contracts::Reason>;

class LedgerEngine {
public:
    /// Called once: with the receipt after the block is on disk, with the reason of a refusal, or with an
    /// error (kFailure) when nothing could be decided: the disk is too full, or the engine stopped.
    using Done = std::function<void(Outcome<Answer>)>;
    using Subscriber = std::function<void(const Committed&)>;

    LedgerEngine() = default;
    /// Stops: what waits is dropped without a call.
    virtual ~LedgerEngine() = default;
    LedgerEngine(const LedgerEngine&) = delete;
    LedgerEngine& operator=(const LedgerEngine&) = delete;

    /// Checks form, signature, sender and nonce and queues. `done` may be called before this returns: with a
    /// refusal, or with the receipt when the transaction is in a block already.
    virtual void submit(Bytes transaction, Done done) = 0;
    /// Does what is due: an embedded engine makes a block. Returns in how many ms it wants to be called again
    /// when nothing arrives; nothing: only after the next submit. Error: it stopped, end the process.
    virtual Outcome<std::optional<std::uint64_t>> tick() = 0;
    /// `subscriber` sees every block committed from now on, before receipts go out.
    virtual std::uint64_t subscribe(Subscriber subscriber) = 0;
    virtual void unsubscribe(std::uint64_t id) = 0;

    /// What the blocks mean, and where they stand (Application::info). For reads: the engine writes.
    [[nodiscard]] virtual Application& application() = 0;
    [[nodiscard]] virtual const Genesis& genesis() const = 0;
    /// Whose key signs the receipts of this node.
    [[nodiscard]] virtual PublicKey validator() const = 0;
    /// kNotFound above the last committed height.
    [[nodiscard]] virtual Outcome<Block> block(std::uint64_t height) const = 0;
    [[nodiscard]] virtual Outcome<BlockResults> results(std::uint64_t height) const = 0;
    /// What opening it had to repair, one sentence each.
    [[nodiscard]] virtual const std::vector<std::string>& notes() const = 0;
    /// Why it makes no block though one is due, for whoever runs it; empty: nothing holds it up.
    [[nodiscard]] virtual std::string held_up() const { return {}; }
};

}  // namespace assay::ledger
