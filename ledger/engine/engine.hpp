// SPDX-License-Identifier: Apache-2.0
// LedgerEngine decides on the blocks of a chain and keeps them. A ledger node submits transactions, follows
// what was committed and reads; it knows no kind of engine, and engines.hpp opens one by its name. An engine
// drives the application (ledger/application) and is its only writer. One strand: the owner makes all calls
// on it, and an engine with threads of its own delivers their results on it.
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

/// The result of a submitted transaction: its receipt, or the rule that refused it.
using Answer = base::Result<Receipt, contracts::Reason>;

class LedgerEngine {
public:
    /// Called once: with the receipt after the block is on disk, with the reason of a refusal, or with an
    /// error (kFailure) when nothing could be decided because the disk is too full or the engine stopped.
    using Done = std::function<void(Outcome<Answer>)>;
    using Subscriber = std::function<void(const Committed&)>;

    LedgerEngine() = default;
    /// Stops the engine. Waiting transactions are dropped without a call of `done`.
    virtual ~LedgerEngine() = default;
    LedgerEngine(const LedgerEngine&) = delete;
    LedgerEngine& operator=(const LedgerEngine&) = delete;

    /// Checks form, signature, sender and nonce, and queues the transaction. `done` may be called before this
    /// returns: with a refusal, or with the receipt when the transaction is already in a block.
    virtual void submit(Bytes transaction, Done done) = 0;
    /// Does what is due: an embedded engine makes a block. Returns after how many ms it wants to be called
    /// again if nothing arrives, or nothing when it need not be called before the next submit. On an error it
    /// has stopped, and the process must end.
    virtual Outcome<std::optional<std::uint64_t>> tick() = 0;
    /// `subscriber` sees every block committed from now on, before receipts go out.
    virtual std::uint64_t subscribe(Subscriber subscriber) = 0;
    virtual void unsubscribe(std::uint64_t id) = 0;

    /// The application that executes the blocks; Application::info has their height. For reads only: the
    /// engine writes.
    [[nodiscard]] virtual Application& application() = 0;
    [[nodiscard]] virtual const Genesis& genesis() const = 0;
    /// The validator whose key signs the receipts of this node.
    [[nodiscard]] virtual PublicKey validator() const = 0;
    /// Fails with kNotFound above the last committed height.
    [[nodiscard]] virtual Outcome<Block> block(std::uint64_t height) const = 0;
    [[nodiscard]] virtual Outcome<BlockResults> results(std::uint64_t height) const = 0;
    /// What opening it had to repair, one sentence each.
    [[nodiscard]] virtual const std::vector<std::string>& notes() const = 0;
    /// Why it makes no block although one is due, or could not store the last one that it tried, for its
    /// operator; empty when nothing holds it up. What stands before its first colon names the kind of cause.
    [[nodiscard]] virtual std::string held_up() const { return {}; }
};

}  // namespace assay::ledger
